// Lines of input: from the process's standard input, or from memory.

import CLibrary
import SegmentLog

/// Returns the next line, without its end.
package protocol LineSource: AnyObject {
    func next() throws(ToolError) -> [UInt8]?

    /// The number of bytes to read; nil if it is not known.
    var size: UInt64? { get }

    /// The longest line that is read, in bytes. A longer one is an error, and the next line is the one after it.
    var limit: Int { get set }
}

extension LineSource {
    package var size: UInt64? { nil }

    package var limit: Int {
        get { .max }
        set {}
    }
}

extension ToolError {
    /// The code of the error for a line that is too long.
    static let longLine = "line-too-long"
}

/// The lines of a descriptor. Only a line feed ends a line; the last needs none.
package final class DescriptorLines: LineSource {
    private let descriptor: Int32
    private var buffer: [UInt8] = []
    private var start = 0
    private var isAtEnd = false
    /// The rest of a line that was refused is skipped.
    private var isSkipping = false
    /// A line that is longer than the longest record is refused.
    package var limit = 257 << 20

    package init(_ descriptor: Int32) {
        self.descriptor = descriptor
    }

    package var size: UInt64? {
        var status = stat()
        let place = lseek(descriptor, 0, SEEK_CUR)
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, place >= 0 else { return nil }
        return UInt64(max(0, Int64(status.st_size) - Int64(place)))
    }

    package func next() throws(ToolError) -> [UInt8]? {
        var searched = start
        while true {
            if let end = buffer[searched...].firstIndex(of: 0x0a) {
                let line = start..<end
                start = end + 1
                if isSkipping {
                    isSkipping = false
                    searched = start
                    continue
                }
                return try checked(line)
            }
            searched = buffer.count
            if isAtEnd {
                defer { start = buffer.count }
                return start < buffer.count && !isSkipping ? try checked(start..<buffer.count) : nil
            }
            if isSkipping || buffer.count - start > limit {
                let isFirst = !isSkipping
                isSkipping = true
                (buffer, start, searched) = ([], 0, 0)
                if isFirst { throw tooLong }
            }
            if start > 0 {
                buffer.removeFirst(start)
                searched -= start
                start = 0
            }
            try fill()
        }
    }

    private func checked(_ line: Range<Int>) throws(ToolError) -> [UInt8] {
        if line.count > limit { throw tooLong }
        return Array(buffer[line])
    }

    private var tooLong: ToolError {
        ToolError(ToolError.longLine, "a line of the input is longer than \(limit) bytes")
    }

    private func fill() throws(ToolError) {
        let piece = 1 << 16
        let count = withUnsafeTemporaryAllocation(byteCount: piece, alignment: 16) { room in
            var count = 0
            repeat { count = read(descriptor, room.baseAddress, piece) } while count == -1 && errno == EINTR
            if count > 0 { buffer.append(contentsOf: room[..<count]) }
            return count
        }
        if count == 0 { isAtEnd = true }
        if count < 0 {
            throw ToolError(LogError(StorageError(number: errno, operation: "read", name: "standard input")))
        }
    }
}

/// The lines of a file.
final class FileLines: LineSource {
    private let descriptor: Int32
    private let lines: DescriptorLines

    init(_ path: String) throws(ToolError) {
        #if canImport(Darwin)
            descriptor = Darwin.open(path, O_RDONLY)
        #else
            descriptor = Glibc.open(path, O_RDONLY)
        #endif
        guard descriptor >= 0 else {
            throw ToolError(LogError(StorageError(number: errno, operation: "open", name: path)))
        }
        lines = DescriptorLines(descriptor)
    }

    deinit { close(descriptor) }

    var size: UInt64? { lines.size }

    func next() throws(ToolError) -> [UInt8]? { try lines.next() }
}

/// Lines that are there already.
package final class MemoryLines: LineSource {
    private var lines: ArraySlice<[UInt8]>

    package init(_ text: String = "") {
        var lines = text.utf8.split(separator: 0x0a, omittingEmptySubsequences: false).map { [UInt8]($0) }
        if lines.last?.isEmpty == true { lines.removeLast() }
        self.lines = lines[...]
    }

    package func next() -> [UInt8]? { lines.popFirst() }
}
