// A disk and a network that note which calls come from the main actor.

import Dispatch
import SegmentLog
import SynclineCore
import SynclineGround
import SynclineWire

/// Notes what happens on the main actor, whose jobs run on the main queue.
final class MainActorWatch: Sendable {
    private let content = Mutex<(noted: [String], calls: Int)>(([], 0))
    private let key = DispatchSpecificKey<Bool>()

    init() {
        DispatchQueue.main.setSpecific(key: key, value: true)
    }

    func note(_ what: String) {
        let isMain = DispatchQueue.getSpecific(key: key) == true
        content.withLock { content in
            content.calls += 1
            if isMain { content.noted.append(what) }
        }
    }

    /// What happened on the main actor, and the number of calls on any thread, since the last time.
    func take() -> (onMain: [String], calls: Int) {
        content.withLock { content in
            defer { content = ([], 0) }
            return (content.noted, content.calls)
        }
    }
}

/// A storage whose calls are watched.
struct WatchedStorage: LogStorage {
    let inner: any LogStorage
    let watch: MainActorWatch

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
    private let watch: MainActorWatch

    init(_ inner: any ReadableFile, _ watch: MainActorWatch) {
        (self.inner, self.watch) = (inner, watch)
    }

    func size() throws(StorageError) -> UInt64 { try inner.size() }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(StorageError) -> Int {
        watch.note("read")
        return try inner.read(into: buffer, at: offset)
    }

    func close() { inner.close() }
}

private final class WatchedWritableFile: WritableFile {
    private let inner: any WritableFile
    private let watch: MainActorWatch

    init(_ inner: any WritableFile, _ watch: MainActorWatch) {
        (self.inner, self.watch) = (inner, watch)
    }

    func size() throws(StorageError) -> UInt64 { try inner.size() }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(StorageError) -> Int {
        watch.note("read")
        return try inner.read(into: buffer, at: offset)
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(StorageError) -> Int {
        watch.note("write")
        return try inner.write(bytes, at: offset)
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
    let watch: MainActorWatch

    func send(_ request: HTTPRequest) async throws(NetworkFailure) -> HTTPResponse {
        watch.note("send \(request.method)")
        return try await inner.send(request)
    }
}
