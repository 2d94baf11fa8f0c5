// Shows that the random rows of typed columns catch every breakage of types. This file is part of the copy that
// `tools/breakages` makes. SYNCLINE_BREAKAGE selects one breakage.

import Foundation
import SynclineCore
import SynclineGround
import Testing

@Suite(.serialized) struct TypeBreakageTests {
    private static let seeds = UInt64(1)...80

    private static func run(_ seed: UInt64) async throws {
        try await TypedColumnTests().`lists, counts, sums and groups go by what values mean`(seed)
        try await TypedColumnTests().`a live list by a typed column is the list asked for again after every change`(
            seed)
    }

    /// Whether the rows of a seed show that something is wrong.
    private static func isCaught(_ seed: UInt64) async -> Bool {
        let isCaught = Mutex(false)
        try? await withKnownIssue(isIntermittent: true) {
            try await run(seed)
        } matching: { _ in
            isCaught.withLock { $0 = true }
            return true
        }
        return isCaught.withLock { $0 }
    }

    @Test func `typed columns are right if nothing is broken`() async throws {
        for seed in Self.seeds { try await Self.run(seed) }
    }

    @Test func `every breakage of types is caught`() async throws {
        let all = Breakage.allCases.filter { $0.rawValue.hasPrefix("typed") }
        try #require(!all.isEmpty, "there is no breakage to catch")
        let wanted = ProcessInfo.processInfo.environment["SYNCLINE_BREAKAGE"] ?? ""
        for breakage in all where wanted.isEmpty || wanted == breakage.rawValue {
            // A store writes in a thread of its own.
            Breakage.everywhere = breakage
            var catcher: UInt64?
            for seed in Self.seeds where catcher == nil {
                if await Self.isCaught(seed) { catcher = seed }
            }
            Breakage.everywhere = nil
            let name = breakage.rawValue.padding(toLength: 28, withPad: " ", startingAt: 0)
            print(name, catcher.map { "typed columns, seed \($0)" } ?? "NOT CAUGHT")
            #expect(catcher != nil)
        }
    }
}
