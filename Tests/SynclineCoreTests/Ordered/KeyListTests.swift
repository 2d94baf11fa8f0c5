// Searches in the first keys of a run's blocks, for one key and for several at once.

import LogTesting
import SynclineGround
import Testing

@testable import SynclineCore

@Suite struct KeyListTests {
    @Test func `a search finds the last key that is not after another`() {
        for seed in UInt64(1)...60 {
            var chance = Chance(seed: seed)
            func key() -> [UInt8] { (0..<chance.below(5)).map { _ in UInt8(chance.below(3)) } }
            let keys = Set((0..<chance.below(70)).map { _ in key() }).sorted { $0.lexicographicallyPrecedes($1) }
            var list = KeyList()
            for key in keys { key.withBytes { list.append($0) } }
            let wanted = (0..<20).map { _ in key() }
            let expected = wanted.map { wanted in keys.lastIndex { !wanted.lexicographicallyPrecedes($0) } }
            #expect(wanted.map { $0.withBytes { list.last(notAfter: $0) } } == expected, "seed \(seed)")
            let memory = wanted.map { UnsafeMutableRawBufferPointer.allocate(byteCount: $0.count, alignment: 1) }
            defer { for memory in memory { memory.deallocate() } }
            for (memory, key) in zip(memory, wanted) { memory.copyBytes(from: key) }
            // Every third key is not searched for, and stays as it is.
            var lookups = memory.map { KeyLookup(Bytes($0)) }
            for index in lookups.indices { lookups[index].place = index % 3 == 0 ? -1 : 7 }
            lookups.withUnsafeMutableBufferPointer { list.findPlaces(of: $0) { $0.place >= 0 } }
            let places = expected.enumerated().map { $0 % 3 == 0 ? -1 : $1 ?? 0 }
            #expect(lookups.map(\.place) == places, "seed \(seed)")
        }
    }
}
