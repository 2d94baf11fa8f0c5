// Disks in memory that can crash. Such a disk keeps what is visible apart from what is durable, as a disk under a file
// system does, so that a crash at any moment can have every allowed result: unsynced writes persist in any subset and
// order, torn at sector boundaries, and directory entries persist independently of the content of their files. It
// continues after a power failure with any subset of the pending changes, or after the end of the process with all of
// them. The caller or a random generator chooses the subset.
//
// A crash or kill returns a new disk and ends the old one: every call on it and its open files fails from then on,
// so that a writer which "died" can't continue. The old one can still be crashed again with another result.

public import SegmentLog
import SynclineGround

extension MemoryStorage {
    /// The number of bytes that a disk writes completely or not at all.
    public enum Granularity: Int, Sendable, CaseIterable {
        /// What drives guarantee.
        case sector = 512
        /// What most drives and file systems actually do.
        case page = 4096
    }

    private convenience init(counting disk: MemoryDisk) {
        self.init(disk)
        state.withLock { $0.script = FaultScript() }
    }

    /// Creates an empty disk that can lose what was not synced.
    public convenience init(granularity: Granularity, capacity: UInt64? = nil) {
        self.init(counting: MemoryDisk(piece: granularity.rawValue, capacity: capacity))
    }

    /// Creates a disk that can lose what is not synced, with everything of another one, which is durable.
    public convenience init(_ tree: MemoryStorage, granularity: Granularity) {
        self.init(counting: tree.state.withLock { $0.disk }.copied(piece: granularity.rawValue))
    }

    /// The number of pending changes, each of which may persist or be lost in a crash: written pieces, new sizes,
    /// directory entries and renames, in the order they were made.
    public var pendingItemCount: Int {
        state.withLock { $0.disk.itemCount }
    }

    /// Returns the disk after a power failure in which pending item `i` survived if `keep(i)`, for every `i` in
    /// 0..<`pendingItemCount`. The new disk has only what survived; this one ends.
    public func crash(keeping keep: (Int) -> Bool) -> MemoryStorage {
        MemoryStorage(counting: end().afterCrash(keeping: keep))
    }

    /// Returns the disk after a power failure in which a random part of the pending items survived. Each file and
    /// directory has a probability of its own, from none to all, so that extremes occur together in one crash. This
    /// disk ends.
    public func crash(using generator: inout some RandomNumberGenerator) -> MemoryStorage {
        let disk = end()
        var keeps: [Bool] = []
        var luck: [Int: UInt64] = [:]
        var bits: UInt64 = 0
        var bitsLeft = 0
        for (group, items) in disk.groups {
            let chance = luck[group] ?? generator.next() % 9
            luck[group] = chance
            for _ in 0..<items {
                if bitsLeft < 3 { (bits, bitsLeft) = (generator.next(), 64) }
                keeps.append(bits & 7 < chance)
                bits >>= 3
                bitsLeft -= 3
            }
        }
        return MemoryStorage(counting: disk.afterCrash { keeps[$0] })
    }

    /// Returns the disk after the process was killed: what was visible stays visible, what was pending stays
    /// pending, and all locks and open files are released. This disk ends.
    public func processKill() -> MemoryStorage {
        MemoryStorage(counting: end().afterKill())
    }

    /// Whether a crash or kill ended this disk.
    public var isEnded: Bool {
        state.withLock { $0.isEnded }
    }

    private func end() -> MemoryDisk {
        state.withLock { state in
            state.isEnded = true
            return state.disk
        }
    }
}
