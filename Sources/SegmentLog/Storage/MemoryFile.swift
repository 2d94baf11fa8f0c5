// Open files of a disk in memory, and the lock on one. They become invalid when a test ends their disk.

import CLibrary
import SynclineGround

final class MemoryFile: WritableFile {
    /// The largest file: a number read from damaged data must not use up all memory.
    private static let largest: UInt64 = 1 << 32

    private let storage: MemoryStorage
    private let inode: Int
    private let name: String
    private let isClosed = Atomic<Bool>(false)

    init(storage: MemoryStorage, inode: Int, name: String) {
        self.storage = storage
        self.inode = inode
        self.name = name
    }

    deinit { close() }

    func size() throws(StorageError) -> UInt64 {
        try call("size") { (state, fault) throws(StorageError) in
            if let error = fault?.error { throw error }
            return UInt64(state.disk.inodes[inode].visible.count)
        }
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(StorageError) -> Int {
        try call("read", detail: " \(buffer.count) bytes at \(offset)") { (state, fault) throws(StorageError) in
            if let error = fault?.error { throw error }
            let size = state.disk.inodes[inode].visible.count
            guard offset < UInt64(size) else { return 0 }
            let start = Int(offset)
            let count = min(buffer.count, size - start, fault?.most ?? .max)
            state.disk.inodes[inode].visible.withUnsafeBytes { bytes in
                buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[start..<start + count]))
            }
            state.script?.count(read: count, written: 0)
            return count
        }
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(StorageError) -> Int {
        try call("write", detail: " \(bytes.count) bytes at \(offset)") { (state, fault) throws(StorageError) in
            if let fault, fault.most == 0, let error = fault.error { throw error }
            guard bytes.count > 0 else { return 0 }
            let (end, overflow) = offset.addingReportingOverflow(UInt64(bytes.count))
            guard !overflow, end <= MemoryFile.largest else { throw failure(EFBIG, "write") }
            let start = Int(offset)
            let size = state.disk.inodes[inode].visible.count
            var count = min(bytes.count, fault?.most ?? .max)
            if start + count > size {
                let (most, isUnlimited) = size.addingReportingOverflow(state.disk.room)
                if !isUnlimited { count = min(count, most - start) }
            }
            if count > 0 {
                state.disk.write(UnsafeRawBufferPointer(rebasing: bytes.prefix(count)), to: inode, at: start)
                state.script?.count(read: 0, written: count)
            }
            if let error = fault?.error { throw error }
            guard count > 0 else { throw failure(ENOSPC, "write") }
            return count
        }
    }

    func resize(to size: UInt64) throws(StorageError) {
        try call("resize", detail: " to \(size)") { (state, fault) throws(StorageError) in
            if let error = fault?.error { throw error }
            guard size <= MemoryFile.largest else { throw failure(EFBIG, "resize") }
            let growth = Int(size) - state.disk.inodes[inode].visible.count
            guard growth <= 0 || growth <= state.disk.room else { throw failure(ENOSPC, "resize") }
            state.disk.resize(inode, to: Int(size))
        }
    }

    func sync(_ level: SyncLevel) throws(StorageError) {
        try call("sync") { (state, fault) throws(StorageError) in
            guard let fault else { return state.disk.sync(inode) }
            fault.effect?(&state.disk, inode)
            if let error = fault.error { throw error }
        }
    }

    func close() {
        guard !isClosed.exchange(true, ordering: .acquiringAndReleasing) else { return }
        storage.state.withLock { $0.disk.inodes[inode].handles -= 1 }
    }

    private func call<Result: Sendable>(
        _ operation: String, detail: @autoclosure () -> String = "",
        _ work: (inout MemoryStorage.State, DiskFault?) throws(StorageError) -> Result
    ) throws(StorageError) -> Result {
        guard !isClosed.load(ordering: .acquiring) else { throw failure(EBADF, operation) }
        return try storage.state.withLock { (state) throws(StorageError) in
            let fault = try state.begin(operation, name, detail: detail())
            return try work(&state, fault)
        }
    }

    private func failure(_ number: Int32, _ operation: String) -> StorageError {
        StorageError(number: number, operation: operation, name: name)
    }
}

final class MemoryLock: FileLock {
    private let storage: MemoryStorage
    private let name: String
    private let inode: Int
    private let isReleased = Atomic<Bool>(false)

    init(storage: MemoryStorage, name: String, inode: Int) {
        self.storage = storage
        self.name = name
        self.inode = inode
    }

    deinit { release() }

    var isOwned: Bool {
        !isReleased.load(ordering: .acquiring) && storage.state.withLock { !$0.isEnded }
    }

    func isInPlace() throws(StorageError) -> Bool { try storage.leads(name, to: inode) }

    func note(_ text: String) {
        guard isOwned else { return }
        // Durable at once: nothing may depend on the note, and states that differ in it would only multiply the
        // crashes to try.
        storage.state.withLock { $0.disk.inodes[inode].set(Array(text.utf8)) }
    }

    func release() {
        guard !isReleased.exchange(true, ordering: .acquiringAndReleasing) else { return }
        storage.state.withLock { state in
            state.disk.inodes[inode].isLocked = false
            state.disk.inodes[inode].handles -= 1
        }
    }
}
