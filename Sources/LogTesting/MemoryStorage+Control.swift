// A test's control of a disk in memory: it arms failures, damages bytes, reads the counts, and inspects the durable
// state. None of it is counted, and all of it still works after the disk ended.

import CLibrary
public import SegmentLog
import SynclineGround

extension MemoryStorage {
    /// Works on what decides over the calls, and begins to count them if nothing did yet.
    private func withScript<Result>(_ body: (inout FaultScript) -> Result) -> Result {
        state.withLock { state in
            var script = state.script as? FaultScript ?? FaultScript()
            defer { state.script = script }
            return body(&script)
        }
    }

    /// Arms a plan in addition to those already armed; it counts calls from now on. If several fire at one call, the
    /// one armed first decides.
    public func arm(_ plan: FaultPlan) {
        withScript { $0.arm(plan) }
    }

    /// Disarms all plans.
    public func disarm() {
        withScript { $0.disarm() }
    }

    /// The maximum total size of all visible files; nil for no limit.
    public var capacity: UInt64? {
        get { state.withLock { $0.disk.capacity } }
        set { state.withLock { $0.disk.capacity = newValue } }
    }

    /// Simulates that the directory was moved or removed, so that its path leads to another one or to none. Open
    /// files and held directories still work.
    public func replaceDirectory() {
        state.withLock { $0.isReplaced = true }
    }

    /// The counts of calls so far. A disk without a granularity counts only after it was asked for them, or armed.
    public var counts: CallCounts {
        withScript { $0.counts }
    }

    /// Resets the counts.
    public func resetCounts() {
        withScript { $0.counts = CallCounts() }
    }

    /// Whether calls are recorded in `trace`.
    public var isTracing: Bool {
        get { withScript { $0.isTracing } }
        set { withScript { $0.isTracing = newValue } }
    }

    /// The calls made while tracing, one line each.
    public var trace: [String] {
        withScript { $0.trace }
    }

    /// Returns the bytes of a file that certainly survive a crash, or nil if no durable name leads to one.
    public func durableContents(of name: String) -> [UInt8]? {
        state.withLock { state in
            guard let inode = try? state.disk.file(name, in: .durable) else { return nil }
            let file = state.disk.inodes[inode]
            return state.disk.piece == nil ? file.visible : file.durable
        }
    }

    /// Flips one bit of a file, like a decaying medium.
    public func flipBit(in name: String, at offset: UInt64, bit: Int) throws(StorageError) {
        try damage(name, at: offset, count: 1) { _, byte in byte ^= 1 << UInt8(bit & 7) }
    }

    /// Replaces bytes of a file, like a misdirected write.
    public func overwrite(_ name: String, at offset: UInt64, with bytes: [UInt8]) throws(StorageError) {
        try damage(name, at: offset, count: bytes.count) { index, byte in byte = bytes[index] }
    }

    private func damage(
        _ name: String, at offset: UInt64, count: Int, _ change: (Int, inout UInt8) -> Void
    ) throws(StorageError) {
        try state.withLock { (state) throws(StorageError) in
            guard let inode = try? state.disk.file(name) else {
                throw StorageError(number: ENOENT, operation: "damage", name: name)
            }
            // A test that damages missing bytes would test nothing.
            let size = UInt64(state.disk.inodes[inode].visible.count)
            guard offset <= size, UInt64(count) <= size - offset else {
                throw StorageError(number: EINVAL, operation: "damage", name: name)
            }
            state.disk.damage(inode, at: Int(offset), count: count, change)
        }
    }
}
