// A storage that runs something else before one of the writer's calls: a reader in another process looks, a lease is
// taken, a byte is damaged. So the interleavings of writer and reader come from the seed, on one thread.

import SegmentLog

/// Passes every call on, after running what is due before it. Used by one thread, like the whole simulation; that is
/// why its mutable state needs no lock.
final class InterleavingStorage: LogStorage, @unchecked Sendable {
    let base: any LogStorage
    private var callsLeft = 0
    private var aside: (() -> Void)?
    /// A write that ends early, at the end of a sector as on a real system: short, or with an error.
    struct Trim {
        var call: Int
        /// The whole sectors to write, besides the rest of the one it begins in.
        var sectors: Int
        var error: StorageError.Kind?
    }

    var trim: Trim?
    /// The number of writes that ended early.
    private(set) var trims = 0
    /// How often a file was opened for reading.
    private(set) var readings = 0

    /// Whether the lock has its owner; false simulates a forked child.
    var isOwner = true

    init(_ base: any LogStorage) {
        self.base = base
    }

    /// Runs something before the call that follows `calls` others.
    func interrupt(after calls: Int, with aside: @escaping () -> Void) {
        callsLeft = calls
        self.aside = aside
    }

    func letBe() {
        aside = nil
    }

    /// Returns how many bytes of a write get through, if it is to end early.
    fileprivate func take(_ count: Int, at offset: UInt64) -> (count: Int, error: StorageError.Kind?)? {
        guard let trim else { return nil }
        self.trim?.call -= 1
        guard trim.call == 0 else { return nil }
        self.trim = nil
        trims += 1
        return (min(count, (trim.sectors + 1) * 512 - Int(offset % 512)), trim.error)
    }

    func turn() {
        guard let aside else { return }
        callsLeft -= 1
        guard callsLeft < 0 else { return }
        self.aside = nil
        aside()
    }

    var location: String { base.location }

    func names(in directory: String) throws(StorageError) -> [String] {
        turn()
        return try base.names(in: directory)
    }

    func createDirectory(_ directory: String) throws(StorageError) {
        turn()
        try base.createDirectory(directory)
    }

    func syncDirectory(_ directory: String) throws(StorageError) {
        turn()
        try base.syncDirectory(directory)
    }

    func openForReading(_ name: String) throws(StorageError) -> any ReadableFile {
        turn()
        readings += 1
        return InterleavingReading(try base.openForReading(name), self)
    }

    func openForWriting(_ name: String, creating creation: FileCreation) throws(StorageError) -> any WritableFile {
        turn()
        return InterleavingFile(try base.openForWriting(name, creating: creation), self)
    }

    func rename(_ name: String, to newName: String) throws(StorageError) {
        turn()
        try base.rename(name, to: newName)
    }

    func remove(_ name: String) throws(StorageError) {
        turn()
        try base.remove(name)
    }

    func lock(_ name: String) throws(StorageError) -> (any FileLock)? {
        turn()
        return try base.lock(name).map { InterleavingLock($0, self) }
    }
}

private final class InterleavingReading: ReadableFile {
    private let base: any ReadableFile
    private let storage: InterleavingStorage

    init(_ base: any ReadableFile, _ storage: InterleavingStorage) {
        self.base = base
        self.storage = storage
    }

    func size() throws(StorageError) -> UInt64 {
        storage.turn()
        return try base.size()
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(StorageError) -> Int {
        storage.turn()
        return try base.read(into: buffer, at: offset)
    }

    func close() { base.close() }
}

private final class InterleavingFile: WritableFile {
    private let base: any WritableFile
    private let storage: InterleavingStorage

    init(_ base: any WritableFile, _ storage: InterleavingStorage) {
        self.base = base
        self.storage = storage
    }

    func size() throws(StorageError) -> UInt64 { try base.size() }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(StorageError) -> Int {
        try base.read(into: buffer, at: offset)
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(StorageError) -> Int {
        storage.turn()
        guard let (count, error) = storage.take(bytes.count, at: offset) else {
            return try base.write(bytes, at: offset)
        }
        let written = try base.write(UnsafeRawBufferPointer(rebasing: bytes[..<count]), at: offset)
        if let error { throw StorageError(simulating: error, operation: "write", name: "") }
        return written
    }

    func resize(to size: UInt64) throws(StorageError) {
        storage.turn()
        try base.resize(to: size)
    }

    func sync(_ level: SyncLevel) throws(StorageError) {
        storage.turn()
        try base.sync(level)
    }

    func close() { base.close() }
}

private final class InterleavingLock: FileLock {
    private let base: any FileLock
    private let storage: InterleavingStorage

    init(_ base: any FileLock, _ storage: InterleavingStorage) {
        self.base = base
        self.storage = storage
    }

    var isOwned: Bool { base.isOwned && storage.isOwner }

    func isInPlace() throws(StorageError) -> Bool {
        storage.turn()
        return try base.isInPlace()
    }

    func note(_ text: String) { base.note(text) }
    func release() { base.release() }
}
