// The two decoders against each other: over logs as they are written, over logs that accidents changed, and over logs
// that were forged with every checksum mended. They must agree about each record and about how the log ends.

import SegmentLog
import Testing

@Suite struct SecondDecoderTests {
    #if DEBUG
        private static let (logs, changes): (UInt64, Int) = (2, 6)
    #else
        private static let (logs, changes): (UInt64, Int) = (8, 25)
    #endif

    @Test(arguments: 0..<8)
    func `both decoders read the same records from a log as it was written`(group: UInt64) throws {
        for seed in group * 8..<group * 8 + SecondDecoderTests.logs {
            let storage = try RandomLog.make(seed: seed)
            #expect(DecodedLog.disagreement(about: storage) == nil, "seed \(seed)")
            let second = DecodedLog(second: storage)
            #expect(second.verdict == .clean, "seed \(seed): \(second.reason)")
            #expect(try LogVerification(storage).run().isHealthy, "seed \(seed)")
        }
    }

    @Test(arguments: 0..<8)
    func `both decoders agree about a log that an accident changed`(group: UInt64) throws {
        try compare(seeds: group * 4 + 1000..<group * 4 + 1004, LogMutation.harm)
    }

    @Test(arguments: 0..<8)
    func `both decoders agree about a log forged with mended checksums`(group: UInt64) throws {
        try compare(seeds: group * 4 + 2000..<group * 4 + 2004, LogMutation.forge)
    }

    @Test func `both decoders read what salvage and healing leave`() throws {
        var holes = 0
        for seed in 3000 as UInt64..<3045 {
            var random = SeededRandom(seed: seed)
            let storage = try RandomLog.make(seed: seed, hasLarge: false)
            let what = LogMutation.harm(storage, &random)
            guard DecodedLog(first: storage).verdict == .damaged else { continue }
            let fresh = MemoryStorage()
            if (try? LogSalvage.copy(from: storage, to: fresh)) != nil {
                #expect(DecodedLog.disagreement(about: fresh) == nil, "salvaged, seed \(seed), \(what)")
                holes += DecodedLog(second: fresh).lost.count
            }
            let healed = storage.copy()
            if (try? LogHealing(healed, clock: StillClock()).run { _ in true }) != nil {
                #expect(DecodedLog.disagreement(about: healed) == nil, "healed, seed \(seed), \(what)")
                #expect(DecodedLog(second: healed).verdict == .clean, "healed, seed \(seed), \(what)")
                holes += DecodedLog(second: healed).lost.count
            }
        }
        #expect(holes > 5)
    }

    private func compare(
        seeds: Range<UInt64>, _ mutate: (MemoryStorage, inout SeededRandom) -> String
    ) throws {
        for seed in seeds {
            var random = SeededRandom(seed: seed)
            let storage = try RandomLog.make(seed: seed, batches: 12, hasLarge: seed % 8 == 0)
            for attempt in 0..<SecondDecoderTests.changes {
                let copy = storage.copy()
                let what = mutate(copy, &random)
                if let disagreement = DecodedLog.disagreement(about: copy) {
                    Issue.record("seed \(seed).\(attempt), \(what): \(disagreement)")
                }
            }
        }
    }
}
