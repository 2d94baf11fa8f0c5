// Changes how the ids of a store are compared.

import SynclineCore

extension SyncDatabase {
    /// Makes ids that differ only in case one. Nothing can tell afterwards which rows were two, so it can't be taken
    /// back.
    func setIDs(_ value: Value?) async throws(SyncError) {
        let words = [IDComparison.exact: "exact", .ignoreCase: "ignore-case"]
        let known = try read { reader throws(SyncError) in try reader.idComparison }
        if value == words[known].map({ .string($0) }) { return }
        guard value == .string("ignore-case") else {
            throw SyncError(
                .invalidConfiguration, "the comparison of ids can only be changed from `exact` to `ignore-case`",
                hint: "Create another store, and import the rows.")
        }
        try reader.checkNotBranch()
        try checkNoBranches(because: "the ids of all rows would change")
        // The requests of a push that runs name rows as they were.
        guard await syncLock.lock() else { throw SyncError(of: .cancelled) }
        defer { syncLock.unlock() }
        try await perform { engine throws(SyncError) in
            if let similar = try engine.reader.similarIDs() {
                throw SyncError(
                    .invalidConfiguration,
                    "\(similar.table) has two rows whose ids differ in case only: \(similar.ids.joined(separator: ", "))",
                    hint: "Drop what is pending on one of them, or purge it, and repeat.")
            }
            try engine.record(.configured(name: SettingName.ids, value: value))
        }
    }
}
