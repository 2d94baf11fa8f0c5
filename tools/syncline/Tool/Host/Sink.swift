// A destination for output bytes. If the reader goes away, that is not a failure: the writer stops quietly.

import CLibrary
import SegmentLog

/// Writes text.
package protocol Sink: AnyObject {
    func write(_ text: String) throws
    func write(bytes: [UInt8]) throws
    /// Flushes the buffer.
    func flush() throws
    /// Whether the reader is gone.
    var isClosed: Bool { get }
}

extension Sink {
    package func write(_ text: String) throws { try write(bytes: Array(text.utf8)) }
}

/// A buffered descriptor of the process.
package final class DescriptorSink: Sink {
    private let descriptor: Int32
    private var buffer: [UInt8] = []
    private static let capacity = 1 << 16

    package init(_ descriptor: Int32) {
        self.descriptor = descriptor
    }

    package func write(_ text: String) throws {
        buffer.append(contentsOf: text.utf8)
        if buffer.count >= DescriptorSink.capacity { try flush() }
    }

    package func write(bytes: [UInt8]) throws {
        buffer.append(contentsOf: bytes)
        if buffer.count >= DescriptorSink.capacity { try flush() }
    }

    package func flush() throws {
        defer { buffer.removeAll(keepingCapacity: true) }
        var done = 0
        while done < buffer.count {
            let count = buffer.withUnsafeBytes { bytes in
                #if canImport(Darwin)
                    Darwin.write(descriptor, bytes.baseAddress.map { $0 + done }, bytes.count - done)
                #else
                    Glibc.write(descriptor, bytes.baseAddress.map { $0 + done }, bytes.count - done)
                #endif
            }
            if count >= 0 {
                done += count
            } else if errno == EPIPE {
                throw ClosedPipe()
            } else if errno == EAGAIN {
                var wait = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                _ = poll(&wait, 1, -1)
            } else if errno != EINTR {
                throw LogError(StorageError(number: errno, operation: "write", name: "the output"))
            }
        }
    }

    package var isClosed: Bool {
        var wait = pollfd(fd: descriptor, events: 0, revents: 0)
        return poll(&wait, 1, 0) == 1 && wait.revents & Int16(POLLERR) != 0
    }
}

/// Keeps the output in memory.
package final class MemorySink: Sink {
    package private(set) var bytes: [UInt8] = []
    private let limit: Int

    /// After `limit` bytes it acts as if its reader were gone.
    package init(limit: Int = .max) {
        self.limit = limit
    }

    package var text: String { String(decoding: bytes, as: UTF8.self) }

    package func write(bytes new: [UInt8]) throws {
        if isClosed { throw ClosedPipe() }
        bytes += new
    }

    package func flush() {}

    package var isClosed: Bool { bytes.count >= limit }
}
