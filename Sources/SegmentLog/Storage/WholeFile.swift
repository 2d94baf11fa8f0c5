// Small files beside a log: settings, secrets, marks. Such a file is read and replaced as a whole. After a crash it
// has either the old or the new content, and the new content once `replace` has returned. The next writer of the log
// removes what an unfinished call leaves.

import SynclineGround

/// A small file that is replaced as a whole.
package struct WholeFile: Sendable {
    private let storage: any LogStorage
    private let name: String
    private let creation: FileCreation

    /// A file in a storage, which need not exist. Only its owner may read a private one.
    package init(_ name: String, in storage: any LogStorage, isPrivate: Bool = false) {
        self.name = name
        self.storage = storage
        creation = isPrivate ? .privately : .ifMissing
    }

    /// Returns its bytes, or nil if it does not exist.
    package func read() throws(LogError) -> [UInt8]? {
        do throws(StorageError) {
            let file = try storage.openForReading(name)
            defer { file.close() }
            let buffer = try file.bytes(Int(clamping: try file.size()))
            return [UInt8](buffer.bytes)
        } catch {
            if error.kind == .notFound || error.kind == .notADirectory { return nil }
            throw LogError(error)
        }
    }

    /// Replaces its content durably.
    package func replace(with bytes: [UInt8]) throws(LogError) {
        let draft = name + FileName.temporarySuffix
        try callStorage { () throws(StorageError) in
            // A draft left by a crash may have other permissions.
            try removeIfThere(draft)
            do throws(StorageError) {
                let file = try storage.openForWriting(draft, creating: creation)
                defer { file.close() }
                try bytes.withBytes { bytes throws(StorageError) in try file.writeFully(bytes, at: 0) }
                try file.sync(.durable)
                try storage.rename(draft, to: name)
            } catch {
                // It may hold a secret. If it can't be removed now, the next opening removes it.
                try? removeIfThere(draft)
                throw error
            }
            try storage.syncDirectory(of: name)
        }
    }

    /// Removes it durably, if it exists.
    package func remove() throws(LogError) {
        try callStorage { () throws(StorageError) in
            try removeIfThere(name)
            try storage.syncDirectory(of: name)
        }
    }

    private func removeIfThere(_ name: String) throws(StorageError) {
        do throws(StorageError) {
            try storage.remove(name)
        } catch {
            if error.kind != .notFound { throw error }
        }
    }
}

extension LogStorage {
    /// Gives a complete and synced file or directory its final name, durably.
    package func putInPlace(_ draft: String, as name: String) throws(LogError) {
        try callStorage { () throws(StorageError) in
            try rename(draft, to: name)
            try syncDirectory(of: name)
        }
    }

    /// Makes the name of a file or directory durable.
    fileprivate func syncDirectory(of name: String) throws(StorageError) {
        try syncDirectory(name.split(separator: "/").dropLast().joined(separator: "/"))
    }
}
