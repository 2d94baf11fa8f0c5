// Open files of a simulated disk, and the lock on one. They become invalid when their disk ends.

import SegmentLog
import SynclineGround

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

final class FaultyFile: WritableFile {
    /// The largest file: a number read from damaged data must not use up all memory.
    private static let largest: UInt64 = 1 << 32

    private let storage: FaultyStorage
    private let inode: Int
    private let name: String
    private let isClosed = Atomic<Bool>(false)

    init(storage: FaultyStorage, inode: Int, name: String) {
        self.storage = storage
        self.inode = inode
        self.name = name
    }

    deinit { close() }

    func size() throws(StorageError) -> UInt64 {
        try call(.size) { (state, plan) throws(StorageError) in
            try check(plan, .size)
            return UInt64(state.disk.inodes[inode].visible.count)
        }
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(StorageError) -> Int {
        try call(.read, detail: " \(buffer.count) bytes at \(offset)") { (state, plan) throws(StorageError) in
            try check(plan, .read)
            let size = state.disk.inodes[inode].visible.count
            guard offset < UInt64(size) else { return 0 }
            let start = Int(offset)
            var count = min(buffer.count, size - start)
            if case .shortRead(let most) = plan?.fault { count = min(count, max(1, most)) }
            state.disk.inodes[inode].visible.withUnsafeBytes { bytes in
                buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[start..<start + count]))
            }
            state.counts.bytesRead += UInt64(count)
            return count
        }
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(StorageError) -> Int {
        try call(.write, detail: " \(bytes.count) bytes at \(offset)") { (state, plan) throws(StorageError) in
            try check(plan, .write)
            guard bytes.count > 0 else { return 0 }
            let (end, overflow) = offset.addingReportingOverflow(UInt64(bytes.count))
            guard !overflow, end <= FaultyFile.largest else { throw failure(EFBIG, .write) }
            let start = Int(offset)
            let size = state.disk.inodes[inode].visible.count
            var count = bytes.count
            switch plan?.fault {
            case .shortWrite(let most): count = min(count, max(1, most))
            case .partialWrite(let most, _): count = min(count, max(0, most))
            default: break
            }
            if start + count > size {
                let (most, isUnlimited) = size.addingReportingOverflow(state.room())
                if !isUnlimited { count = min(count, most - start) }
            }
            if count > 0 {
                state.disk.write(UnsafeRawBufferPointer(rebasing: bytes.prefix(count)), to: inode, at: start)
                state.counts.bytesWritten += UInt64(count)
            }
            if case .partialWrite(_, let kind) = plan?.fault {
                throw StorageError(simulating: kind, operation: "write", name: name)
            }
            guard count > 0 else { throw failure(ENOSPC, .write) }
            return count
        }
    }

    func resize(to size: UInt64) throws(StorageError) {
        try call(.resize, detail: " to \(size)") { (state, plan) throws(StorageError) in
            try check(plan, .resize)
            guard size <= FaultyFile.largest else { throw failure(EFBIG, .resize) }
            let growth = Int(size) - state.disk.inodes[inode].visible.count
            guard growth <= 0 || growth <= state.room() else { throw failure(ENOSPC, .resize) }
            state.disk.resize(inode, to: Int(size))
        }
    }

    func sync(_ level: SyncLevel) throws(StorageError) {
        try call(.sync) { (state, plan) throws(StorageError) in
            guard let plan else { return state.disk.sync(inode) }
            switch plan.syncFailure {
            case .pagesStayDirty: break
            case .pagesMarkedClean: state.disk.markClean(inode)
            case .contentReverted: state.disk.revert(inode)
            }
            try check(plan, .sync)
        }
    }

    func close() {
        guard !isClosed.exchange(true, ordering: .acquiringAndReleasing) else { return }
        storage.state.withLock { $0.disk.inodes[inode].handles -= 1 }
    }

    private func call<Result: Sendable>(
        _ kind: CallKind, detail: @autoclosure () -> String = "",
        _ work: (inout FaultyStorage.State, FaultPlan?) throws(StorageError) -> Result
    ) throws(StorageError) -> Result {
        guard !isClosed.load(ordering: .acquiring) else { throw failure(EBADF, kind) }
        return try storage.state.withLock { (state) throws(StorageError) in
            let plan = try state.begin(kind, name, detail: detail())
            return try work(&state, plan)
        }
    }

    private func check(_ plan: FaultPlan?, _ kind: CallKind) throws(StorageError) {
        guard case .error(let error) = plan?.fault else { return }
        throw StorageError(simulating: error, operation: "\(kind)", name: name)
    }

    private func failure(_ number: Int32, _ kind: CallKind) -> StorageError {
        StorageError(number: number, operation: "\(kind)", name: name)
    }
}

final class FaultyLock: FileLock {
    private let storage: FaultyStorage
    private let name: String
    private let inode: Int
    private let isReleased = Atomic<Bool>(false)

    init(storage: FaultyStorage, name: String, inode: Int) {
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
        let bytes = Array(text.utf8)
        storage.state.withLock { state in
            state.disk.inodes[inode].visible = bytes
            state.disk.inodes[inode].durable = bytes
        }
    }

    func release() {
        guard !isReleased.exchange(true, ordering: .acquiringAndReleasing) else { return }
        storage.state.withLock { state in
            state.disk.inodes[inode].isLocked = false
            state.disk.inodes[inode].handles -= 1
        }
    }
}
