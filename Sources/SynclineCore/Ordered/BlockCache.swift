// Caches recently used blocks of all runs of a store, up to a number of bytes.

import SynclineGround

package final class BlockCache: Sendable {
    /// Identifies a block in the cache: the number of its run, which is never used again, and its own in the run.
    struct Place {
        let run: Int
        let block: Int
    }

    private struct Slot {
        let place: Place
        let block: RunBlock
        /// Where the block and its bytes are, known without reading the object or counting a reference.
        let object: UnsafeRawPointer
        let columns: UnsafeRawPointer?
        let start: UnsafeRawPointer?
        /// Whether it was used since the hand last passed.
        var isUsed = false

        init(_ block: RunBlock, at place: Place) {
            (self.place, self.block, start) = (place, block, block.bytes.baseAddress)
            object = UnsafeRawPointer(Unmanaged.passUnretained(block).toOpaque())
            columns = block.columnsInPlace.map { UnsafeRawPointer($0.toOpaque()) }
        }
    }

    private struct Content {
        var limit: Int
        var slots: [Slot] = []
        /// For each run the slots of its blocks, up to the last that was ever cached; -1 for those that are not.
        var runs: [[Int32]] = []
        var size = 0
        /// The hand of the clock: it evicts blocks that were not used since it last passed.
        var hand = 0

        /// The slot of a block; nil if it is not cached.
        subscript(place: Place) -> Int? {
            get {
                guard place.block < runs[place.run].count else { return nil }
                let slot = runs[place.run][place.block]
                return slot < 0 ? nil : Int(slot)
            }
            set {
                let missing = place.block + 1 - runs[place.run].count
                if missing > 0 { runs[place.run] += [Int32](repeating: -1, count: missing) }
                runs[place.run][place.block] = newValue.map(Int32.init) ?? -1
            }
        }

        mutating func removeAll(of run: Int) {
            slots.removeAll { $0.place.run == run }
            size = slots.reduce(0) { $0 + $1.block.bytes.count }
            runs[run] = []
            for (index, slot) in slots.enumerated() { self[slot.place] = index }
        }

        mutating func add(_ block: RunBlock, at place: Place) {
            self[place] = slots.count
            slots.append(Slot(block, at: place))
        }

        /// Fetches the first lines of a block. A copy of its slot would count a reference, and wait for what is fetched.
        @inline(__always)
        func prefetch(_ slot: Int, lines: Int) {
            slots[slot].object.prefetch()
            slots[slot].columns?.prefetch(lines: 2)
            slots[slot].start?.prefetch(lines: lines)
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
            // Freeing a block reads it.
            if hand + 4 < slots.count { prefetch(hand + 4, lines: 1) }
            let slot = slots[hand]
            guard !slot.isUsed else { return slots[hand].isUsed = false }
            size -= slot.block.bytes.count
            self[slot.place] = nil
            let last = slots.removeLast()
            guard hand < slots.count else { return }
            slots[hand] = last
            self[last.place] = hand
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
    func numberForRun() -> Int {
        content.withLock { content in
            content.runs.append([])
            return content.runs.count - 1
        }
    }

    /// The size of the cached blocks in bytes.
    var size: Int { content.withLock { $0.size } }

    /// Gives the lookups in a run their blocks, those that are cached, and fetches what a search reads first.
    /// - Parameters:
    ///   - run: The run's place among those of the lookups.
    ///   - number: Its number here.
    func findBlocks(of lookups: KeyLookups, inRun run: Int, _ number: Int) {
        content.withLock { content in
            for index in lookups.indices where lookups[index].run == run {
                let place = Place(run: number, block: lookups[index].place)
                if let slot = content[place] { content.prefetch(slot, lines: 1) }
            }
            for index in lookups.indices where lookups[index].run == run {
                guard let slot = content[Place(run: number, block: lookups[index].place)] else { continue }
                content.slots[slot].isUsed = true
                lookups[index].block = content.slots[slot].block
            }
        }
    }

    func block(at place: Place) -> RunBlock? {
        content.withLock { content in
            guard let slot = content[place] else { return nil }
            content.prefetch(slot, lines: 1)
            content.slots[slot].isUsed = true
            return content.slots[slot].block
        }
    }

    /// Returns a block of a scan, and fetches the next one, which will be read from its beginning to its end, if it is
    /// cached: all of it, or, of columns, their beginnings.
    func blockOfScan(at place: Place) -> RunBlock? {
        content.withLock { content in
            guard let slot = content[place] else { return nil }
            if let next = content[Place(run: place.run, block: place.block + 1)] {
                content.prefetch(next, lines: content.slots[next].columns == nil ? 66 : 8)
            }
            content.slots[slot].isUsed = true
            return content.slots[slot].block
        }
    }

    /// Caches a block, replacing the one at the same place, unless it would evict too many others.
    func keep(_ block: RunBlock, at place: Place) {
        content.withLock { content in
            guard content.suits(block) else { return }
            content.size += block.bytes.count
            let known = content[place]
            if let known {
                content.size -= content.slots[known].block.bytes.count
                content.slots[known] = Slot(block, at: place)
            }
            content.evict()
            if known == nil { content.add(block, at: place) }
        }
    }

    /// Drops the blocks of a run that nothing reads any more, so that they take no room from others.
    func removeAll(of run: Int) {
        content.withLock { $0.removeAll(of: run) }
    }

    /// Whether a block could be cached without evicting another.
    func hasRoom(for block: RunBlock) -> Bool { content.withLock { $0.hasRoom(for: block) } }

    /// Caches a block that is not cached yet, unless another would have to go.
    func keepIfRoom(_ block: RunBlock, at place: Place) {
        content.withLock { content in
            guard content.hasRoom(for: block), content[place] == nil else { return }
            content.size += block.bytes.count
            content.add(block, at: place)
        }
    }
}
