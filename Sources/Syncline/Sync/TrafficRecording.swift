// What a store and its server say to each other, kept in a file for a report of a bug. Off unless asked for, without
// secrets, and never larger than was allowed: of two halves the older goes when the newer is full.

public import SegmentLog
import Synchronization
package import SynclineCore
import SynclineWire

/// Where and how much of the traffic is recorded.
public struct TrafficRecording: Sendable {
    fileprivate let file: TrafficFile

    /// Records into a file that nobody else may read, and another beside it.
    public init(file: String, limit: ByteCount = .mebibytes(8)) {
        let (storage, name) = TrafficRecording.place(file)
        self.init(name, in: storage, limit: limit)
    }

    package init(_ name: String, in storage: any LogStorage, limit: ByteCount) {
        file = TrafficFile(name, in: storage, limit: Int(limit.rawValue))
    }

    func transport(over inner: any HTTPTransport) -> any HTTPTransport { RecordingTransport(inner, file) }

    /// Notes something else beside the exchanges: which command begins, and where the store stood.
    package func note(_ value: Value) { file.append(value) }

    /// Removes what was recorded.
    func remove() { file.remove() }

    /// All that is in a recording, oldest first; nothing if there is none.
    package static func read(file: String) -> [Value] {
        let (storage, name) = place(file)
        return read(name, in: storage)
    }

    package static func read(_ name: String, in storage: any LogStorage) -> [Value] {
        [TrafficFile.older(name), name].flatMap { name -> [Value] in
            let bytes = (try? WholeFile(name, in: storage).read()) ?? nil
            return (bytes ?? []).split(separator: 0x0a).compactMap { try? Value(json: $0) }
        }
    }

    private static func place(_ path: String) -> (directory: any LogStorage, name: String) {
        guard let slash = path.lastIndex(of: "/") else { return (POSIXStorage(directory: "."), path) }
        return (POSIXStorage(directory: String(path[...slash])), String(path[path.index(after: slash)...]))
    }
}

/// Lines of JSON in a file of bounded size. A line that can't be written is left out: recording keeps nothing from
/// working. For the same reason nothing is synced: power loss may take the newest lines, or leave one that is no JSON.
private final class TrafficFile: ExchangeRecorder {
    private let name: String
    private let limit: Int
    /// Held as soon as it can be, so that a recording never begins in another store that was put in the place of its own.
    private let storage: Mutex<any LogStorage>
    /// A store and a command may record into one file; of two processes only one has the store open.
    private static let turn = Mutex(())

    init(_ name: String, in storage: any LogStorage, limit: Int) {
        self.name = name
        self.limit = limit
        self.storage = Mutex((try? storage.held()) ?? storage)
    }

    static func older(_ name: String) -> String { name + ".old" }

    func record(_ exchange: RecordedExchange) { append(exchange.value) }

    func append(_ value: Value) {
        let line = Array(value.json.utf8) + [0x0a]
        guard line.count <= limit / 2 else { return }
        TrafficFile.turn.withLock { _ in
            let storage = storage.withLock { storage in
                if let held = try? storage.held() { storage = held }
                return storage
            }
            try? append(line, in: storage)
        }
    }

    /// Removes what was recorded; what is not there needs no removing.
    func remove() {
        TrafficFile.turn.withLock { _ in
            let storage = storage.withLock { $0 }
            for name in [name, TrafficFile.older(name)] { try? storage.remove(name) }
        }
    }

    private func append(_ line: [UInt8], in storage: any LogStorage) throws(StorageError) {
        var file = try storage.openForWriting(name, creating: .privately)
        defer { file.close() }
        var size = try file.size()
        if size > 0, size + UInt64(line.count) > UInt64(limit / 2) {
            file.close()
            try storage.rename(name, to: TrafficFile.older(name))
            file = try storage.openForWriting(name, creating: .privately)
            size = 0
        }
        do throws(StorageError) {
            try line.span.withUnsafeBytes { bytes throws(StorageError) in try file.writeFully(bytes, at: size) }
        } catch {
            // Half a line would spoil the next one as well.
            try? file.resize(to: size)
            throw error
        }
    }
}
