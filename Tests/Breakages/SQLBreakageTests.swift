// Shows that the tests of SQL catch every breakage of SynclineSQL. This file is part of the copy that `tools/breakages` makes.
// SYNCLINE_BREAKAGE selects one breakage.

import Foundation
import SynclineGround
import SynclineSQL
import Testing

@Suite(.serialized) struct SQLBreakageTests {
    /// Tests that record an issue if something is wrong.
    private struct Check: Sendable {
        let name: String
        let run: @Sendable () async throws -> Void
    }

    /// The quick ones first.
    private static let checks = [
        Check(name: "numbers in strings") {
            try await AffinityTests().`an id is compared with a number`()
            try await AffinityTests().`a column is compared with a number`()
            try await AffinityTests().`a table is joined with numbers`()
            try await AffinityTests().`an index that is made for a join finds strings by their numbers`()
        },
        Check(name: "ranges and orders") {
            try await SQLTests().`a range of ids includes its ends`()
            try await SQLTests().`a column with several kinds of values is searched and sorted as SQL does`()
        },
        Check(name: "orders of indexes") {
            for (column, value) in IndexUseTests.severalPlaces {
                try await IndexUseTests().`rows are in order if one value has several places in an index`(
                    column: column, value: value)
            }
        },
        Check(name: "choices of an index") {
            try await IndexChoiceTests().`the library and SQL choose the same index`()
        },
        Check(name: "an older state") {
            try await FollowingTests().`an older state does not revert a mirror`()
        },
        Check(name: "a failed update") {
            try await FollowingTests().`an update that fails leaves the file at its earlier event`()
        },
        Check(name: "files that do not fit") {
            try await FollowingTests().`an update reads only what changed, and a file that does not fit is rebuilt`()
        },
        Check(name: "purged rows") {
            for kind in ["all", "one", "declared"] {
                try await ScrubTests().`rows that were purged are in no file after the next update`(kind: kind)
            }
        },
        Check(name: "random changes and mirrors") {
            for seed in 0..<UInt64(40) {
                try await FollowingTests().`files are those of the state after each of many changes`(seed: seed)
            }
        },
        Check(name: "random statements") {
            for seed in 0..<UInt64(40) {
                try await RandomSQLTests().`answers are those of SQLite with the same rows`(seed: seed)
            }
        },
    ]

    /// Whether a check finds something wrong.
    private static func isCaught(by check: Check) async -> Bool {
        let isCaught = Mutex(false)
        try? await withKnownIssue(isIntermittent: true) {
            try await check.run()
        } matching: { _ in
            isCaught.withLock { $0 = true }
            return true
        }
        return isCaught.withLock { $0 }
    }

    @Test func `no check fails if nothing is broken`() async throws {
        for check in Self.checks { try await check.run() }
    }

    @Test func `every breakage of SQL is caught`() async {
        let wanted = ProcessInfo.processInfo.environment["SYNCLINE_BREAKAGE"] ?? ""
        for breakage in SynclineSQL.Breakage.allCases where wanted.isEmpty || wanted == breakage.rawValue {
            let catcher: Check? = await SynclineSQL.Breakage.$active.withValue(breakage) {
                for check in Self.checks where await Self.isCaught(by: check) { return check }
                return nil
            }
            let name = breakage.rawValue.padding(toLength: 28, withPad: " ", startingAt: 0)
            print(name, catcher?.name ?? "NOT CAUGHT")
            #expect(catcher != nil)
        }
    }
}
