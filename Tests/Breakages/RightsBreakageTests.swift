// Shows that the random histories of rights, changed rules, and the tests of columns that only some callers see, catch
// every breakage of rules, stays, edges and reads. This file is part of the copy that `tools/breakages` makes.
// SYNCLINE_BREAKAGE selects one breakage.

import Foundation
import SynclineGround
import SynclineServer
import SynclineTables
import Testing

@Suite(.serialized) struct RightsBreakageTests {
    private struct Catch: CustomStringConvertible {
        let backend: TestBackend
        let seed: UInt64

        var description: String { "rights, \(backend), seed \(seed)" }
    }

    /// As many as the usual run of the tests has.
    private static let seeds = UInt64(1)...8

    private static func isCaught(_ backend: TestBackend, _ seed: UInt64) -> Bool {
        let isCaught = Mutex(false)
        try? withKnownIssue(isIntermittent: true) {
            if seed == 1 {
                let columns = ColumnReaderTests()
                try columns.`no answer has a hidden column`(backend)
                try columns.`a caller who does not see a column neither sets nor loses it`(backend)
            }
            try RightsHistory(seed).run(backend)
            if seed == 1, backend == .sqlite {
                var takeover = try RuleTakeover(backend)
                try takeover.alternate()
                _ = try takeover.fail(.strict, .refused)
            }
        } matching: { _ in
            isCaught.withLock { $0 = true }
            return true
        }
        return isCaught.withLock { $0 }
    }

    private static func catcher() -> Catch? {
        for seed in seeds {
            for backend in [TestBackend.memory, .sqlite] where isCaught(backend, seed) {
                return Catch(backend: backend, seed: seed)
            }
        }
        return nil
    }

    @Test func `every breakage of rights is caught`() throws {
        let wanted = ProcessInfo.processInfo.environment["SYNCLINE_BREAKAGE"] ?? ""
        func isFound(_ name: String, _ found: Catch?) {
            if !wanted.isEmpty, wanted != name { return }
            print(name.padding(toLength: 28, withPad: " ", startingAt: 0), found?.description ?? "NOT CAUGHT")
            #expect(found != nil)
        }
        for breakage in SynclineTables.Breakage.allCases where wanted.isEmpty || wanted == breakage.rawValue {
            isFound(breakage.rawValue, SynclineTables.Breakage.$active.withValue(breakage) { Self.catcher() })
        }
        for breakage in SynclineServer.Breakage.allCases where wanted.isEmpty || wanted == breakage.rawValue {
            isFound(breakage.rawValue, SynclineServer.Breakage.$active.withValue(breakage) { Self.catcher() })
        }
    }
}
