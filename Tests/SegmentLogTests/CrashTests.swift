// Proves what survives a power failure. The budgets are those of a normal run; a debug build explores less of the
// same space. Failures print the seed and the call, which are sufficient to repeat them.

import LogTesting
import SegmentLog
import Testing

@Suite struct CrashTests {
    @Test(
        "Invariants 1, 2, 3, 4, 16, 17, 19, 22, 26: any subset of unsynced sectors leaves a log with all that was acknowledged",
        arguments: [UInt64(1_000_000), 2_000_000, 3_000_000, 4_000_000])
    func crashes(seed: UInt64) throws {
        let count = try CrashTorture.run(seed: seed, histories: .max, states: TortureBudget.scaled(70_000))
        print("crash model, seed \(seed): \(count.histories) lives, \(count.points) points, \(count.states) states")
    }
}
