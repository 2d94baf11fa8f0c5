// The removal of old tombstones, ends of rights, and remembered operations. First the purge is recorded, then the
// tombstones are removed in portions: a change that waits for one portion does not wait for all.

import SynclineTables

extension SQLStore {
    /// Removes tombstones that were made before a time, and operations that are older than a day.
    func purge(tombstonesBefore time: Int64?) throws(StoreFailure) {
        let now = environment.now()
        if let time {
            try recordPurge(before: time)
            for statements in currentCatalogue.tables.values
            where statements.schema.systemColumns.contains(.deleted) {
                try removeAll(statements.purge(before: time))
            }
            try removeAll(StateSQL.forget("syncline_tombstones", key: ["table", "id", "owner"], before: time))
            try database.write { connection throws(StoreFailure) in
                try connection.run(RightsSQL.forgetEdges(before: time))
                try connection.run(RightsSQL.forgetStays(before: time))
                try connection.run(RightsSQL.forgetRules(before: time))
            }
        }
        if numbers == .ticks {
            try database.write { connection throws(StoreFailure) in try connection.run(StateSQL.collectMarks) }
        }
        try removeAll(StateSQL.forget("syncline_operations", key: ["caller", "id"], before: now - 86_400_000))
    }

    /// Times and change numbers have the same order: the latest purged change bounds what may be gone.
    private func recordPurge(before time: Int64) throws(StoreFailure) {
        try database.write { connection throws(StoreFailure) in
            var latest: Int64 = 0
            for statements in currentCatalogue.tables.values
            where statements.schema.systemColumns.contains(.deleted) {
                let purged = try connection.first(statements.latestTombstone(before: time), count: 1)
                latest = max(latest, purged?[0].integer ?? 0)
            }
            let tombstone: SQLStatement =
                #"SELECT max("change") FROM "syncline_tombstones" WHERE "time" < \#(.integer(time))"#
            latest = max(latest, try connection.first(tombstone, count: 1)?[0].integer ?? 0)
            let end = try connection.first(RightsSQL.latestEnd(before: time, dialect), count: 1)
            latest = max(latest, end?[0].integer ?? 0)
            if latest > 0 { try connection.run(StateSQL.setPurged(latest, dialect)) }
        }
    }

    /// Removes portions until nothing is left to remove.
    private func removeAll(_ statement: SQLStatement) throws(StoreFailure) {
        var count = StateSQL.portion
        while count == StateSQL.portion {
            count = try database.write { connection throws(StoreFailure) in try connection.change(statement) }
        }
    }
}
