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
        var block: RunBlock
        /// Whether it was used since the hand last passed.
        var isUsed = false
    }

    private struct Content {
        var limit: Int
        var slots: [Slot] = []
        var indexes: [Place: Int] = [:]
        var size = 0
        /// The hand of the clock: it evicts what was not used since it last passed.
        var hand = 0
        var runs: UInt64 = 0

        mutating func removeAll(of run: UInt64) {
            slots.removeAll { $0.place.run == run }
            size = slots.reduce(0) { $0 + $1.block.bytes.count }
            indexes.removeAll(keepingCapacity: true)
            for (index, slot) in slots.enumerated() { indexes[slot.place] = index }
        }

        mutating func add(_ block: RunBlock, at place: Place) {
            indexes[place] = slots.count
            slots.append(Slot(place: place, block: block))
        }

        /// Whether a block is not as large as many others together.
        func suits(_ block: RunBlock) -> Bool { block.bytes.count <= limit / 16 }

        func hasRoom(for block: RunBlock) -> Bool { suits(block) && size + block.bytes.count <= limit }

        mutating func evict() {
            while size > limit, !slots.isEmpty { step() }
        }

        /// Moves the hand by one: evicts an unused block, whose slot the last, newest one takes.
        mutating func step() {
            if hand >= slots.count { hand = 0 }
            defer { hand += 1 }
            let slot = slots[hand]
            guard !slot.isUsed else { return slots[hand].isUsed = false }
            size -= slot.block.bytes.count
            indexes[slot.place] = nil
            let last = slots.removeLast()
            guard hand < slots.count else { return }
            slots[hand] = last
            indexes[last.place] = hand
        }
    }

    private let content: Mutex<Content>

    package init(limit: Int = 32 << 20) {
        content = Mutex(Content(limit: limit))
    }

    /// Sets the number of bytes that the cached blocks may take.
    package func resize(to limit: Int) {
        content.withLock { content in
            content.limit = limit
            content.evict()
        }
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

    func block(at place: Place) -> RunBlock? {
        content.withLock { content in
            guard let index = content.indexes[place] else { return nil }
            content.slots[index].isUsed = true
            return content.slots[index].block
        }
    }

    /// Caches a block, replacing the one at the same place, unless it would evict too many others.
    func keep(_ block: RunBlock, at place: Place) {
        content.withLock { content in
            guard content.suits(block) else { return }
            content.size += block.bytes.count
            let known = content.indexes[place]
            if let known {
                content.size -= content.slots[known].block.bytes.count
                content.slots[known].block = block
            }
            content.evict()
            if known == nil { content.add(block, at: place) }
        }
    }

    /// Drops the blocks of a run that nothing reads any more, so that they take no room from others.
    func removeAll(of run: UInt64) {
        content.withLock { $0.removeAll(of: run) }
    }

    /// Whether a block could be cached without evicting another.
    func hasRoom(for block: RunBlock) -> Bool { content.withLock { $0.hasRoom(for: block) } }

    /// Caches a block that is not cached yet, unless another would have to go.
    func keepIfRoom(_ block: RunBlock, at place: Place) {
        content.withLock { content in
            guard content.hasRoom(for: block), content.indexes[place] == nil else { return }
            content.size += block.bytes.count
            content.add(block, at: place)
        }
    }
}
