// A run: an immutable, sorted part of the state in blocks of a file. Its index (the first key of each block) and its
// key filter are in memory; blocks are read when they are needed, through the cache of its store.

package import SynclineGround

/// Reads the blocks of a run.
package protocol BlockSource: Sendable {
    /// Returns a block. `length` is how much of the file the block takes, if that is known.
    func block(at address: UInt64, length: Int?) throws(StateError) -> RunBlock
}

/// What is needed to open a run.
package struct RunRoot: Hashable, Sendable {
    package var indexBlocks: [UInt64] = []
    package var filterBlocks: [UInt64] = []
    /// The number of entries, including removals.
    package var count = 0
    /// The size of the keys and values in bytes.
    package var size = 0

    package init() {}

    package func encode(into writer: inout ByteWriter) {
        for addresses in [indexBlocks, filterBlocks] {
            writer.append(varint: addresses.count)
            for address in addresses { writer.append(varint: address) }
        }
        writer.append(varint: count)
        writer.append(varint: size)
    }

    package init(_ reader: inout ByteReader) throws(MalformedBytes) {
        for _ in 0..<(try reader.count()) { indexBlocks.append(try reader.varint()) }
        for _ in 0..<(try reader.count()) { filterBlocks.append(try reader.varint()) }
        count = Int(truncatingIfNeeded: try reader.varint())
        size = Int(truncatingIfNeeded: try reader.varint())
    }
}

package final class Run: Sendable {
    package let root: RunRoot
    /// The file it is in, by the last event that file covers.
    package let file: UInt64
    private let source: any BlockSource
    private let index: RunIndex
    private let filter: KeyFilter
    private let cache: BlockCache
    /// Its number in the cache.
    private let number: UInt64

    package init(
        _ root: RunRoot, _ source: any BlockSource, file: UInt64, _ cache: BlockCache = BlockCache()
    ) throws(StateError) {
        self.root = root
        self.file = file
        self.source = source
        self.cache = cache
        number = cache.numberForRun()
        do {
            var index = RunIndex()
            for address in root.indexBlocks { try index.add(try source.block(at: address, length: nil)) }
            self.index = index
            filter = try KeyFilter(decoding: try root.filterBlocks.map { try source.block(at: $0, length: nil) })
        } catch let error as StateError {
            throw error
        } catch {
            throw .malformed("a run's index")
        }
    }

    deinit { cache.removeAll(of: number) }

    func mayContain(_ key: Bytes, hash: UInt64) -> Bool {
        // A merge may have left nothing.
        guard !index.addresses.isEmpty else { return false }
        return !KeyFilter.covers(key) || filter.mayContain(hash: hash)
    }

    private func cached(_ place: Int) -> BlockCache.Place {
        BlockCache.Place(run: number, address: index.addresses[place])
    }

    /// Whether a merge left nothing of it.
    var isEmpty: Bool { index.addresses.isEmpty }

    /// Returns the number of the block that would hold a key.
    func place(of key: Bytes) -> Int { index.place(of: key) }

    /// Reads a block during a scan. It is cached if no other has to go for it.
    /// - Parameter keeps: False for a scan of runs that are about to be replaced.
    func block(_ place: Int, keeps: Bool = true) throws(StateError) -> MarkedBlock {
        if let known = cache.block(at: cached(place)) { return known }
        let block = MarkedBlock(try read(place))
        if keeps { cache.keepIfRoom(block, at: cached(place)) }
        return block
    }

    /// Returns a block to search for a key. It gets marks once it was searched a few times, because making them reads the
    /// whole block.
    func searchable(_ place: Int) throws(StateError) -> MarkedBlock {
        guard let (known, searches) = cache.blockToSearch(at: cached(place)) else {
            let block = MarkedBlock(try read(place))
            cache.keep(block, at: cached(place))
            return block
        }
        if known.isMarked || searches < Run.searchesWithoutMarks { return known }
        let marked = MarkedBlock(marking: known.block)
        cache.keep(marked, at: cached(place))
        return marked
    }

    private static let searchesWithoutMarks = 4

    private func read(_ place: Int) throws(StateError) -> RunBlock {
        let address = index.addresses[place]
        // Addresses grow with the size of the blocks. A source may mark some, which then seem far away.
        let next = place + 1 < index.addresses.count ? index.addresses[place + 1] : address
        return try source.block(
            at: address, length: next > address && next - address < 1 << 21 ? Int(next - address) : nil)
    }

    /// Looks up a key in the run.
    func find(_ key: Bytes) throws(StateError) -> (finding: MemoryTable.Finding, block: RunBlock) {
        let block = try searchable(index.place(of: key))
        do throws(MalformedBytes) {
            return (try block.find(key), block.block)
        } catch {
            throw .malformed("a run's block")
        }
    }

    final class Cursor: LayerCursor {
        private let run: Run
        private let keepsBlocks: Bool
        @exclusivity(unchecked) private var place: Int
        @exclusivity(unchecked) private var inner: RunBlock.Cursor

        /// Nil for a run without entries.
        init?(_ run: Run, from key: Bytes, keepsBlocks: Bool) throws(StateError) {
            guard !run.index.addresses.isEmpty else { return nil }
            self.run = run
            self.keepsBlocks = keepsBlocks
            place = run.index.place(of: key)
            let block = try run.searchable(place)
            do throws(MalformedBytes) {
                inner = try block.cursor(from: key)
            } catch {
                throw .malformed("a run's block")
            }
            super.init()
            try settle()
        }

        override func advance() throws(StateError) {
            do throws(MalformedBytes) { try inner.advance() } catch { throw .malformed("a run's block") }
            if inner.isValid { show(inner.key, inner.value) } else { try settle() }
        }

        override func pass(before limit: Bytes) throws(StateError) -> Int {
            var count = 0
            // A block is passed as a whole if the next one begins before the limit, or at it.
            while inner.isValid, run.index.begins(place + 1, notAfter: limit) {
                do throws(MalformedBytes) { count += try inner.countRest() } catch { throw .malformed("a run's block") }
                try settle()
            }
            return try count + super.pass(before: limit)
        }

        private func settle() throws(StateError) {
            while !inner.isValid {
                place += 1
                guard place < run.index.addresses.count else { return end() }
                let block = try run.block(place, keeps: keepsBlocks)
                do throws(MalformedBytes) { try inner.open(block.block) } catch { throw .malformed("a run's block") }
            }
            show(inner.key, inner.value)
        }
    }
}

/// The first key of each block, and the addresses of the blocks.
private struct RunIndex {
    private var keys = KeyList()
    private(set) var addresses: [UInt64] = []

    mutating func add(_ block: RunBlock) throws(MalformedBytes) {
        defer { extendLifetime(block) }
        var reader = ByteReader(block.bytes)
        while !reader.isAtEnd {
            keys.append(try reader.counted())
            addresses.append(try reader.varint())
        }
    }

    /// Whether there is a block with a number, and its first key is not after another.
    func begins(_ place: Int, notAfter key: Bytes) -> Bool {
        place < addresses.count && keys.compare(place, key) <= 0
    }

    /// Returns the block that would hold a key: the last one that does not begin after it.
    func place(of key: Bytes) -> Int { keys.last(notBehind: key)?.place ?? 0 }
}
