// The ways a simulated disk can go on: after a power loss with any subset of what was pending, or after the end of the
// process with all of it. The choice of the subset is the caller's, or that of a random generator.

import SegmentLog
import Synchronization

extension FaultyStorage {
    /// How many changes are not durable yet and may each persist or be lost in a crash: written pieces, new sizes,
    /// directory entries and renames, in the order they were made.
    public var pendingItemCount: Int {
        state.withLock { $0.disk.itemCount }
    }

    /// The disk after a power loss in which pending item `i` persisted if `keep(i)`, for every `i` from 0 to
    /// `pendingItemCount`. What persisted is all there is on the new disk; this one ends.
    public func crash(keeping keep: (Int) -> Bool) -> FaultyStorage {
        let (disk, capacity) = end()
        return FaultyStorage(disk.afterCrash(keeping: keep), capacity: capacity)
    }

    /// The disk after a power loss in which a random part of the pending items persisted. Each file and directory has
    /// a luck of its own, from none to all, so that the extremes meet in one crash. This disk ends.
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

    /// The disk after the process was killed: what was visible stays so, what was pending stays pending, and nobody
    /// holds a lock or an open file. This disk ends.
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
