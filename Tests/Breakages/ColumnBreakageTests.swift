// Shows that random questions to rows in columns catch every breakage of them. This file is part of the copy that
// `tools/breakages` makes. SYNCLINE_BREAKAGE selects one breakage.

import Foundation
import SynclineCore
import Testing

@Suite(.serialized) struct ColumnBreakageTests {
    /// As many as the usual run of the tests has.
    private static let seeds = UInt64(1)...40

    @Test func `rows in columns are right if nothing is broken`() throws {
        for seed in Self.seeds { #expect(try TwoStates.run(seed: seed).fault == nil) }
    }

    private static func isCaught(seed: UInt64) -> Bool {
        do {
            return try TwoStates.run(seed: seed).fault != nil || LayeredSpelling.found() != LayeredSpelling.lower
        } catch {
            return true
        }
    }

    @Test func `every breakage of columns is caught`() throws {
        let all = Breakage.allCases.filter { $0.rawValue.hasPrefix("column") }
        try #require(!all.isEmpty, "there is no breakage to catch")
        let wanted = ProcessInfo.processInfo.environment["SYNCLINE_BREAKAGE"] ?? ""
        for breakage in all where wanted.isEmpty || wanted == breakage.rawValue {
            let catcher = Breakage.$active.withValue(breakage) {
                Self.seeds.first { Self.isCaught(seed: $0) }
            }
            let name = breakage.rawValue.padding(toLength: 28, withPad: " ", startingAt: 0)
            print(name, catcher.map { "rows in columns, seed \($0)" } ?? "NOT CAUGHT")
            #expect(catcher != nil)
        }
    }
}
