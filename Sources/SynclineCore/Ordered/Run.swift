// A run: an immutable, sorted part of the state in blocks of a file. Its index (the first key of each block) and its
// key filter are in memory; blocks are read when they are needed, through the cache of its store.

package import SynclineGround

/// Reads the blocks of a run.
package protocol BlockSource: Sendable {
    /// Returns a block. `length` is how much of the file the block takes, if that is known.
    func block(at address: UInt64, length: Int?) throws(SyncError) -> RunBlock

    /// Returns the block at the first of some addresses that grow, and those that follow it in the same piece of the
    /// file. `length` is how much of the file they take, if that is known.
    func blocks(at addresses: ArraySlice<UInt64>, length: Int?) throws(SyncError) -> [RunBlock]
}

extension BlockSource {
    package func blocks(at addresses: ArraySlice<UInt64>, length: Int?) throws(SyncError) -> [RunBlock] {
        guard let first = addresses.first else { return [] }
        return [try block(at: first, length: addresses.count == 1 ? length : nil)]
    }
}

/// The facts needed to open a run.
package struct RunRoot: Hashable, Sendable {
    package var indexBlocks: [UInt64] = []
    package var filterBlocks: [UInt64] = []
    /// The table of the symbols in its blocks; none if there are no texts.
    package var symbolBlocks: [UInt64] = []
    /// The number of entries, including removals.
    package var count = 0
    /// The size of the keys and values in bytes.
    package var size = 0

    package init() {}

    package func encode(into writer: inout ByteWriter) {
        for addresses in [indexBlocks, filterBlocks, symbolBlocks] {
            writer.append(varint: addresses.count)
            for address in addresses { writer.append(varint: address) }
        }
        writer.append(varint: count)
        writer.append(varint: size)
    }

    package init(_ reader: inout ByteReader) throws(MalformedBytes) {
        for _ in 0..<(try reader.count()) { indexBlocks.append(try reader.varint()) }
        for _ in 0..<(try reader.count()) { filterBlocks.append(try reader.varint()) }
        for _ in 0..<(try reader.count()) { symbolBlocks.append(try reader.varint()) }
        let (count, size) = (try reader.varint(), try reader.varint())
        // Sums of several runs are numbers, too.
        guard count < 1 << 48, size < 1 << 56 else { throw MalformedBytes() }
        (self.count, self.size) = (Int(count), Int(size))
    }
}

package final class Run: Sendable {
    package let root: RunRoot
    /// The file it is in, by the last event that file covers.
    package let file: UInt64
    private let source: any BlockSource
    private let index: RunIndex
    private let filter: KeyFilter
    let symbols: SymbolTable?
    private let cache: BlockCache
    /// Its number in the cache.
    private let number: Int

    package init(
        _ root: RunRoot, _ source: any BlockSource, file: UInt64, _ cache: BlockCache = BlockCache()
    ) throws(SyncError) {
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
            symbols = try root.symbolBlocks.first.map { address in
                let block = try source.block(at: address, length: nil)
                defer { extendLifetime(block) }
                return try SymbolTable(block.bytes)
            }
        } catch let error as SyncError {
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

    private func cachePlace(_ place: Int) -> BlockCache.Place { BlockCache.Place(run: number, block: place) }

    /// Whether a merge left nothing of it.
    var isEmpty: Bool { index.addresses.isEmpty }

    /// Returns the number of the block that would hold a key.
    func place(of key: Bytes) -> Int { index.place(of: key) }

    /// Finds the numbers of the blocks that would hold those keys that this run may have, and those blocks that are cached.
    /// - Parameter place: Its own, among the runs.
    func findBlocks(of lookups: KeyLookups, _ place: Int) {
        index.findPlaces(of: lookups, inRun: place)
        cache.findBlocks(of: lookups, inRun: place, number)
    }

    /// Returns a block to search, if it is cached.
    func cached(_ place: Int) -> RunBlock? {
        guard let block = cache.block(at: cachePlace(place)) else { return nil }
        block.prefetchParts()
        return block
    }

    /// Reads a block of a scan from larger keys to smaller ones. It is cached if no other has to go for it.
    func block(_ place: Int) throws(SyncError) -> RunBlock {
        if let known = cache.block(at: cachePlace(place)) { return known }
        let block = try read(place)
        cache.keepIfRoom(block, at: cachePlace(place))
        return block
    }

    /// Reads the blocks of a scan, one after another. The longer the scan, the more it reads at once.
    struct Scan {
        private let keepsBlocks: Bool
        /// The blocks that were read at once last, and the number of the first of them.
        private var ahead: [RunBlock] = []
        private var first = 0
        private var count = 1

        private static let most = 16

        /// - Parameter keepsBlocks: False for a scan of runs that are about to be replaced.
        init(keepsBlocks: Bool) { self.keepsBlocks = keepsBlocks }

        /// Returns a block, which is cached if no other has to go for it.
        mutating func block(_ place: Int, of run: Run) throws(SyncError) -> RunBlock {
            if let known = run.cache.blockOfScan(at: run.cachePlace(place)) { return known }
            if !(first..<first + ahead.count).contains(place) {
                ahead = try run.read(from: place, count)
                first = place
                count = min(count * 2, Scan.most)
            }
            let block = ahead[place - first]
            // A copy, because the memory of blocks that were read at once is freed at once.
            if keepsBlocks, run.cache.hasRoom(for: block) {
                run.cache.keepIfRoom(run.withSymbols(RunBlock(block.bytes)), at: run.cachePlace(place))
            }
            return block
        }
    }

    /// Returns a block to search for a key.
    func searchable(_ place: Int) throws(SyncError) -> RunBlock {
        if let known = cached(place) { return known }
        let block = try read(place)
        cache.keep(block, at: cachePlace(place))
        return block
    }

    private func read(_ place: Int) throws(SyncError) -> RunBlock {
        withSymbols(try source.block(at: index.addresses[place], length: distance(place, place + 1, lessThan: 1 << 21)))
    }

    /// The same block, whose texts can be read.
    private func withSymbols(_ block: RunBlock) -> RunBlock {
        block.columns?.symbols = symbols
        return block
    }

    /// Reads a block and some that follow it, up to a number of blocks, at once.
    private func read(from place: Int, _ count: Int) throws(SyncError) -> [RunBlock] {
        guard count > 1 else { return [try read(place)] }
        let limit: UInt64 = 1 << 18
        var end = place + 1
        while end < place + count, distance(place, end + 1, lessThan: limit) != nil { end += 1 }
        return try source.blocks(at: index.addresses[place..<end], length: distance(place, end, lessThan: limit))
            .map(withSymbols)
    }

    /// Returns how far a block is from an earlier one in the file, if that is known and less than a limit.
    private func distance(_ place: Int, _ next: Int, lessThan limit: UInt64) -> Int? {
        guard next < index.addresses.count else { return nil }
        // Addresses grow with the size of the blocks. A source may mark some, which then seem far away.
        let (first, second) = (index.addresses[place], index.addresses[next])
        return second > first && second - first < limit ? Int(second - first) : nil
    }

    /// Looks up a key in the run, or in the one of its blocks that would hold it. Returns nil if it has none, and a value
    /// of nil if the key was removed.
    func find(_ key: Bytes, in known: consuming RunBlock? = nil) throws(SyncError) -> StateValue?? {
        let block = if let known { known } else { try searchable(index.place(of: key)) }
        do throws(MalformedBytes) {
            if let columns = block.columnsInPlace {
                if let row = columns._withUnsafeGuaranteedRef({ $0.row(of: key) }) {
                    return StateValue(row, of: columns, block)
                }
                guard let other = columns._withUnsafeGuaranteedRef({ $0.findOther(key) }) else { return nil }
                return .some(other.map { StateValue($0, block) })
            }
            switch try block.find(key) {
            case .value(let bytes): return StateValue(bytes, block)
            case .removed: return .some(nil)
            case .absent: return nil
            }
        } catch {
            throw .malformed("a run's block")
        }
    }

    /// Returns the number, in one of its blocks, of the entry with a key; nil if there is none.
    func entry(of key: Bytes, inBlock place: Int) throws(SyncError) -> Int? {
        let block = try searchable(place)
        do throws(MalformedBytes) { return try block.entry(of: key) } catch { throw .malformed("a run's block") }
    }

    final class Cursor: LayerCursor {
        private let run: Run
        @exclusivity(unchecked) private var scan: Scan
        @exclusivity(unchecked) private var place: Int
        @exclusivity(unchecked) private var inner: RunBlock.Cursor
        @exclusivity(unchecked) private var hidden = HiddenEntries()

        /// Nil for a run without entries.
        init?(_ run: Run, from key: Bytes, keepsBlocks: Bool) throws(SyncError) {
            guard !run.index.addresses.isEmpty else { return nil }
            self.run = run
            scan = Scan(keepsBlocks: keepsBlocks)
            place = run.index.place(of: key)
            let block = try run.searchable(place)
            do throws(MalformedBytes) {
                inner = try RunBlock.Cursor(block, from: key)
            } catch {
                throw .malformed("a run's block")
            }
            super.init()
            if inner.isValid { show(inner.key, view: inner.view) } else { try settle() }
        }

        override func advance() throws(SyncError) {
            do throws(MalformedBytes) { try inner.advance() } catch { throw .malformed("a run's block") }
            if inner.isValid { show(inner.key, view: inner.view) } else { try settle() }
        }

        /// Visits leave out entries from now on.
        func leaveOut(_ entries: HiddenEntries) {
            hidden = entries
            inner.hidden = hidden[place]
        }

        override func stretch(before limit: Bytes?) -> ColumnStretch? { inner.stretch(before: limit) }

        override func skip(to row: Int) { inner.skip(to: row) }

        override func pass(before limit: Bytes) throws(SyncError) -> Int {
            let last = run.index.place(of: limit)
            guard inner.isValid, last > place else { return try super.pass(before: limit) }
            // The blocks between this one and the limit's are not read.
            var count = run.index.values(in: place + 1..<last)
            do throws(MalformedBytes) { count += try inner.countRest() } catch { throw .malformed("a run's block") }
            place = last - 1
            try settle()
            return try count + super.pass(before: limit)
        }

        override func visit(
            before limit: Bytes?, _ filter: (any ColumnFilter)?, _ body: (Bytes, ValueView) throws(SyncError) -> Bool
        ) throws(SyncError) -> Bool {
            while inner.isValid {
                guard try inner.visit(before: limit, filter, body) else { return false }
                // At the limit, or at the end of a block.
                if inner.isValid {
                    show(inner.key, view: inner.view)
                    return true
                }
                guard try open() else { return true }
            }
            return true
        }

        private func settle() throws(SyncError) {
            guard try open() else { return }
            do throws(MalformedBytes) { try inner.show() } catch { throw .malformed("a run's block") }
            show(inner.key, view: inner.view)
        }

        /// Opens the next block with an entry. Returns false at the end of the run.
        private func open() throws(SyncError) -> Bool {
            while !inner.isValid {
                place += 1
                guard place < run.index.addresses.count else {
                    end()
                    return false
                }
                let block = try scan.block(place, of: run)
                do throws(MalformedBytes) { try inner.open(consume block) } catch { throw .malformed("a run's block") }
                if !hidden.isEmpty { inner.hidden = hidden[place] }
            }
            return true
        }
    }
}

/// The first key of each block, the addresses of the blocks, and how many keys with a value they have.
private struct RunIndex {
    private var keys = KeyList()
    private(set) var addresses: [UInt64] = []
    /// The number of keys with a value before each block, and at last in all of them.
    private var values = [0]

    mutating func add(_ block: RunBlock) throws(MalformedBytes) {
        defer { extendLifetime(block) }
        var reader = ByteReader(block.bytes)
        while !reader.isAtEnd {
            keys.append(try reader.counted())
            addresses.append(try reader.varint())
            let count = try reader.varint()
            guard count < 1 << 20 else { throw MalformedBytes() }
            values.append(values[values.count - 1] + Int(count))
        }
    }

    /// How many keys of some blocks have a value.
    func values(in blocks: Range<Int>) -> Int { values[blocks.upperBound] - values[blocks.lowerBound] }

    /// Returns the block that would hold a key: the last one that does not begin after it.
    func place(of key: Bytes) -> Int { keys.last(notAfter: key) ?? 0 }

    func findPlaces(of lookups: KeyLookups, inRun run: Int) { keys.findPlaces(of: lookups, inRun: run) }
}
