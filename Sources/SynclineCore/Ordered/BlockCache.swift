// The blocks of all runs of a store that are kept in memory: those that were asked for lately, up to a number of bytes.

import Synchronization

package final class BlockCache: Sendable {
    /// Names a run's blocks among those of others, for as long as the cache lives: a run's file may be written anew under
    /// its name.
    struct Place: Hashable {
        let run: UInt64
        let address: UInt64
    }

    private struct Slot {
        let place: Place
        var block: MarkedBlock
        /// Whether it was asked for since the hand last passed.
        var isUsed: Bool
    }

    private struct Content {
        var slots: [Slot] = []
        var indexes: [Place: Int] = [:]
        var size = 0
        /// Goes round, and takes what was not asked for since it came by.
        var hand = 0
        var runs: UInt64 = 0

        /// Moves the hand by one: what was not asked for goes, and the last slot, the newest, takes its place.
        mutating func step() {
            if hand >= slots.count { hand = 0 }
            defer { hand += 1 }
            let slot = slots[hand]
            guard !slot.isUsed else { return slots[hand].isUsed = false }
            size -= slot.block.size
            indexes[slot.place] = nil
            let last = slots.removeLast()
            guard hand < slots.count else { return }
            slots[hand] = last
            indexes[last.place] = hand
        }
    }

    private let content = Mutex(Content())
    private let limit: Int

    package init(limit: Int = 32 << 20) {
        self.limit = limit
    }

    /// A number for a run that no other has.
    func numberForRun() -> UInt64 {
        content.withLock { content in
            content.runs += 1
            return content.runs
        }
    }

    /// Bytes of the blocks that are kept.
    var size: Int { content.withLock { $0.size } }

    func block(at place: Place) -> MarkedBlock? {
        content.withLock { content in
            guard let index = content.indexes[place] else { return nil }
            content.slots[index].isUsed = true
            return content.slots[index].block
        }
    }

    /// Keeps a block, in place of the one that is kept for the same place; unless it would take the place of very many.
    func keep(_ block: MarkedBlock, at place: Place) {
        guard block.size <= limit / 16 else { return }
        content.withLock { content in
            content.size += block.size
            let known = content.indexes[place]
            if let known {
                content.size -= content.slots[known].block.size
                content.slots[known].block = block
            }
            while content.size > limit, !content.slots.isEmpty { content.step() }
            guard known == nil else { return }
            content.indexes[place] = content.slots.count
            content.slots.append(Slot(place: place, block: block, isUsed: false))
        }
    }
}
