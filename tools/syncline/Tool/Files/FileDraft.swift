// A file that has a temporary name until it is complete and durable, so an interrupted command leaves no half file under
// the requested name. Only its owner may read it.

import CLibrary
import SegmentLog
import SynclineGround

struct FileDraft {
    private let folder: POSIXStorage
    private let name: String
    private let draft: String
    private let draftPath: String
    private let file: any WritableFile
    private var buffer: [UInt8] = []
    /// Bytes that were written.
    private(set) var size: UInt64 = 0

    init(_ path: String) throws {
        var status = stat()
        if stat(path, &status) == 0, status.st_mode & S_IFMT != S_IFREG {
            throw ToolError("usage", "\(escaped(path)) exists and is not a regular file", exit: .usage)
        }
        let slash = path.lastIndex(of: "/")
        folder = POSIXStorage(directory: slash.map { String(path[...$0]) } ?? ".")
        name = slash.map { String(path[path.index(after: $0)...]) } ?? path
        draft = name + FileName.temporarySuffix
        draftPath = path + FileName.temporarySuffix
        Leftovers.add(draftPath)
        do throws(StorageError) {
            if try folder.names(in: "").contains(draft) { try folder.remove(draft) }
            file = try folder.openForWriting(draft, creating: .privately)
        } catch {
            Leftovers.forget(draftPath)
            throw error
        }
    }

    mutating func add(_ line: [UInt8]) throws {
        buffer += line
        try write([0x0a])
    }

    mutating func write(_ bytes: [UInt8]) throws {
        buffer += bytes
        if buffer.count >= 1 << 16 { try flush() }
    }

    private mutating func flush() throws {
        let (bytes, place) = (buffer, size)
        try bytes.withBytes { bytes throws(StorageError) in try file.writeFully(bytes, at: place) }
        size += UInt64(bytes.count)
        buffer = []
    }

    /// Ends the file and gives it its name, durably.
    mutating func finish() throws {
        try flush()
        try file.sync(.durable)
        file.close()
        try folder.putInPlace(draft, as: name)
        Leftovers.forget(draftPath)
    }

    /// Removes the unfinished file.
    func giveUp() {
        file.close()
        Leftovers.discard(draftPath)
    }
}
