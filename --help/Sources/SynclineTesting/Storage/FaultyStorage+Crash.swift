// How a simulated disk continues: after a power failure with any subset of the pending changes, or after the end of
// the process with all of them. The caller or a random generator chooses the subset.

import SegmentLog
import SynclineGround

extension FaultyStorage {
    /// The number of pending changes, each of which may persist or be lost in a crash: written pieces, new sizes,
    /// directory entries and renames, in the order they were made.
    public var pendingItemCount: Int {
        state.withLock { $0.disk.itemCount }
    }

    /// Returns the disk after a power failure in which pending item `i` survived if `keep(i)`, for every `i` in
    /// 0..<`pendingItemCount`. The new disk has only what survived; this one ends.
    public func crash(keeping keep: (Int) -> Bool) -> FaultyStorage {
        let (disk, capacity) = end()
        return FaultyStorage(disk.afterCrash(keeping: keep), capacity: capacity)
    }

    /// Returns the disk after a power failure in which a random part of the pending items survived. Each file and
    /// directory has a probability of its own, from none to all, so that extremes occur together in one crash. This
    /// disk ends.
    public func crash(using generator: inout some RandomNumberGenerator) -> FaultyStorage {
        let (disk, capacity) = end()
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
        return FaultyStorage(disk.afterCrash { keeps[$0] }, capacity: capacity)
    }

    /// Returns the disk after the process was killed: what was visible stays visible, what was pending stays
    /// pending, and all locks and open files are released. This disk ends.
    public func processKill() -> FaultyStorage {
        let (disk, capacity) = end()
        return FaultyStorage(disk.afterKill(), capacity: capacity)
    }

    /// Whether a crash or kill ended this disk.
    public var isEnded: Bool {
        state.withLock { $0.isEnded }
    }

    private func end() -> (SimulatedDisk, capacity: UInt64?) {
        state.withLock { state in
            state.isEnded = true
            return (state.disk, state.capacity)
        }
    }
}
