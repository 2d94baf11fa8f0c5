// A run: an immutable, sorted piece of the state in blocks of a file. Its index (the first key of each block) and its key
// filter are in memory; blocks are read when they are needed, through a cache of bounded size.

import Synchronization

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
    private let index: [(firstKey: [UInt8], address: UInt64)]
    private let filter: KeyFilter
    private let cache: BlockCache

    package init(_ root: RunRoot, _ source: any BlockSource, file: UInt64) throws(StateError) {
        self.root = root
        self.file = file
        self.source = source
        cache = BlockCache()
        do {
            var index: [(firstKey: [UInt8], address: UInt64)] = []
            for address in root.indexBlocks {
                let block = try source.block(at: address, length: nil)
                try withExtendedLifetime(block) {
                    var reader = ByteReader(block.bytes)
                    while !reader.isAtEnd {
                        let key = [UInt8](try reader.counted())
                        index.append((key, try reader.varint()))
                    }
                }
            }
            self.index = index
            filter = try KeyFilter(decoding: try root.filterBlocks.map { try source.block(at: $0, length: nil) })
        } catch let error as StateError {
            throw error
        } catch {
            throw .malformed("a run's index")
        }
    }

    func mayContain(hash: UInt64) -> Bool { filter.mayContain(hash: hash) }

    /// The block that would hold a key: the last that does not begin behind it.
    private func place(of key: Bytes) -> Int {
        var low = 0
        var high = index.count
        while low < high {
            let middle = (low + high) / 2
            let order = index[middle].firstKey.withUnsafeBytes { $0.compare(key) }
            if order <= 0 { low = middle + 1 } else { high = middle }
        }
        return max(0, low - 1)
    }

    private func block(_ place: Int) throws(StateError) -> RunBlock {
        let address = index[place].address
        if let block = cache.block(at: address) { return block }
        // Addresses grow by what the blocks take; a source may mark some, which then seem far away.
        let next = place + 1 < index.count ? index[place + 1].address : address
        let block = try source.block(
            at: address, length: next > address && next - address < 1 << 21 ? Int(next - address) : nil)
        cache.keep(block, at: address)
        return block
    }

    func find(_ key: Bytes) throws(StateError) -> (finding: MemoryTable.Finding, block: RunBlock?) {
        let cursor = try Cursor(self, from: key)
        // The key that was found lives in the cursor's own memory.
        return withExtendedLifetime(cursor) {
            guard let found = cursor.key, found.hasSameBytes(as: key) else { return (.absent, nil) }
            return (cursor.value.map { .value($0) } ?? .removed, cursor.block)
        }
    }

    struct Cursor {
        private let run: Run
        private var place: Int
        private var inner: RunBlock.Cursor?

        init(_ run: Run, from key: Bytes) throws(StateError) {
            self.run = run
            place = run.place(of: key)
            try open()
            while let current = self.key, current.compare(key) < 0 { try advance() }
        }

        var key: Bytes? {
            guard let inner, inner.isValid else { return nil }
            return inner.key
        }

        var value: Bytes? { inner?.value }
        var block: RunBlock? { inner?.block }

        private mutating func open() throws(StateError) {
            guard place < run.index.count else {
                inner = nil
                return
            }
            let block = try run.block(place)
            do throws(MalformedBytes) { inner = try RunBlock.Cursor(block) } catch { throw .malformed("a run's block") }
        }

        mutating func advance() throws(StateError) {
            do throws(MalformedBytes) { try inner?.advance() } catch { throw .malformed("a run's block") }
            if let inner, !inner.isValid {
                place += 1
                try open()
            }
        }
    }
}

/// Keeps blocks in memory, the most recently used ones, up to a number.
private final class BlockCache: Sendable {
    private struct Content {
        var blocks: [UInt64: RunBlock] = [:]
        /// Of two halves the older is thrown away when the newer is full.
        var older: [UInt64: RunBlock] = [:]
    }

    private let content = Mutex(Content())
    private static let half = 256

    func block(at address: UInt64) -> RunBlock? {
        content.withLock { content in
            if let block = content.blocks[address] { return block }
            guard let block = content.older[address] else { return nil }
            BlockCache.insert(block, address, &content)
            return block
        }
    }

    func keep(_ block: RunBlock, at address: UInt64) {
        content.withLock { BlockCache.insert(block, address, &$0) }
    }

    private static func insert(_ block: RunBlock, _ address: UInt64, _ content: inout Content) {
        if content.blocks.count >= half {
            content.older = content.blocks
            content.blocks = [:]
        }
        content.blocks[address] = block
    }
}
