// The removal of old tombstones, ends of rights, and remembered operations. They are found by reading, and removed in
// portions: a write waits for the removal of one portion, never for a search. Each portion is recorded before.

import SynclineCore
import SynclineGround
import SynclineTables

extension SQLStore {
    /// Removes tombstones that were made before a time, and operations that are older than a day.
    func purge(tombstonesBefore time: Int64?) throws(StoreFailure) {
        let now = environment.now()
        var failure: StoreFailure?
        func attempt(_ work: () throws(StoreFailure) -> Void) {
            do throws(StoreFailure) { try work() } catch { failure = failure ?? error }
        }
        if numbers == .ticks { attempt { () throws(StoreFailure) in try collectDigests(before: now - 60_000) } }
        attempt { () throws(StoreFailure) in try forget(.operations, before: now - 86_400_000) }
        if let time {
            for table in OldEntries.ends { attempt { () throws(StoreFailure) in try forget(table, before: time) } }
            // The database may refuse to delete rows of one of them.
            for statements in currentCatalogue.tables.values
            where statements.schema.systemColumns.contains(.deleted) {
                attempt { () throws(StoreFailure) in try purge(statements, before: time) }
            }
        }
        if let failure { throw failure }
    }

    /// Removes the tombstones of a table with soft delete, the oldest first. Rows that are restored meanwhile are not
    /// removed. In a table that the server made, those before an earlier limit were removed, so the time since then is
    /// searched; others may have times in any form.
    private func purge(_ statements: TableSQL, before time: Int64) throws(StoreFailure) {
        let (table, isOwn) = (statements.schema.definition.name, statements.schema.isOwn)
        var (from, removed) = (isOwn ? purges.withLock { $0[table] } : nil, [] as [String])
        while true {
            let found = try database.read { connection throws(StoreFailure) in
                try connection.all(statements.tombstones(from: from, before: time)) { row in
                    (id: row.value(0).text, change: row.value(1).integer, time: row.instant(2).milliseconds)
                }
            }
            let ids = found.map(\.id)
            // A trigger may keep them.
            if ids.isEmpty || ids == removed { break }
            let latest = found.reduce(0) { max($0, $1.change) }
            try record(latest)
            try database.write { connection throws(StoreFailure) in
                try connection.transaction(dialect.beginWriting) { () throws(StoreFailure) in
                    for id in ids {
                        try connection.later(statements.purge(id: id, before: time, through: latest)) { _ in }
                    }
                    try connection.flush()
                    return ((), true)
                }
            }
            (from, removed) = (isOwn ? found.last?.time : nil, ids)
            if ids.count < StateSQL.portion { break }
        }
        purges.withLock { $0[table] = time }
    }

    /// Removes the old entries of one of the server's own tables, the oldest first.
    private func forget(_ table: OldEntries, before time: Int64) throws(StoreFailure) {
        while true {
            let found = try database.read { connection throws(StoreFailure) in
                try connection.first(table.portion(before: time), count: 3)
            }
            guard let found, found[0].integer > 0 else { return }
            let end = Stamp(change: found[2].integer, time: found[1].integer)
            if table.change != nil { try record(end.change) }
            try database.write { connection throws(StoreFailure) in
                try connection.run(table.forget(through: end, dialect))
            }
            if found[0].integer < StateSQL.portion { return }
        }
    }

    /// Adds up what writers counted before a time, and forgets the marks of other programs. A table whose writes a sweep
    /// begins to count waits, or is counted from then on.
    private func collectDigests(before time: Int64) throws(StoreFailure) {
        try database.write { connection throws(StoreFailure) in
            try connection.run(StateSQL.collectMarks)
            try connection.transaction(dialect.beginWriting) { () throws(StoreFailure) in
                try connection.execute(StateSQL.line)
                var sums: [String: TableDigest] = [:]
                try connection.forEachRow(of: StateSQL.takeSlots(before: time)) { row in
                    sums[row.value(0).text, default: TableDigest()].add(TableDigest(row, at: 1))
                }
                for (table, sum) in sums { try connection.run(StateSQL.add(sum, to: table, dialect)) }
                return ((), true)
            }
        }
    }

    /// Times and change numbers have the same order: the latest purged change bounds what may be gone.
    private func record(_ change: Int64) throws(StoreFailure) {
        try database.write { connection throws(StoreFailure) in try connection.run(StateSQL.setPurged(change)) }
    }
}
