// A run: an immutable, sorted piece of the state in blocks of a file. Its index (the first key of each block) and its key
// filter are in memory; blocks are read when they are needed, through the cache of its store.

/// Where the blocks of a run come from.
package protocol BlockSource: Sendable {
    /// `length` is how much of the file the block takes, where that is known.
    func block(at address: UInt64, length: Int?) throws(StateError) -> RunBlock
}

/// What is to be known of a run to open it.
package struct RunRoot: Hashable, Sendable {
    package var indexBlocks: [UInt64] = []
    package var filterBlocks: [UInt64] = []
    /// Entries, removals included.
    package var count = 0
    /// Bytes of keys and values.
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
    /// Which file it is in: the last event that file covers.
    package let file: UInt64
    private let source: any BlockSource
    private let index: RunIndex
    private let filter: KeyFilter
    private let cache: BlockCache
    /// Its name in the cache.
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

    func mayContain(_ key: Bytes, hash: UInt64) -> Bool {
        // A merge may have left nothing.
        guard !index.addresses.isEmpty else { return false }
        return !KeyFilter.covers(key) || filter.mayContain(hash: hash)
    }

    /// A block by its place; what is read on the way through is not kept.
    private func block(_ place: Int, keeps: Bool) throws(StateError) -> RunBlock {
        let address = index.addresses[place]
        let cached = BlockCache.Place(run: number, address: address)
        if let block = cache.block(at: cached) { return block }
        // Addresses grow by what the blocks take; a source may mark some, which then seem far away.
        let next = place + 1 < index.addresses.count ? index.addresses[place + 1] : address
        let block = try source.block(
            at: address, length: next > address && next - address < 1 << 21 ? Int(next - address) : nil)
        if keeps { cache.keep(block, at: cached) }
        return block
    }

    /// What the run says of a key it may have.
    func find(_ key: Bytes) throws(StateError) -> (finding: MemoryTable.Finding, block: RunBlock) {
        let block = try block(index.place(of: key), keeps: true)
        do throws(MalformedBytes) { return (try block.find(key), block) } catch { throw .malformed("a run's block") }
    }

    final class Cursor: LayerCursor {
        private let run: Run
        @exclusivity(unchecked) private var place: Int
        @exclusivity(unchecked) private var inner: RunBlock.Cursor

        /// Nil for a run without entries.
        init?(_ run: Run, from key: Bytes) throws(StateError) {
            guard !run.index.addresses.isEmpty else { return nil }
            self.run = run
            place = run.index.place(of: key)
            let block = try run.block(place, keeps: true)
            do throws(MalformedBytes) {
                inner = try RunBlock.Cursor(block, from: key)
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

        private func settle() throws(StateError) {
            while !inner.isValid {
                place += 1
                guard place < run.index.addresses.count else { return end() }
                let block = try run.block(place, keeps: false)
                do throws(MalformedBytes) { try inner.open(block) } catch { throw .malformed("a run's block") }
            }
            show(inner.key, inner.value)
        }
    }
}

/// The first key of each block, one behind the other, and where the blocks are.
private struct RunIndex {
    private var keys: [UInt8] = []
    private var ends: [UInt32] = []
    private(set) var addresses: [UInt64] = []

    mutating func add(_ block: RunBlock) throws(MalformedBytes) {
        defer { withExtendedLifetime(block) {} }
        var reader = ByteReader(block.bytes)
        while !reader.isAtEnd {
            keys.append(contentsOf: try reader.counted())
            ends.append(UInt32(truncatingIfNeeded: keys.count))
            addresses.append(try reader.varint())
        }
    }

    /// The block that would hold a key: the last that does not begin behind it.
    func place(of key: Bytes) -> Int {
        keys.withBytes { keys in
            var low = 0
            var high = ends.count
            while low < high {
                let middle = (low + high) / 2
                let start = middle == 0 ? 0 : Int(ends[middle - 1])
                let order = Bytes(rebasing: keys[start..<Int(ends[middle])]).compare(key)
                if order <= 0 { low = middle + 1 } else { high = middle }
            }
            return max(0, low - 1)
        }
    }
}
