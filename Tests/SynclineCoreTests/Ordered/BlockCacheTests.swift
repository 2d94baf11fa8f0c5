// Which blocks are cached: within the limit, the recently used ones, and separately for each run.

import LogTesting
import SynclineGround
import Testing

@testable import SynclineCore

@Suite struct BlockCacheTests {
    private static func block(_ size: Int, _ byte: UInt8 = 0x80) -> RunBlock {
        [UInt8](repeating: byte, count: size).withBytes { RunBlock($0) }
    }

    @Test func `the cache never exceeds its limit, and requested blocks stay`() throws {
        let cache = BlockCache(limit: 64 << 10)
        let run = cache.numberForRun()
        let wanted = BlockCache.Place(run: run, block: 7)
        cache.keep(Self.block(1000, 0x87), at: wanted)
        var chance = Chance(seed: 5)
        for block in 1000..<3000 {
            let kept = try #require(cache.block(at: wanted), "gone before \(block)")
            #expect(kept.bytes.first == 0x87)
            cache.keep(Self.block(1 + chance.below(4000)), at: .init(run: run, block: block))
            try #require(cache.size <= 64 << 10)
        }
        let left = (1000..<3000).filter { cache.block(at: .init(run: run, block: $0)) != nil }
        #expect(left.count > 20)
        // None was used twice, so the newest are there.
        #expect(left.last == 2999)
    }

    @Test func `a block as large as many others is not cached`() {
        let cache = BlockCache(limit: 64 << 10)
        let place = BlockCache.Place(run: cache.numberForRun(), block: 1)
        cache.keep(Self.block((4 << 10) + 1), at: place)
        #expect(cache.block(at: place) == nil)
        cache.keep(Self.block(4 << 10), at: place)
        #expect(cache.block(at: place) != nil)
    }

    @Test func `blocks of different runs with the same number do not meet, and a block is counted once`() {
        let cache = BlockCache()
        let (first, second) = (cache.numberForRun(), cache.numberForRun())
        #expect(first != second)
        cache.keep(Self.block(10, 0x81), at: .init(run: first, block: 9))
        #expect(cache.block(at: .init(run: second, block: 9)) == nil)
        cache.keep(Self.block(10, 0x82), at: .init(run: second, block: 9))
        cache.keep(Self.block(10, 0x83), at: .init(run: second, block: 9))
        #expect(cache.block(at: .init(run: first, block: 9))?.bytes.first == 0x81)
        #expect(cache.block(at: .init(run: second, block: 9))?.bytes.first == 0x83)
        #expect(cache.size == 20)
    }

    @Test func `the blocks of a run that is gone take no room`() {
        let cache = BlockCache(limit: 64 << 10)
        let (gone, left) = (cache.numberForRun(), cache.numberForRun())
        for block in 0..<15 {
            cache.keep(Self.block(1 << 10, 0x81), at: .init(run: gone, block: block))
            cache.keep(Self.block(1 << 10, 0x82), at: .init(run: left, block: block))
        }
        cache.removeAll(of: gone)
        #expect(cache.size == 15 << 10)
        for block in 0..<15 {
            #expect(cache.block(at: .init(run: gone, block: block)) == nil)
            #expect(cache.block(at: .init(run: left, block: block))?.bytes.first == 0x82)
        }
    }

    @Test func `a smaller limit evicts blocks, and a larger one keeps more`() {
        let cache = BlockCache(limit: 64 << 10)
        let run = cache.numberForRun()
        for block in 0..<100 { cache.keep(Self.block(1 << 10), at: .init(run: run, block: block)) }
        #expect(cache.size == 64 << 10)
        cache.resize(to: 16 << 10)
        #expect(cache.size == 16 << 10)
        cache.resize(to: 80 << 10)
        for block in 200..<300 { cache.keep(Self.block(1 << 10), at: .init(run: run, block: block)) }
        #expect(cache.size == 80 << 10)
    }
}
