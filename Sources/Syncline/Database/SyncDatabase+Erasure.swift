// Deletes a store with all its files, for example when the user logs out. Opening the directory later creates a new
// store.

public import SegmentLog
public import SynclineCore

extension SyncDatabase {
    /// Files that the tool keeps in a store's directory beside the log. The names of their temporary files begin
    /// with these.
    package static let filesBesideLog = ["secrets.json", "traffic.jsonl"]
    /// A folder for files that are derived from the store's rows, and can be rebuilt.
    package static let derivedFolder = "derived"

    /// Closes the store and removes every file of it: rows, history, branches, quarantine, secrets and recordings. Refused while
    /// changes are pending, unless `force` is true. Stop an automatic sync first. What live queries show is removed, too.
    @concurrent
    public func erase(force: Bool = false) async throws(SyncError) {
        if writer.isFollower { _ = try writer.log }
        if !force, let reader = try? reader {
            try SyncDatabase.checkNoBranches(storage)
            try SyncDatabase.checkNothingPending(reader)
            try SyncDatabase.checkNothingWaits(storage, reader)
        }
        stopWatching()
        // A store that can't be closed properly is erased anyway.
        try? writer.close()
        writer.observers.erase()
        try await SyncDatabase.erase(storage, force: force)
        try configuration.recording?.remove()
    }

    /// Removes all files of the store in a directory. Throws if another process has it open. Unless `force` is true,
    /// also throws if changes are pending or if that can't be determined.
    @concurrent
    public static func erase(at path: String, force: Bool = false) async throws(SyncError) {
        try await erase(POSIXStorage(directory: path), force: force)
    }

    /// Removes all files of the store in a storage.
    @concurrent
    public static func erase(_ storage: any LogStorage, force: Bool = false) async throws(SyncError) {
        let erasure = try storage.beginErasure()
        let reader: StateReader?
        if force {
            reader = nil
        } else {
            try checkNoBranches(storage)
            let projector = try StateLoader(storage).load()
            let found = projector.reader(of: projector.store.endCommit())
            try checkNothingPending(found)
            try checkNothingWaits(storage, found)
            reader = found
        }
        let folders = [Branches.folder, derivedFolder].map { $0 + "/" }
        try erasure.mark(filesBesideLog + folders)
        do throws(SyncError) {
            // From now on no follower takes a change for stored. One may have stored it before the mark was there.
            if let reader { try checkNothingWaits(storage, reader) }
        } catch {
            try erasure.takeBack()
            throw error
        }
        try erasure.complete()
    }

    private static func checkNoBranches(_ storage: any LogStorage) throws(SyncError) {
        let names = try Branches.names(storage)
        if names.isEmpty { return }
        throw SyncError(
            .pendingChanges, "the store has branches: \(names.joined(separator: ", "))",
            hint: "Land or drop them first, or erase with force to discard them.")
    }

    private static func checkNothingWaits(_ storage: any LogStorage, _ reader: StateReader) throws(SyncError) {
        let takenIn = try reader.takenIn
        if try Tributaries.all(storage).allSatisfy(takenIn.contains) { return }
        throw SyncError(
            .pendingChanges, "changes of other processes wait to be made in the store",
            hint: "Open it and push them first, or erase with force to lose them.")
    }

    private static func checkNothingPending(_ reader: StateReader) throws(SyncError) {
        guard try reader.oldestPending != nil else { return }
        throw SyncError(
            .pendingChanges, "the store has changes that were not pushed",
            hint: "Push them first, or erase with force to lose them.")
    }
}
