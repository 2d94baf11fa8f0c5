// Whether a change of another process meets something that the process had not seen, case by case.

import SynclineGround
import Testing

@testable import SynclineCore

@Suite struct SeenChangesTests {
    private static func row(_ members: [String: Value]) -> Row {
        Row(members.sorted { $0.key < $1.key }.map { .init($0.key, $0.value) })
    }

    private func isMet(
        _ kind: OperationKind, _ columns: [String: Value] = [:], seen: [String: Value]?, now: [String: Value]?,
        local: [String] = []
    ) -> Bool {
        var change = LocalChange(kind: kind, table: "t", id: "a", columns: Self.row(columns))
        change.seen = seen.map(Self.row)
        var changes = SeenChanges()
        return changes.isMet(change, [1], local.exact, by: now.map(Self.row), TableTypes())
    }

    @Test func `an update meets another value in a column that it sets, or no row`() {
        #expect(!isMet(.update, ["n": 2], seen: ["n": 1], now: ["n": 1, "m": 5]))
        #expect(isMet(.update, ["n": 2], seen: ["n": 1], now: ["n": 3]))
        #expect(!isMet(.update, ["n": 2], seen: ["n": 1], now: ["n": 2]))
        #expect(isMet(.update, ["n": 2], seen: ["n": 1], now: nil))
        #expect(!isMet(.update, ["n": 2], seen: ["n": 1], now: ["n": 3], local: ["n"]))
        #expect(!isMet(.update, ["n": 2], seen: [:], now: ["n": .null]))
    }

    @Test func `an insert meets a row with another value, and a delete one that differs`() {
        #expect(!isMet(.insert, ["n": 1], seen: nil, now: nil))
        #expect(isMet(.insert, ["n": 1], seen: nil, now: ["n": 2]))
        #expect(!isMet(.insert, ["n": 1], seen: nil, now: ["m": 2]))
        #expect(!isMet(.delete, seen: ["n": 1], now: nil))
        #expect(!isMet(.delete, seen: ["n": 1, "version": "1"], now: ["n": 1, "version": "2"]))
        #expect(isMet(.delete, seen: ["n": 1], now: ["n": 1, "m": 2]))
        #expect(isMet(.delete, seen: nil, now: ["n": 1]))
    }

    @Test func `a later change of a transaction is compared in the columns that the earlier ones left`() {
        var changes = SeenChanges()
        func meets(_ columns: [String: Value], seen: [String: Value], now: [String: Value]) -> Bool {
            var change = LocalChange(kind: .update, table: "t", id: "a", columns: Self.row(columns))
            change.seen = Self.row(seen)
            return changes.isMet(change, [1], [], by: Self.row(now), TableTypes())
        }
        #expect(!meets(["n": 2], seen: ["n": 1, "m": 1], now: ["n": 1, "m": 9]))
        #expect(!meets(["n": 3], seen: ["n": 2, "m": 1], now: ["n": 1, "m": 9]))
        #expect(meets(["m": 3], seen: ["n": 3, "m": 1], now: ["n": 1, "m": 9]))
    }
}
