// Runs the fuzzer's targets without the fuzzer: its initial inputs and some thousands of seeded changes to them.
// Nothing may trap, hang or find the log wrong (invariant 14). SYNCLINE_LONG=1 runs ten times as many.

import Foundation
import Testing

@Suite struct FuzzCorpusTests {
    private static let rounds: Int = {
        #if DEBUG
            let normal = 150
        #else
            let normal = 1500
        #endif
        return ProcessInfo.processInfo.environment["SYNCLINE_LONG"] == nil ? normal : 10 * normal
    }()

    @Test(.timeLimit(.minutes(10)), arguments: FuzzTarget.allCases)
    func `no input makes a target trap, hang or fail`(target: FuzzTarget) {
        let seeds = target.seeds
        #expect(!seeds.isEmpty)
        for (index, seed) in (seeds + target.found).enumerated() { #expect(target.run(seed) == nil, "seed \(index)") }
        var random = SeededRandom(seed: 1)
        for round in 0..<FuzzCorpusTests.rounds {
            let input = change(seeds[random.below(seeds.count)], &random)
            if let failure = target.run(input) { Issue.record("round \(round): \(failure)") }
        }
    }

    private func change(_ seed: [UInt8], _ random: inout SeededRandom) -> [UInt8] {
        var bytes = seed
        for _ in 0...random.below(4) {
            guard !bytes.isEmpty else { break }
            // Most of what matters is after the header, in the first frames.
            let at = random.below(random.once(in: 2) ? bytes.count : min(bytes.count, 700))
            switch random.below(6) {
            case 0...1: bytes[at] ^= 1 << UInt8(random.below(8))
            case 2: bytes[at] = [0, 1, 0x7F, 0x80, 0xFF][random.below(5)]
            case 3: bytes.removeLast(random.below(min(bytes.count, 100)))
            case 4: bytes.insert(UInt8(random.below(256)), at: at)
            default:
                for index in at..<min(bytes.count, at + 1 + random.below(8)) { bytes[index] = UInt8(random.below(256)) }
            }
        }
        return bytes
    }
}
