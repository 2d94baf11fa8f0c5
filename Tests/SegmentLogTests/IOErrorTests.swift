// Proves that no system error loses an acknowledged record: each call of each scenario fails in each way, and then
// the log is checked on a healthy disk.

import LogTesting
import SegmentLog
import Testing

@Suite struct IOErrorTests {
    @Test(
        "Invariants 1, 2, 3, 4, 6, 7, 20, 32, 33: any call may fail in any way, and nothing acknowledged is lost",
        arguments: IOErrorScenario.all)
    func everyCall(scenario: IOErrorScenario) throws {
        let stride = TortureBudget.factor >= 1 ? 1 : 5
        let count = try IOErrorTorture.everyCall(scenario, stride: stride)
        print(
            "\(scenario): \(count.calls) calls failed, \(count.faults) faults, \(count.refusals) refusals, "
                + "\(count.states) states")
        #expect(count.calls > 0)
    }

    @Test(arguments: CallKind.allCases)
    func `an error says in words what failed`(kind: CallKind) {
        let error = StorageError(simulating: .inputOutput, operation: kind.rawValue, name: "x")
        #expect(error.sentence.contains("ing ") && !error.sentence.hasPrefix(kind.rawValue + " "))
        #expect(LogError(error).message == error.sentence)
    }
}
