// Removes a log and all of its files. A mark, durable before the first file is removed, records the intent: if the
// process dies, the next opening for writing removes the rest, and a partial log is never taken for a whole one.

/// Removes a log while holding its lock.
package final class LogErasure {
    private let storage: any LogStorage
    private let lock: any FileLock

    /// Takes the log's lock; throws if another process has the log open.
    package init(_ storage: any LogStorage) throws(LogError) {
        var creator = LogCreator(storage: storage, clock: SystemClock())
        try creator.prepare(.never)
        self.storage = creator.storage
        lock = try creator.takeLock()
    }

    deinit { lock.release() }

    /// Puts the mark in place. It names other things of the directory that go with the log: files whose names begin with the
    /// given ones, and folders, whose names end with a slash.
    package func begin(with others: [String]) throws(LogError) {
        let content = ByteBuffer(capacity: 1 << 12)
        Array(others.joined(separator: "\n").utf8).withUnsafeBytes { content.append($0) }
        try callStorage { () throws(StorageError) in
            try storage.publish(content.bytes, as: FileName.erasure).close()
        }
    }

    /// Removes the mark, and nothing else.
    package func cancel() throws(LogError) {
        try WholeFile(FileName.erasure, in: storage).remove()
    }

    /// Removes everything that the mark names.
    package func finish() throws(LogError) { try LogErasure.finish(storage) }

    /// Returns whether a removal of the log was begun.
    package static func isBegun(_ storage: any LogStorage) throws(LogError) -> Bool {
        try callStorage { () throws(StorageError) in try storage.names(in: "").contains(FileName.erasure) }
    }

    /// Removes the rest: all that can be removed goes even if something else can't, and the mark stays then. The caller holds
    /// the lock.
    static func finish(_ storage: any LogStorage) throws(LogError) {
        try callStorage { () throws(StorageError) in
            let others = try names(in: storage)
            var failure: StorageError?
            for name in try storage.names(in: "") where ![FileName.lock, FileName.erasure].contains(name) {
                let isNamed = others.contains { $0.hasSuffix("/") ? $0 == name + "/" : name.hasPrefix($0) }
                guard FileName.belongsToLog(name) || isNamed else { continue }
                do throws(StorageError) { try storage.removeTree(name) } catch { failure = failure ?? error }
            }
            if let failure { throw failure }
            try storage.syncDirectory("")
            // The mark is removed when nothing else is left, and the held lock last of all.
            try storage.remove(FileName.erasure)
            try storage.remove(FileName.lock)
            try storage.syncDirectory("")
        }
    }

    /// Returns the other files' names from the mark.
    private static func names(in storage: any LogStorage) throws(StorageError) -> [String] {
        let file = try storage.openForReading(FileName.erasure)
        defer { file.close() }
        let buffer = try file.bytes(1 << 12)
        return String(decoding: buffer.bytes, as: UTF8.self).split(separator: "\n").map(String.init)
    }
}

extension LogStorage {
    /// Removes a file, or a directory with everything in it, as far as possible. A link is removed, and what it leads to stays.
    package func removeTree(_ name: String) throws(StorageError) {
        do throws(StorageError) {
            try remove(name)
        } catch {
            guard let inner = try? names(in: name) else { throw error }
            var failure: StorageError?
            for entry in inner {
                do throws(StorageError) { try removeTree("\(name)/\(entry)") } catch { failure = failure ?? error }
            }
            if let failure { throw failure }
            try removeDirectory(name)
        }
    }
}
