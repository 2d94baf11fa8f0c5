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
            try storage.removeIfThere(draft)
            do throws(StorageError) {
                try bytes.withBytes { bytes throws(StorageError) in
                    try storage.publish(bytes, as: name, creating: creation).close()
                }
            } catch {
                // It may hold a secret. If it can't be removed now, the next opening removes it.
                try? storage.removeIfThere(draft)
                throw error
            }
        }
    }

    /// Removes it durably, if it exists.
    package func remove() throws(LogError) {
        try callStorage { () throws(StorageError) in
            try storage.removeIfThere(name)
            try storage.syncDirectory(of: name)
        }
    }
}

extension LogStorage {
    /// Copies a file into another storage. Its content is durable; its name is once the directory is.
    package func copy(_ name: String, to other: any LogStorage, as target: String) throws(StorageError) {
        let source = try openForReading(name)
        defer { source.close() }
        let copy = try other.openForWriting(target, create: true)
        defer { copy.close() }
        try source.forEachPiece(from: 0, to: try source.size()) { bytes, offset throws(StorageError) in
            try copy.writeFully(bytes, at: offset)
        }
        try copy.sync(.durable)
    }

    /// Writes a whole file under a temporary name, syncs it, and gives it its name, durably.
    package func publish(
        _ content: UnsafeRawBufferPointer, as name: String, creating creation: FileCreation = .ifMissing
    ) throws(StorageError) -> any WritableFile {
let temporary = Breakage.segmentNotRenamed.isActive ? name : name + FileName.temporarySuffix
        let file = try openForWriting(temporary, creating: creation)
        do throws(StorageError) {
            try file.resize(to: 0)
            try file.writeFully(content, at: 0)
if !Breakage.newFileNotSynced.isActive { try file.sync(.durable) }
            try rename(temporary, to: name)
if !Breakage.directoryNotSynced.isActive { try syncDirectory(of: name) }
        } catch {
            file.close()
            throw error
        }
        return file
    }

    /// Gives a complete and synced file or directory its final name, durably.
    package func putInPlace(_ draft: String, as name: String) throws(LogError) {
        try callStorage { () throws(StorageError) in
            try rename(draft, to: name)
            try syncDirectory(of: name)
        }
    }

    /// Removes a file that need not exist.
    package func removeIfThere(_ name: String) throws(StorageError) {
        do throws(StorageError) {
            try remove(name)
        } catch {
            if error.kind != .notFound { throw error }
        }
    }

    /// Makes the name of a file or directory durable.
    fileprivate func syncDirectory(of name: String) throws(StorageError) {
        try syncDirectory(name.split(separator: "/").dropLast().joined(separator: "/"))
    }
}
