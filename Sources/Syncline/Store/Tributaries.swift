// The folder with the changes of other processes that are not in the log yet.

package import SegmentLog
package import SynclineCore

package enum Tributaries {
    /// The files in the folder, in order. A file that is put there meanwhile may be missing although a later one is not.
    package static func all(_ storage: any LogStorage) throws(SyncError) -> [TributaryName] {
        try storage.ifThere { () throws(StorageError) in
            try storage.names(in: FileName.tributaries).compactMap { TributaryName(file: $0) }.sorted()
        } ?? []
    }

    /// The files in the folder, in order, up to one that a listing may have missed. Each file with a lower number that a process
    /// saw was there when the first listing ended, so the second one has it.
    /// - Parameter shown: Files that a process shows already. They are not held back.
    package static func waiting(
        _ storage: any LogStorage, shown: [TributaryName] = []
    ) throws(SyncError) -> [TributaryName] {
        let first = try all(storage)
        if first.isEmpty { return [] }
        let known = Set(first)
        guard let missed = try all(storage).first(where: { !known.contains($0) }) else { return first }
        let shown = Set(shown)
        return first.filter { $0.number < missed.number || shown.contains($0) }
    }

    /// Removes files, durably, also those that an earlier removal left to a power failure.
    static func remove(_ names: some Collection<TributaryName>, of storage: any LogStorage) throws(SyncError) {
        if names.isEmpty { return }
        try storage.ifThere { () throws(StorageError) in
            for name in names { try storage.removeIfThere(name.path) }
            try storage.syncDirectory(FileName.tributaries)
        }
    }
}

extension StateReader {
    /// The files whose changes are in the log, and which may still exist.
    package var takenIn: Set<TributaryName> {
        get throws(SyncError) {
            guard case .string(let names)? = try setting(SettingName.takenIn) else { return [] }
            return Set(names.split(separator: " ").compactMap { TributaryName($0) })
        }
    }
}

/// Writes the changes of this process. Used by one thread at a time.
final class TributaryWriter {
    private let storage: any LogStorage
    private let process: UInt64
    /// The highest number that this process has used or seen.
    private var latest: UInt64 = 0
    /// The log for which this process has made the folder durable.
    private var prepared: LogIdentity?

    init(_ storage: any LogStorage, _ environment: any SyncEnvironment) {
        self.storage = storage
        process = hash64(of: environment.newID())
    }

    func isMine(_ name: TributaryName) -> Bool { name.process == process }

    /// Notes files of other processes whose changes this one shows.
    func noteSeen(_ names: [TributaryName]) { latest = max(latest, names.last?.number ?? 0) }

    /// Makes the folder durable, once for each log. Another process may have made it and not have synced it yet.
    func prepare(for identity: LogIdentity) throws(SyncError) {
        if prepared == identity { return }
        try storage.makeFolder(FileName.tributaries)
        prepared = identity
    }

    /// Writes events as one unit. They are durable when it returns.
    func write(_ file: TributaryFile) throws(SyncError) -> TributaryName {
        guard latest < .max else {
            throw SyncError(
                .ioError, "no number is left for changes of this process",
                hint: "Let the app take in the waiting changes, then follow the store again.",
                address: FileName.tributaries)
        }
        // Also if it fails: a file may be there then, and its name must not be used again.
        latest += 1
        let name = TributaryName(number: latest, process: process)
        let folder = prepared == file.identity ? nil : FileName.tributaries
        guard try storage.put(file: name.path, file.bytes, intoNew: folder) else {
            throw .otherStore(storage, hint: StoreFollower.hint)
        }
        prepared = file.identity
        return name
    }
}
