// Shows that the random histories of live queries catch every breakage of the core. This file is part of the copy that
// `tools/breakages` makes. SYNCLINE_BREAKAGE selects one breakage.

import Foundation
import SynclineCore
import Testing

@Suite(.serialized) struct LiveBreakageTests {
    /// As many as the usual run of the tests has.
    private static let seeds = UInt64(1)...400

    @Test func `live results are right if nothing is broken`() throws {
        for seed in Self.seeds { #expect(try LiveHistory.fault(seed: seed) == nil) }
    }

    private static func isCaught(seed: UInt64) -> Bool {
        do { return try LiveHistory.fault(seed: seed) != nil } catch { return true }
    }

    @Test func `every breakage of live results is caught`() throws {
        let all = Breakage.allCases.filter {
            !$0.rawValue.hasPrefix("typed") && !$0.rawValue.hasPrefix("column")
        }
        try #require(!all.isEmpty, "there is no breakage to catch")
        let wanted = ProcessInfo.processInfo.environment["SYNCLINE_BREAKAGE"] ?? ""
        for breakage in all where wanted.isEmpty || wanted == breakage.rawValue {
            let catcher = Breakage.$active.withValue(breakage) {
                Self.seeds.first { Self.isCaught(seed: $0) }
            }
            let name = breakage.rawValue.padding(toLength: 28, withPad: " ", startingAt: 0)
            print(name, catcher.map { "live histories, seed \($0)" } ?? "NOT CAUGHT")
            #expect(catcher != nil)
        }
    }
}
