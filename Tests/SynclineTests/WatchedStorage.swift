// A disk and a network that note their calls, which of them come from the main actor, and how much is written.

import Dispatch
import SegmentLog
import SynclineCore
import SynclineGround
import SynclineWire

/// Notes what happens, and what of it on the main actor, whose jobs run on the main queue.
final class CallWatch: Sendable {
    struct Notes: Sendable {
        var onMain: [String] = []
        var calls = 0
        /// How often each call was made.
        var counts: [String: Int] = [:]
        /// How many bytes were read and written.
        var bytes: [String: Int] = [:]
    }

    private let content = Mutex(Notes())
    private let key = DispatchSpecificKey<Bool>()

    init() {
        DispatchQueue.main.setSpecific(key: key, value: true)
    }

    func note(_ what: String, bytes: Int = 0) {
        let isMain = DispatchQueue.getSpecific(key: key) == true
        content.withLock { content in
            content.calls += 1
            content.counts[what, default: 0] += 1
            content.bytes[what, default: 0] += bytes
            if isMain { content.onMain.append(what) }
        }
    }

    /// What happened since the last time.
    @discardableResult
    func take() -> Notes {
        content.withLock { content in
            defer { content = Notes() }
            return content
        }
    }
}

/// A storage whose calls are watched.
struct WatchedStorage: LogStorage {
    let inner: any LogStorage
    let watch: CallWatch

    var location: String { inner.location }
    var place: String? { inner.place }

    func names(in directory: String) throws(StorageError) -> [String] {
        watch.note("names")
        return try inner.names(in: directory)
    }

    func createDirectory(_ directory: String) throws(StorageError) {
        watch.note("createDirectory")
        try inner.createDirectory(directory)
    }

    func syncDirectory(_ directory: String) throws(StorageError) {
        watch.note("syncDirectory")
        try inner.syncDirectory(directory)
    }

    func openForReading(_ name: String) throws(StorageError) -> any ReadableFile {
        watch.note("open \(name)")
        return WatchedFile(try inner.openForReading(name), watch)
    }

    func openForWriting(_ name: String, creating creation: FileCreation) throws(StorageError) -> any WritableFile {
        watch.note("open \(name)")
        return WatchedWritableFile(try inner.openForWriting(name, creating: creation), watch)
    }

    func rename(_ name: String, to newName: String) throws(StorageError) {
        watch.note("rename")
        try inner.rename(name, to: newName)
    }

    func remove(_ name: String) throws(StorageError) {
        watch.note("remove")
        try inner.remove(name)
    }

    func removeDirectory(_ directory: String) throws(StorageError) {
        watch.note("removeDirectory")
        try inner.removeDirectory(directory)
    }

    func lock(_ name: String) throws(StorageError) -> (any FileLock)? {
        watch.note("lock")
        return try inner.lock(name)
    }
}

private final class WatchedFile: ReadableFile {
    private let inner: any ReadableFile
    private let watch: CallWatch

    init(_ inner: any ReadableFile, _ watch: CallWatch) {
        (self.inner, self.watch) = (inner, watch)
    }

    func size() throws(StorageError) -> UInt64 { try inner.size() }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(StorageError) -> Int {
        let count = try inner.read(into: buffer, at: offset)
        watch.note("read", bytes: count)
        return count
    }

    func close() { inner.close() }
}

private final class WatchedWritableFile: WritableFile {
    private let inner: any WritableFile
    private let watch: CallWatch

    init(_ inner: any WritableFile, _ watch: CallWatch) {
        (self.inner, self.watch) = (inner, watch)
    }

    func size() throws(StorageError) -> UInt64 { try inner.size() }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(StorageError) -> Int {
        let count = try inner.read(into: buffer, at: offset)
        watch.note("read", bytes: count)
        return count
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(StorageError) -> Int {
        let count = try inner.write(bytes, at: offset)
        watch.note("write", bytes: count)
        return count
    }

    func resize(to size: UInt64) throws(StorageError) {
        watch.note("resize")
        try inner.resize(to: size)
    }

    func sync(_ level: SyncLevel) throws(StorageError) {
        watch.note("sync")
        try inner.sync(level)
    }

    func close() { inner.close() }
}

/// A network whose requests are watched.
struct WatchedNetwork: HTTPTransport {
    let inner: any HTTPTransport
    let watch: CallWatch

    func send(_ request: HTTPRequest) async throws(NetworkFailure) -> HTTPResponse {
        watch.note("send \(request.method)")
        return try await inner.send(request)
    }
}
