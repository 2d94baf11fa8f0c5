// What a store and its server say to each other, kept in a file for a report of a bug. Off unless asked for, without
// secrets, and never larger than was allowed: of two halves the older goes when the newer is full.

public import SegmentLog
import Synchronization
package import SynclineCore
import SynclineWire

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Where and how much of the traffic is recorded.
public struct TrafficRecording: Sendable {
    fileprivate let file: TrafficFile

    /// Records into a file that nobody else may read, and another beside it.
    public init(file: String, limit: ByteCount = .mebibytes(8)) {
        self.file = TrafficFile(file, limit: Int(limit.rawValue))
    }

    func transport(over inner: any HTTPTransport) -> any HTTPTransport { RecordingTransport(inner, file) }

    /// Notes something else beside the exchanges: which command begins, and where the store stood.
    package func note(_ value: Value) { file.append(value) }

    /// All that is in a recording, oldest first; nothing if there is none.
    package static func read(file: String) -> [Value] {
        [TrafficFile.older(file), file].flatMap { path -> [Value] in
            TrafficFile.bytes(of: path).split(separator: 0x0a).compactMap { try? Value(json: $0) }
        }
    }
}

/// Lines of JSON in a file of bounded size. A line that can't be written is left out: recording keeps nothing from working.
private final class TrafficFile: ExchangeRecorder {
    private let path: String
    private let limit: Int
    private let lock = Mutex(())

    init(_ path: String, limit: Int) {
        self.path = path
        self.limit = limit
    }

    static func older(_ path: String) -> String { path + ".old" }

    func record(_ exchange: RecordedExchange) { append(exchange.value) }

    func append(_ value: Value) {
        let line = Array(value.json.utf8) + [0x0a]
        guard line.count <= limit / 2 else { return }
        lock.withLock { _ in
            var status = stat()
            if stat(path, &status) == 0, Int(status.st_size) + line.count > limit / 2 {
                rename(path, TrafficFile.older(path))
            }
            let descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND, 0o600)
            guard descriptor >= 0 else { return }
            defer { close(descriptor) }
            _ = write(descriptor, line, line.count)
        }
    }

    static func bytes(of path: String) -> [UInt8] {
        let descriptor = open(path, O_RDONLY)
        guard descriptor >= 0 else { return [] }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = read(descriptor, &piece, piece.count)
            if count <= 0 { return bytes }
            bytes += piece[..<count]
        }
    }
}
