// The pipeline of records: its output is in the order of the log, whichever thread was faster, and ends at the first error.

import LogTesting
import SynclineGround
import Testing

@testable import SynclineTool

@Suite struct RecordPipelineTests {
    private struct Refusal: Error {}

    /// What was taken of 4,000 records of random sizes, which fill several batches.
    private func taken(
        seed: UInt64, failingAt refused: UInt64? = nil, takingAtMost limit: Int = .max
    ) throws -> (numbers: [UInt64], failed: Bool) {
        var chance = Chance(seed: seed)
        var pipeline = RecordPipeline<[UInt64]> {
            { records in
                var numbers: [UInt64] = []
                try records.forEach { number, record in
                    if number == refused { throw Refusal() }
                    #expect(record.allSatisfy { $0 == UInt8(truncatingIfNeeded: number / 3) })
                    numbers.append(number)
                }
                return numbers
            }
        }
        var numbers: [UInt64] = []
        func take(_ output: [UInt64]) throws {
            if numbers.count >= limit { throw Refusal() }
            numbers += output
        }
        do {
            for number in 0..<4_000 as Range<UInt64> {
                let record = [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: chance.below(900))
                try record.withUnsafeBytes { try pipeline.add(number * 3, $0, take) }
            }
            try pipeline.finish(take)
            return (numbers, false)
        } catch is Refusal {
            return (numbers, true)
        }
    }

    @Test(arguments: 0..<8 as Range<UInt64>)
    func `outputs are taken in order, up to the first error`(seed: UInt64) throws {
        let all = (0..<4_000 as Range<UInt64>).map { $0 * 3 }
        let whole = try taken(seed: seed)
        #expect(whole.numbers == all && !whole.failed)
        let part = try taken(seed: seed, failingAt: 3 * (1_000 + seed * 300))
        #expect(part.failed && part.numbers == Array(all.prefix(part.numbers.count)) && part.numbers.count < 3_400)
        let stopped = try taken(seed: seed, takingAtMost: 1)
        #expect(stopped.failed && stopped.numbers == Array(all.prefix(stopped.numbers.count)))
    }
}
