// Ranges of keys over several layers, read forward, backward and counted.

import LogTesting
import SynclineGround
import Testing

@testable import SynclineCore

@Suite struct RangeTests {
    private static func key(_ number: Int) -> [UInt8] { Array("a key \(100_000 + number)".utf8) }

    /// Two runs and a memory table: some keys are in several layers, and some are removed by a newer one.
    private static func store(
        _ chance: inout Chance
    ) throws -> (snapshot: StateSnapshot, model: [(key: [UInt8], value: [UInt8])]) {
        let (store, blocks) = (StateStore(), MemoryBlocks())
        var model: [Int: [UInt8]] = [:]
        for layer in 0..<3 {
            for number in 0..<4000 where chance.once(in: layer == 0 ? 2 : 9) {
                let old = try key(number).withBytes { key throws(SyncError) in try store.value(key) }
                if let old, chance.once(in: 3) {
                    key(number).withBytes { store.remove($0, old: old) }
                    model[number] = nil
                } else {
                    let value = Array(repeating: UInt8(layer), count: chance.below(40))
                    key(number).withBytes { key in value.withBytes { store.put(key, $0, old: old) } }
                    model[number] = value
                }
            }
            // The newer run also has whole blocks that no older layer reaches into, with keys that were removed again.
            for number in 6000..<8000 where layer == 1 {
                try key(number).withBytes { key throws(SyncError) in
                    [1].withBytes { store.put(key, $0, old: nil) }
                    if number % 3 == 0, let old = try store.value(key) { store.remove(key, old: old) }
                }
                if number % 3 != 0 { model[number] = [1] }
            }
            store.endCommit()
            if layer < 2 {
                store.rotate()
                try store.mergeFull(into: blocks, merging: 0)
            }
        }
        return (store.snapshot, model.sorted { $0.key < $1.key }.map { (key($0.key), $0.value) })
    }

    @Test(arguments: 1...5 as ClosedRange<UInt64>)
    func `a range is the same forward, backward and counted, however often it was read`(seed: UInt64) throws {
        var chance = Chance(seed: seed)
        let (snapshot, model) = try Self.store(&chance)
        #expect(snapshot.layers.runs.count == 2)
        for _ in 0..<60 {
            let bounds = [chance.below(8200), chance.below(8200)].sorted()
            let (start, end) = (Self.key(bounds[0]), Self.key(bounds[1]))
            let wanted = model.filter {
                !IndexInterval.isBefore($0.key, start) && IndexInterval.isBefore($0.key, end)
            }
            #expect(try snapshot.count(from: start, before: end) == wanted.count)
            var (forward, backward): ([[UInt8]], [[UInt8]]) = ([], [])
            try snapshot.forEach(from: start) { key, value in
                guard end.withBytes({ key.compare($0) < 0 }) else { return false }
                forward.append([UInt8](key) + [0] + [UInt8](value))
                return true
            }
            try snapshot.forEachBackward(from: start, before: end) { key, value in
                backward.append([UInt8](key) + [0] + [UInt8](value))
                return true
            }
            #expect(forward == wanted.map { $0.key + [0] + $0.value })
            #expect(backward == forward.reversed())
        }
    }

    @Test func `keys of rows are sorted, and each is kept once`() {
        var chance = Chance(seed: 3)
        var keys = RowKeys(prefix: [3, 0x74, 0])
        var wanted: Set<[UInt8]> = []
        for _ in 0..<500 {
            let id = (0..<1 + chance.below(12)).map { _ in UInt8(chance.below(3)) }
            id.withBytes { keys.append(id: $0) }
            wanted.insert([3, 0x74, 0] + id)
        }
        keys.sort()
        let found = (0..<keys.count).map { [UInt8](keys[$0]) }
        #expect(found == wanted.sorted { IndexInterval.isBefore($0, $1) })
    }

    @Test func `a scan's blocks are cached only while there is room`() {
        let cache = BlockCache(limit: 64 << 10)
        let run = cache.numberForRun()
        func place(_ number: Int) -> BlockCache.Place { .init(run: run, block: number) }
        func block(_ size: Int) -> RunBlock { [UInt8](repeating: 7, count: size).withBytes { RunBlock($0) } }
        for number in 0..<100 { cache.keepIfRoom(block(1 << 10), at: place(number)) }
        #expect(cache.size == 64 << 10)
        for number in 0..<100 { #expect((cache.block(at: place(number)) != nil) == (number < 64)) }
        cache.keepIfRoom(block((4 << 10) + 1), at: place(500))
        #expect(cache.block(at: place(500)) == nil)
    }

    @Test func `a scan keeps blocks, a merge keeps none, and a run that is gone leaves none`() throws {
        let (store, blocks, cache) = (StateStore(), MemoryBlocks(), BlockCache())
        for number in 0..<4000 {
            let value = Array(repeating: UInt8(7), count: 20)
            Self.key(number).withBytes { key in value.withBytes { store.put(key, $0, old: nil) } }
        }
        store.rotate()
        let root = try RunWriter.write(try store.layers.cursorOverRuns(0)) { block in blocks.append(block) }
        do {
            let run = try Run(root, blocks, file: 1, cache)
            let layers = StateLayers(runs: [run], cache: cache)
            var merged = try layers.cursorOverRuns(1)
            while merged.key != nil { try merged.advance() }
            // Only the block in which it began.
            #expect(cache.size < RunBlockWriter.target + 4096)
            #expect(try StateSnapshot(layers, commit: .max).contents().count == 4000)
            #expect(cache.size > 5 * RunBlockWriter.target)
        }
        #expect(cache.size == 0)
    }

    @Test func `digits written eight at a time are those written one by one`() {
        var chance = Chance(seed: 4)
        for length in 0..<40 {
            let bytes = (0..<length).map { _ in UInt8(chance.below(256)) }
            let wanted = bytes.map { byte in
                String(decoding: [Hexadecimal.digit(byte >> 4), Hexadecimal.digit(byte & 15)], as: UTF8.self)
            }
            bytes.withBytes { #expect(Hexadecimal.text(of: $0) == wanted.joined()) }
            guard length == 16 else { continue }
            for isUpper in [false, true] {
                let id = bytes.withBytes { TextForm.text(ofUUID: $0, isUpper: isUpper) }
                let parts = [wanted[..<4], wanted[4..<6], wanted[6..<8], wanted[8..<10], wanted[10...]]
                let text = parts.map { $0.joined() }.joined(separator: "-")
                #expect(id == (isUpper ? text.uppercased() : text))
            }
        }
    }
}
