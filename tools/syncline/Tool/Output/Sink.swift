// Where bytes go. A reader that went away is no failure: whoever writes stops, quietly.

import SegmentLog

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Whoever read the output has stopped.
package struct ClosedPipe: Error {}

/// Takes text.
package protocol Sink: AnyObject {
    func write(_ text: String) throws
    func write(bytes: [UInt8]) throws
    /// Hands on what was kept back.
    func flush() throws
    /// Whether nobody reads any more.
    var isClosed: Bool { get }
}

/// A descriptor of the process, through a buffer.
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

/// Keeps what is written.
package final class MemorySink: Sink {
    package private(set) var bytes: [UInt8] = []
    private let limit: Int

    /// Once it holds `limit` bytes its reader is gone.
    package init(limit: Int = .max) {
        self.limit = limit
    }

    package var text: String { String(decoding: bytes, as: UTF8.self) }

    package func write(_ text: String) throws {
        try write(bytes: Array(text.utf8))
    }

    package func write(bytes new: [UInt8]) throws {
        if isClosed { throw ClosedPipe() }
        bytes += new
    }

    package func flush() {}

    package var isClosed: Bool { bytes.count >= limit }
}
