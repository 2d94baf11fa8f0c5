// The end of a store: every file of it goes, for an app whose user logs out. Opening the directory after that makes a new one.

public import SegmentLog
public import SynclineCore

extension SyncDatabase {
    /// What the tool keeps in a store's directory beside the log; names of drafts begin with these.
    package static let filesBesideLog = ["secrets.json", "traffic.jsonl"]

    /// Closes the store and removes every file of it: rows, history, quarantine, secrets and recordings. Refused while
    /// changes are pending, unless `force` gives them up. Stop an automatic sync first.
    public func erase(force: Bool = false) async throws(SyncError) {
        let reader = reader
        if !force { try SyncDatabase.checkNothingPending(reader) }
        // A store that can't be closed well is erased all the same.
        try? writer.close()
        try await SyncDatabase.erase(storage, force: force)
        configuration.recording?.remove()
    }

    /// Removes every file of the store in a directory. Refused while another process has it open, and, unless `force` gives
    /// them up, while changes are pending or it can't be told whether some are.
    public static func erase(at path: String, force: Bool = false) async throws(SyncError) {
        try await erase(POSIXStorage(directory: path), force: force)
    }

    /// The same with a storage.
    public static func erase(_ storage: any LogStorage, force: Bool = false) async throws(SyncError) {
        let erasure: LogErasure
        do throws(LogError) { erasure = try LogErasure(storage) } catch { throw SyncError(error) }
        if !force {
            let projector = try StateLoader(storage).load()
            try checkNothingPending(projector.reader(of: projector.store.endCommit()))
        }
        do throws(LogError) { try erasure.run(with: filesBesideLog) } catch { throw SyncError(error) }
    }

    private static func checkNothingPending(_ reader: StateReader) throws(SyncError) {
        guard try inAppWords({ () throws(StateError) in try reader.oldestPending }) != nil else { return }
        throw SyncError(
            .pendingChanges, "the store has changes that were not pushed",
            hint: "Push them first, or erase with force to give them up.")
    }
}
