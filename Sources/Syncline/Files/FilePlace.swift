// The place of a file with rows: its folder and its name there. A file is written under a temporary name, which only its
// owner can read, and gets its own when it is complete.

import CLibrary
package import SegmentLog
import SynclineCore
import SynclineGround

package struct FilePlace: Sendable {
    package let storage: any LogStorage
    package let name: String

    package init(_ name: String, in storage: any LogStorage) { (self.name, self.storage) = (name, storage) }

    /// The file at a path.
    init(path: String) throws(SyncError) {
        guard !path.isEmpty, !path.hasSuffix("/"), !path.utf8.contains(0) else {
            throw SyncError(
                .invalidConfiguration, "the path of a file is empty, has a zero byte, or ends with a slash",
                hint: "Give the path of a file.")
        }
        var parts = path.split(separator: "/", omittingEmptySubsequences: false)
        name = String(parts.removeLast())
        storage = POSIXStorage(directory: parts.isEmpty ? "." : parts.joined(separator: "/") + "/")
    }

    /// The file at a path, which may be written: nothing is there, or a regular file.
    package init(replacing path: String) throws(SyncError) {
        try self.init(path: path)
        var status = stat()
        guard stat(self.path, &status) != 0 || status.st_mode & S_IFMT == S_IFREG else {
            throw SyncError(
                .invalidConfiguration, "\(path) exists and is not a regular file", hint: "Give the path of a file.")
        }
    }

    package var path: String { storage.location == "/" ? "/" + name : storage.location + "/" + name }

    /// Lets a body write the file, durably, under a temporary name. If it throws, the file stays as it was.
    func replace<Result>(_ body: (FilePlace) throws(SyncError) -> Result) throws(SyncError) -> Result {
        let draft = FilePlace(name + FileName.temporarySuffix, in: storage)
        try storage.files { () throws(StorageError) in
            // One that a crash left.
            try storage.removeIfThere(draft.name)
            try storage.openForWriting(draft.name, creating: .privately).close()
        }
        do throws(SyncError) {
            let result = try body(draft)
            try storage.put(draft.name, inPlace: name)
            return result
        } catch {
            try? storage.removeIfThere(draft.name)
            throw error
        }
    }
}

/// Writes lines to a file.
struct LineOutput {
    private let storage: any LogStorage
    private let file: any WritableFile
    private var buffer: [UInt8] = []
    private var size: UInt64 = 0

    init(_ place: FilePlace) throws(SyncError) {
        storage = place.storage
        file = try place.storage.files { () throws(StorageError) in
            try place.storage.openForWriting(place.name, creating: .privately)
        }
    }

    mutating func write(_ line: [UInt8]) throws(SyncError) {
        buffer += line
        buffer.append(0x0a)
        if buffer.count >= 1 << 16 { try flush() }
    }

    private mutating func flush() throws(SyncError) {
        let (bytes, place, file) = (buffer, size, file)
        try storage.files { () throws(StorageError) in
            try bytes.withBytes { bytes throws(StorageError) in try file.writeFully(bytes, at: place) }
        }
        size += UInt64(bytes.count)
        buffer = []
    }

    /// Ends the file, durably.
    mutating func finish() throws(SyncError) {
        try flush()
        try storage.files { () throws(StorageError) in try file.sync(.durable) }
        file.close()
    }
}

/// The lines of a file. Only a line feed ends a line; the last needs none.
final class LineInput {
    private let storage: any LogStorage
    private let file: any ReadableFile
    private var buffer: [UInt8] = []
    private var start = 0
    private var offset: UInt64 = 0
    private var isAtEnd = false
    /// The number of the line that was read last.
    private(set) var line = 0

    /// A longer line than the longest record is refused.
    private static let limit = 257 << 20
    private static let piece = 1 << 16

    init(_ place: FilePlace) throws(SyncError) {
        storage = place.storage
        file = try place.storage.files { () throws(StorageError) in try place.storage.openForReading(place.name) }
    }

    deinit { file.close() }

    /// The next line, without its end.
    func next() throws(SyncError) -> [UInt8]? {
        var searched = start
        while true {
            if let end = buffer[searched...].firstIndex(of: 0x0a) {
                defer { start = end + 1 }
                line += 1
                return Array(buffer[start..<end])
            }
            guard !isAtEnd else { break }
            searched = buffer.count - start
            buffer.removeFirst(start)
            start = 0
            guard buffer.count <= LineInput.limit else {
                throw SyncError(.invalidItem, "line \(line + 1) is longer than \(LineInput.limit) bytes")
            }
            try fill()
        }
        guard start < buffer.count else { return nil }
        defer { start = buffer.count }
        line += 1
        return Array(buffer[start...])
    }

    private func fill() throws(SyncError) {
        let (file, offset) = (file, offset)
        let piece = try storage.files { () throws(StorageError) in try file.bytes(LineInput.piece, at: offset) }
        withExtendedLifetime(piece) { buffer += $0.bytes }
        self.offset += UInt64(piece.bytes.count)
        if piece.bytes.count < LineInput.piece { isAtEnd = true }
    }
}
