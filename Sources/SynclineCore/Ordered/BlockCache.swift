// Caches recently used blocks of all runs of a store, up to a number of bytes.

import SynclineGround

package final class BlockCache: Sendable {
    /// Identifies a block of a run in the cache. Run numbers are never reused, because a run's file may be written
    /// again under its name.
    struct Place: Hashable {
        let run: UInt64
        let address: UInt64
    }

    private struct Slot {
        let place: Place
        var block: MarkedBlock
        /// Whether it was used since the hand last passed.
        var isUsed = false
        /// How many times it was searched.
        var searches = 0
    }

    private struct Content {
        var slots: [Slot] = []
        var indexes: [Place: Int] = [:]
        var size = 0
        /// The hand of the clock: it evicts what was not used since it last passed.
        var hand = 0
        var runs: UInt64 = 0

        mutating func removeAll(of run: UInt64) {
            slots.removeAll { $0.place.run == run }
            size = slots.reduce(0) { $0 + $1.block.size }
            indexes.removeAll(keepingCapacity: true)
            for (index, slot) in slots.enumerated() { indexes[slot.place] = index }
        }

        mutating func add(_ block: MarkedBlock, at place: Place) {
            indexes[place] = slots.count
            slots.append(Slot(place: place, block: block))
        }

        /// Moves the hand by one: evicts an unused block, whose slot the last, newest one takes.
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

    /// Returns a unique number for a run.
    func numberForRun() -> UInt64 {
        content.withLock { content in
            content.runs += 1
            return content.runs
        }
    }

    /// The size of the cached blocks in bytes.
    var size: Int { content.withLock { $0.size } }

    func block(at place: Place) -> MarkedBlock? {
        content.withLock { content in
            guard let index = content.indexes[place] else { return nil }
            content.slots[index].isUsed = true
            return content.slots[index].block
        }
    }

    /// Returns a block that is to be searched, and how many times it was searched before.
    func blockToSearch(at place: Place) -> (block: MarkedBlock, searches: Int)? {
        content.withLock { content in
            guard let index = content.indexes[place] else { return nil }
            content.slots[index].isUsed = true
            content.slots[index].searches += 1
            return (content.slots[index].block, content.slots[index].searches - 1)
        }
    }

    /// Caches a block, replacing the one at the same place, unless it would evict too many others.
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
            if known == nil { content.add(block, at: place) }
        }
    }

    /// Drops the blocks of a run that nothing reads any more, so that they take no room from others.
    func removeAll(of run: UInt64) {
        content.withLock { $0.removeAll(of: run) }
    }

    /// Caches a block that is not cached yet, unless another would have to go.
    func keepIfRoom(_ block: MarkedBlock, at place: Place) {
        guard block.size <= limit / 16 else { return }
        content.withLock { content in
            guard content.size + block.size <= limit, content.indexes[place] == nil else { return }
            content.size += block.size
            content.add(block, at: place)
        }
    }
}
