// What a test does to a simulated disk beside using it: arm failures, let bytes rot, read the counts, look at what is
// visible and what is durable. None of it is counted, and none of it ends with the disk.

public import SegmentLog
import Synchronization

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

extension FaultyStorage {
    /// Arms a plan beside those that are armed; it counts calls from now on. Of several that fire at one call the one
    /// armed first decides.
    public func arm(_ plan: FaultPlan) {
        state.withLock { $0.armed.append(Armed(plan: plan)) }
    }

    /// Disarms all plans.
    public func disarm() {
        state.withLock { $0.armed = [] }
    }

    /// The most bytes that all visible files may have together; nil for no bound.
    public var capacity: UInt64? {
        get { state.withLock { $0.capacity } }
        set { state.withLock { $0.capacity = newValue } }
    }

    /// Plays that the directory was moved away or removed, so that its path leads to another or to none. Who has it open
    /// still reaches its files.
    public func replaceDirectory() {
        state.withLock { $0.isReplaced = true }
    }

    /// What the disk was asked so far.
    public var counts: CallCounts {
        state.withLock { $0.counts }
    }

    /// Starts counting anew.
    public func resetCounts() {
        state.withLock { $0.counts = CallCounts() }
    }

    /// Whether calls are written into `trace`.
    public var isTracing: Bool {
        get { state.withLock { $0.isTracing } }
        set { state.withLock { $0.isTracing = newValue } }
    }

    /// The calls made while tracing, one line each.
    public var trace: [String] {
        state.withLock { $0.trace }
    }

    /// The bytes of a file as a reader sees them; nil if there is none of that name.
    public func contents(of name: String) -> [UInt8]? {
        state.withLock { state in
            guard let inode = try? state.disk.file(name) else { return nil }
            return state.disk.inodes[inode].visible
        }
    }

    /// The bytes of a file that are sure to survive a crash; nil if no durable name leads to one.
    public func durableContents(of name: String) -> [UInt8]? {
        state.withLock { state in
            guard let inode = try? state.disk.file(name, in: .durable) else { return nil }
            return state.disk.inodes[inode].durable
        }
    }

    /// A copy in memory of all that is visible: for reading without faults, counts or effects on this disk.
    public func snapshot() -> MemoryStorage {
        let disk = state.withLock { $0.disk }
        let tree = MemoryStorage()
        func copy(_ directory: Int, prefix: String) {
            for (name, entry) in disk.directories[directory].visible {
                switch entry {
                case .file(let inode): tree.setContents(disk.inodes[inode].visible, of: prefix + name)
                case .directory(let child):
                    // The directory above was made just before, so nothing is refused.
                    try? tree.createDirectory(prefix + name)
                    copy(child, prefix: prefix + name + "/")
                }
            }
        }
        copy(0, prefix: "")
        return tree
    }

    /// Turns one bit of a file over, as a medium that rots does.
    public func flipBit(in name: String, at offset: UInt64, bit: Int) throws(StorageError) {
        try damage(name, at: offset, count: 1) { _, byte in byte ^= 1 << UInt8(bit & 7) }
    }

    /// Replaces bytes of a file, as a misdirected write does.
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
            // A test that damages what is not there tests nothing.
            let size = UInt64(state.disk.inodes[inode].visible.count)
            guard offset <= size, UInt64(count) <= size - offset else {
                throw StorageError(number: EINVAL, operation: "damage", name: name)
            }
            state.disk.damage(inode, at: Int(offset), count: count, change)
        }
    }
}
