// The sweep: it computes the digest of each table from its rows and compares it with the one that the server's writes
// have made. Another program that writes to a table without a number changes what lists show, but not what clients read
// by cursor.

import SynclineTables
import SynclineWire

extension SQLStore {
    /// What a sweep found in a table.
    private struct Finding {
        var known: TableDigest
        var isKnown = false
        /// The marks of other programs.
        var marks: [Int64] = []
        var found = TableDigest()
    }

    /// Compares every table. Returns what to tell the operator; a difference is told once.
    func sweep() throws(StoreFailure) -> [String] {
        try look()
        var notes: [String] = []
        for table in currentCatalogue.tables.keys.sorted() {
            guard let statements = currentCatalogue.tables[table] else { continue }
            let source = statements.schema.definition.source
            try beginDigest(of: source)
            guard let finding = try find(statements, source) else { continue }
            let difference = finding.found.difference(from: finding.known)
            if finding.isKnown {
                counts.noteSweep(differs: !difference.isEmpty)
                if !difference.isEmpty { notes.append(SQLStore.note(table, difference)) }
            }
            if finding.isKnown && difference.isEmpty { continue }
            try database.write { connection throws(StoreFailure) in
                try connection.run(StateSQL.add(difference, to: source, isKnown: true, dialect))
                for mark in finding.marks { try connection.run(StateSQL.forgetMark(mark, of: source)) }
            }
        }
        return notes
    }

    private func beginDigest(of source: String) throws(StoreFailure) {
        try database.write { connection throws(StoreFailure) in
            if try digest(of: source, connection).isBegun { return }
            try connection.transaction(dialect.beginWriting) { () throws(StoreFailure) in
                // A writer that is at work has not counted its writes yet.
                try connection.execute(StateSQL.line)
                try connection.run(StateSQL.beginDigest(of: source))
                return ((), true)
            }
        }
    }

    /// The known digest of a table, and whether its writes are counted.
    private func digest(
        of source: String, _ connection: any SQLConnection
    ) throws(StoreFailure) -> (finding: Finding, isBegun: Bool) {
        var (finding, isBegun) = (Finding(known: TableDigest()), false)
        try connection.forEachRow(of: StateSQL.digest(of: source)) { row in
            let slot = row.value(3).integer
            if slot < 0 { finding.marks.append(slot) }
            if slot == 0 { (isBegun, finding.isKnown) = (true, row.value(2).integer != 0) }
            finding.known.add(TableDigest(row, at: 0))
        }
        if !finding.marks.isEmpty { finding.isKnown = false }
        return (finding, isBegun)
    }

    /// Reads the known digest and the rows as of one moment; nil if the table has got other columns meanwhile.
    private func find(_ statements: TableSQL, _ source: String) throws(StoreFailure) -> Finding? {
        let number = currentCatalogue.number
        return try database.read { connection throws(StoreFailure) in
            try connection.reading(dialect) { () throws(StoreFailure) in
                let schema = try connection.first(StateSQL.schema, count: 1)
                var (finding, isBegun) = try digest(of: source, connection)
                guard isBegun, let schema, schema[0].integer <= number else { return nil }
                var (last, count): (String?, Int) = (nil, TableSQL.sweepPortion)
                while count == TableSQL.sweepPortion {
                    count = 0
                    try connection.forEachRow(of: statements.sweep(after: last)) { values in
                        let row = statements.row(values)
                        finding.found.add(row, statements.schema)
                        (last, count) = (row.id, count + 1)
                    }
                    try WorkLimit.current?.check()
                }
                return finding
            }
        }
    }

    private static func note(_ table: String, _ difference: TableDigest) -> String {
        let rows = difference.rows
        let what =
            rows == 0
            ? "the content of its rows is another one"
            : "it has \(abs(rows)) rows \(rows > 0 ? "more" : "fewer") than the server wrote"
        return "table \(table) was changed by another program, which clients that read by cursor do not see: \(what); "
            + "see the page about other programs"
    }
}

extension TableDigest {
    /// The digest in two columns of a row.
    init(_ row: any SQLRow, at place: Int) {
        self.init(rows: row.value(place).integer, hash: UInt64(bitPattern: row.value(place + 1).integer))
    }
}
