// Reads of single rows: one as a caller sees it, or many by one message to the database.

import SynclineTables
import SynclineWire

extension SQLStore {
    func row(_ table: String, id: String) throws(StoreFailure) -> TableRow? {
        try judged(table, id: id, nil) { _, row in row }
    }

    func row(_ table: String, id: String, seenBy caller: Caller?) throws(StoreFailure) -> TableRow? {
        try judged(table, id: id, caller) { judge, row throws(StoreFailure) in try judge.sight(of: row) }
    }

    func rows(together reads: [RowRead]) -> [Result<TableRow?, StoreFailure>] {
        do throws(StoreFailure) {
            return try database.read { connection throws(StoreFailure) in try rows(together: reads, connection) }
                .map { .success($0) }
        } catch {
            guard case .changed = error else { return reads.map { _ in .failure(error) } }
            return reads.map { one in
                Result { () throws(StoreFailure) in try row(one.table, id: one.id, seenBy: one.caller) }
            }
        }
    }

    /// The rows that callers see, by one message to the database, as long as the columns are the known ones.
    private func rows(
        together reads: [RowRead], _ connection: any SQLConnection
    ) throws(StoreFailure) -> [TableRow?] {
        let known = currentCatalogue
        var (found, seen) = ([TableRow?](repeating: nil, count: reads.count), known.number)
        for (place, one) in reads.enumerated() {
            guard let statements = known.tables[one.table] else { throw tableChanged(one.table) }
            guard statements.schema.mayHave(id: one.id) else { continue }
            try connection.later(statements.row(id: one.id)) { values in
                seen = max(seen, statements.catalogue(values))
                found[place] = statements.row(values)
            }
        }
        try connection.flush()
        if seen > known.number { throw .changed("columns were added") }
        for (place, one) in reads.enumerated() {
            guard let row = found[place], let statements = known.tables[one.table] else { continue }
            found[place] = try judge(statements, one.caller, connection).sight(of: row)
        }
        return found
    }

    func permitted(
        _ table: String, id: String, to caller: Caller?
    ) throws(StoreFailure) -> Set<RuleOperation>? {
        try judged(table, id: id, caller) { judge, row throws(StoreFailure) in try judge.permitted(on: row) }
    }

    /// Judges a caller's request about a row.
    private func judged<Result>(
        _ table: String, id: String, _ caller: Caller?,
        _ body: (RightsJudge<SQLRights>, TableRow) throws(StoreFailure) -> Result?
    ) throws(StoreFailure) -> Result? {
        try database.read { connection throws(StoreFailure) in
            try current(table, connection) { statements, number throws(StoreFailure) in
                guard statements.schema.mayHave(id: id) else { return nil }
                var seen = number
                func read() throws(StoreFailure) -> Result? {
                    let found = try connection.first(statements.row(id: id)) { values in
                        seen = statements.catalogue(values)
                        return statements.row(values)
                    }
                    return try found.flatMap { row throws(StoreFailure) in
                        try body(judge(statements, caller, connection), row)
                    }
                }
                defer { number = max(number, seen) }
                if statements.schema.definition.rules.isEmpty { return try read() }
                return try asOfOneMoment(connection, &number) { schema throws(StoreFailure) in
                    try connection.later(StateSQL.schema) { schema($0.value(0).integer) }
                    return try read()
                }
            }
        }
    }

    private func judge(
        _ statements: TableSQL, _ caller: Caller?, _ connection: any SQLConnection
    ) -> RightsJudge<SQLRights> {
        let table = statements.schema.name
        let rights = currentCatalogue.rights[table] ?? TableRights()
        let source = SQLRights(connection: connection, dialect: dialect, rights: rights, table: table)
        return RightsJudge(statements.schema.definition, rights, caller, source)
    }
}
