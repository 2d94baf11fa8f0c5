// What changed since a mark, for listeners. The database is asked for the tables: it knows the changes of all processes
// and programs, in whichever order they were committed.

import SynclineTables
import SynclineWire

extension SQLStore {
    func news(since known: ChangeMark?, isWhole: Bool) throws(StoreFailure) -> ChangeNews {
        let mark = try isWhole ? mark() : markOfTicks()
        guard let known, known.epoch == mark.epoch, known.change <= mark.change else { return ChangeNews(mark) }
        if known.change == mark.change { return ChangeNews(mark, []) }
        return ChangeNews(mark, try? changedTables(after: known.change, through: mark.change))
    }

    func touched(_ table: String, after change: Int64, through last: Int64) -> Set<NamedBucket>? {
        rights(table) { statements, source throws(StoreFailure) in
            try source.touched(statements, after: change, through: last)
        }
    }

    func buckets(_ table: String, of subject: String, at change: Int64) -> HeldBuckets? {
        rights(table) { _, source throws(StoreFailure) in
            KnownRights(try CallerRights(subject, source.rights.terms).buckets(source)).buckets(at: change)
        }
    }

    /// What the body finds about the rights of a table; nil if it can't be read, or its rules may be others by now.
    private func rights<Result>(
        _ table: String, _ body: (TableSQL, SQLRights) throws(StoreFailure) -> Result
    ) -> Result? {
        try? database.read { connection throws(StoreFailure) in
            let catalogue = currentCatalogue
            let number = try connection.first(StateSQL.schema, count: 1)?[0].integer
            guard number == catalogue.number, let statements = catalogue.tables[table],
                let rights = catalogue.rights[table]
            else {
                try refresh(connection)
                return nil
            }
            let source = SQLRights(connection: connection, dialect: dialect, rights: rights, table: table)
            return try body(statements, source)
        } ?? nil
    }

    /// The mark of the latest complete tick. It makes none itself, unless a transaction holds the latest back.
    private func markOfTicks() throws(StoreFailure) -> ChangeMark {
        try continuing { known throws(StoreFailure) in
            try database.read { connection throws(StoreFailure) in
                let state = try learnState(connection, known)
                if state.origin != .standby, state.change < state.ticked { watchHorizon() }
                return state.mark
            }
        }
    }

    /// The tables that have rows with such numbers.
    private func changedTables(after change: Int64, through last: Int64) throws(StoreFailure) -> Set<String> {
        try database.read { connection throws(StoreFailure) in
            let catalogue = currentCatalogue
            // What can't be read now may be served again.
            var changed = Set(catalogue.faults.keys)
            var rest = catalogue.tables.sorted { $0.key < $1.key }[...]
            while !rest.isEmpty {
                let some = rest.prefix(SQLStore.tablesAtATime)
                rest = rest.dropFirst(some.count)
                do throws(StoreFailure) {
                    changed.formUnion(try self.changed(some, after: change, through: last, connection))
                } catch {
                    guard case .changed = error else { throw error }
                    // One of them was changed by hand. Each by itself shows which.
                    for one in some {
                        let isUnchanged = try? self.changed([one], after: change, through: last, connection).isEmpty
                        if isUnchanged != true { changed.insert(one.key) }
                    }
                    try refresh(connection)
                }
            }
            return changed
        }
    }

    private func changed(
        _ tables: ArraySlice<(key: String, value: TableSQL)>, after change: Int64, through last: Int64,
        _ connection: any SQLConnection
    ) throws(StoreFailure) -> [String] {
        let statement = TableSQL.areChanged(tables.map(\.value), after: change, through: last)
        let flags = try connection.first(statement, count: tables.count) ?? []
        return zip(tables, flags).filter { $1.integer == 1 }.map(\.0.key)
    }

    /// Both databases limit the number of columns.
    private static let tablesAtATime = 100
}
