// Searches in the first keys of a run's blocks, for one key and for several at once.

import LogTesting
import SynclineGround
import Testing

@testable import SynclineCore

@Suite struct KeyListTests {
    @Test func `a search finds the last key that is not after another`() {
        for seed in UInt64(1)...60 {
            var chance = Chance(seed: seed)
            // Some begin alike, and some of these differ in the eight bytes that follow, or after them.
            let prefixes: [[UInt8]] = [[], [1], [1, 2, 1], [1, 2, 1] + [UInt8](repeating: 1, count: 8)]
            let most = chance.below(4)
            func key() -> [UInt8] {
                prefixes[chance.below(most + 1)]
                    + (0..<chance.below(5) * chance.pick([1, 3])).map { _ in
                        UInt8(chance.below(3))
                    }
            }
            let keys = Set((0..<chance.below(70)).map { _ in key() }).sorted { $0.lexicographicallyPrecedes($1) }
            var list = KeyList()
            for key in keys { key.withBytes { list.append($0) } }
            let alike = chance.once(in: 2) ? chance.pick(prefixes) : []
            let wanted = (0..<20).map { _ in alike + key() }
            let expected = wanted.map { wanted in keys.lastIndex { !wanted.lexicographicallyPrecedes($0) } }
            #expect(wanted.map { $0.withBytes { list.last(notAfter: $0) } } == expected, "seed \(seed)")
            let memory = wanted.map { UnsafeMutableRawBufferPointer.allocate(byteCount: $0.count, alignment: 1) }
            defer { for memory in memory { memory.deallocate() } }
            for (memory, key) in zip(memory, wanted) { memory.copyBytes(from: key) }
            // Every third key is not searched for, and stays as it is.
            var lookups = memory.map { KeyLookup(Bytes($0)) }
            for index in lookups.indices where index % 3 == 0 { (lookups[index].run, lookups[index].place) = (1, -1) }
            lookups.withUnsafeMutableBufferPointer { list.findPlaces(of: $0, inRun: 0) }
            let places = expected.enumerated().map { $0 % 3 == 0 ? -1 : $1 ?? 0 }
            #expect(lookups.map(\.place) == places, "seed \(seed)")
        }
    }
}
