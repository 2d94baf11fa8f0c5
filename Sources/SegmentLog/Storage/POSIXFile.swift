// An open file of the system, and a lock on one. Uses of the descriptor are counted: after `close` a call fails with
// EBADF, and the last running call closes the descriptor. So no call can reach another file that gets the same
// number later.

import CLibrary
import SynclineGround

/// An open file of the system.
final class POSIXFile: WritableFile {
    private let descriptor: Int32
    private let name: String
    /// How many calls use the descriptor, plus `closed` once it is to be closed. Counting costs two atomic
    /// operations, a hundredth of the system call between them.
    private let uses = Atomic<Int>(0)
    private static let closed = 1 << 32

    /// Takes ownership of an open descriptor.
    init(descriptor: Int32, name: String) {
        self.descriptor = descriptor
        self.name = name
    }

    deinit { close() }

    func size() throws(StorageError) -> UInt64 {
        var status = stat()
        try call("size") { fstat($0, &status) == 0 ? 0 : errno }
        return UInt64(max(0, status.st_size))
    }

    func identity() throws(StorageError) -> FileIdentity {
        var identity: FileIdentity?
        let number = withDescriptor { descriptor in
            identity = try? FileIdentity(descriptor: descriptor, name: name)
            return identity == nil ? errno : 0
        }
        guard let identity else { throw failure(number, "stat") }
        return identity
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(StorageError) -> Int {
        guard let base = buffer.baseAddress, buffer.count > 0 else { return 0 }
        // No file is larger than the system can count, so this is beyond the end.
        guard let offset = off_t(exactly: offset), offset < off_t.max - off_t(POSIXFile.largestPiece) else {
            return 0
        }
        var count = 0
        try call("read") { descriptor in
            count = retrying { pread(descriptor, base, min(buffer.count, POSIXFile.largestPiece), offset) }
            return count >= 0 ? 0 : errno
        }
        return count
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(StorageError) -> Int {
        guard let base = bytes.baseAddress, bytes.count > 0 else { return 0 }
        guard let offset = off_t(exactly: offset) else { throw failure(EFBIG, "write") }
        var count = 0
        try call("write") { descriptor in
            count = retrying { pwrite(descriptor, base, min(bytes.count, POSIXFile.largestPiece), offset) }
            return count >= 0 ? 0 : errno
        }
        // Nothing written and no error: a full disk is the only known cause, and a caller must not retry for ever.
        guard count > 0 else { throw failure(ENOSPC, "write") }
        return count
    }

    func resize(to size: UInt64) throws(StorageError) {
        guard let size = off_t(exactly: size) else { throw failure(EFBIG, "resize") }
        try call("resize") { descriptor in retrying { ftruncate(descriptor, size) } == 0 ? 0 : errno }
    }

    func sync(_ level: SyncLevel) throws(StorageError) {
        try call("sync") { PlatformSync.sync(descriptor: $0, level: level) }
    }

    func close() {
        let (old, _) = uses.bitwiseOr(POSIXFile.closed, ordering: .acquiringAndReleasing)
        if old == 0 { closeDescriptor() }
    }

    /// Runs a call while the descriptor is kept open; returns the call's error number, or EBADF once the file is
    /// closed.
    func withDescriptor(_ call: (Int32) -> Int32) -> Int32 {
        var old = uses.load(ordering: .relaxed)
        while true {
            guard old < POSIXFile.closed else { return EBADF }
            let (exchanged, current) = uses.weakCompareExchange(
                expected: old, desired: old + 1, ordering: .acquiringAndReleasing)
            if exchanged { break }
            old = current
        }
        let number = call(descriptor)
        let (_, new) = uses.subtract(1, ordering: .acquiringAndReleasing)
        // No use starts once the file is closed, so exactly one call sees the last use end.
        if new == POSIXFile.closed { closeDescriptor() }
        return number
    }

    /// The maximum bytes for one call: Darwin rejects more than 2^31 - 1, and Linux truncates slightly below that.
    private static let largestPiece = 1 << 30

    private func closeDescriptor() {
        // Not repeated when interrupted: by then the number may belong to another file.
        #if canImport(Darwin)
            _ = Darwin.close(descriptor)
        #else
            _ = Glibc.close(descriptor)
        #endif
    }

    /// Makes a call that returns its error number, and throws its error.
    private func call(_ operation: String, _ call: (Int32) -> Int32) throws(StorageError) {
        let number = withDescriptor(call)
        if number != 0 { throw failure(number, operation) }
    }

    private func failure(_ number: Int32, _ operation: String) -> StorageError {
        StorageError(number: number, operation: operation, name: name)
    }
}

/// A `flock` on an open file.
final class POSIXLock: FileLock {
    private let file: POSIXFile
    private let name: String
    private let storage: POSIXStorage
    private let identity: FileIdentity
    private let owner = getpid()
    private let isReleased = Atomic<Bool>(false)

    /// Takes ownership of a file that has just been locked.
    init(_ file: POSIXFile, name: String, in storage: POSIXStorage) throws(StorageError) {
        self.file = file
        self.name = name
        self.storage = storage
        identity = try file.identity()
    }

    deinit { release() }

    var isOwned: Bool { getpid() == owner && !isReleased.load(ordering: .acquiring) }

    func isInPlace() throws(StorageError) -> Bool { try storage.leads(name, to: identity) }

    func note(_ text: String) {
        guard isOwned else { return }
        // Only the first line counts. Cutting off what a longer note left would cost a write to the disk at each opening.
        var line = text + "\n"
        line.withUTF8 { bytes in
            _ = try? file.write(UnsafeRawBufferPointer(bytes), at: 0)
        }
    }

    func release() {
        guard !isReleased.exchange(true, ordering: .acquiringAndReleasing) else { return }
        // A forked child shares the lock. In the child, unlocking would take it from the parent, and closing only
        // releases the child's copy. In the parent it is the reverse: a child's copy would keep the lock.
        if getpid() == owner {
            _ = file.withDescriptor { flock($0, LOCK_UN) }
        }
        file.close()
    }
}
