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

    /// Puts the mark in place. It names the log, and other files of its directory whose names begin with the given ones.
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

    /// Removes what is left. The caller holds the lock.
    static func finish(_ storage: any LogStorage) throws(LogError) {
        try callStorage { () throws(StorageError) in
            let others = try names(in: storage)
            let all = try storage.names(in: "")
            for directory in FileName.folders where all.contains(directory) {
                for name in try storage.names(in: directory) { try storage.removeTree("\(directory)/\(name)") }
                try storage.removeDirectory(directory)
            }
            let kept = FileName.folders + [FileName.lock, FileName.erasure]
            for name in all where !kept.contains(name) {
                guard FileName.belongsToLog(name) || others.contains(where: { name.hasPrefix($0) }) else { continue }
                try storage.remove(name)
            }
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
    /// Removes a file, or a directory with everything in it. A link is removed, and what it leads to stays.
    package func removeTree(_ name: String) throws(StorageError) {
        do throws(StorageError) {
            try remove(name)
        } catch {
            guard let inner = try? names(in: name) else { throw error }
            for entry in inner { try removeTree("\(name)/\(entry)") }
            try removeDirectory(name)
        }
    }
}
