// Records requests and responses in a file for a bug report. Off by default, without secrets, and bounded in size:
// of two files, the older is dropped when the newer is full.

public import SegmentLog
package import SynclineCore
import SynclineGround
import SynclineWire

/// Where the traffic is recorded, and how much of it is kept.
public struct TrafficRecording: Sendable {
    fileprivate let file: TrafficFile

    /// Creates a recording in a file that only its owner can read, and a second file beside it.
    public init(file: String, limit: ByteCount = .mebibytes(8)) {
        let (storage, name) = TrafficRecording.place(file)
        self.init(name, in: storage, limit: limit)
    }

    package init(_ name: String, in storage: any LogStorage, limit: ByteCount) {
        file = TrafficFile(name, in: storage, limit: Int(limit.rawValue))
    }

    func transport(over inner: any HTTPTransport) -> any HTTPTransport { RecordingTransport(inner, file) }

    /// Adds a note between the exchanges: which command begins, and the store's position.
    package func note(_ value: Value) { file.append(value) }

    /// Removes the recording.
    func remove() throws(SyncError) { try file.remove() }

    /// Returns everything in a recording, oldest first; empty if there is none.
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

/// JSON Lines in a file of bounded size. A line that can't be written is skipped, so that recording never causes a
/// failure. For the same reason nothing is synced: a power failure may lose the newest lines, or leave one that is
/// not valid JSON.
private final class TrafficFile: ExchangeRecorder {
    private let name: String
    private let limit: Int
    /// Opened as early as possible, so that a recording never goes to another store that replaced its own.
    private let storage: Mutex<any LogStorage>
    /// A store and a command may record into one file. Only one process at a time has the store open.
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

    /// Removes the recording; succeeds if there is none.
    func remove() throws(SyncError) {
        let result = TrafficFile.turn.withLock { _ in
            let storage = storage.withLock { $0 }
            return Result { () throws(StorageError) in
                for name in [name, TrafficFile.older(name)] { try storage.removeIfThere(name) }
            }
        }
        do throws(StorageError) { try result.get() } catch { throw SyncError(error) }
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
            try line.withBytes { bytes throws(StorageError) in try file.writeFully(bytes, at: size) }
        } catch {
            // Half a line would spoil the next one as well.
            try? file.resize(to: size)
            throw error
        }
    }
}
