// Conditions, and the search for the event that made one true, compared with folding every event.

import LogTesting
import Testing

@testable import SynclineCore

@Suite struct ConditionTests {
    private static let seeds = (0..<40).map { UInt64($0) }

    @Test(arguments: seeds)
    func `pending counts what a push would send`(seed: UInt64) throws {
        var history = try RandomHistory(seed: seed)
        let condition = try Condition(parsing: "pending ge 1")
        for _ in 0..<120 {
            try history.step()
            let plan = try PushPlan(history.reader).operations
            let sent = plan.filter { operation in
                plan.allSatisfy { $0.rowKey != operation.rowKey || $0.state == .pending }
            }
            #expect(try condition.count(in: history.reader) == sent.count)
        }
    }

    /// 50 conditions of every kind on each of 40 histories, in random parts of them.
    @Test(arguments: seeds)
    func `a search finds the same event as checking every state`(seed: UInt64) throws {
        var history = try RandomHistory(seed: seed)
        for _ in 0..<60 { try history.step() }
        let count = UInt64(history.records.count)
        for _ in 0..<50 {
            let text = history.chance.condition()
            let condition = try Condition(parsing: text)
            let first = UInt64(history.chance.below(3) == 0 ? history.chance.below(Int(count)) : 0)
            let last = history.chance.once(in: 3) ? first + UInt64(history.chance.below(Int(count))) : .max
            let numbers = try numbers(of: condition, history, from: first, through: min(last, count))
            let truth = numbers.map { condition.holds($0) }
            let records = history.records
            let search = ConditionSearch(condition, through: last) { through, visit in
                for (index, record) in records.enumerated().dropFirst(Int(through)) {
                    guard try record.withUnsafeBytes({ try visit(UInt64(index) + 1, $0) }) else { return }
                }
            }
            let finding = try search.run {
                let start = try Projector()
                try start.fold(records[..<Int(first)])
                return start
            }
            let made = zip(numbers, numbers.dropFirst()).enumerated().first { _, pair in
                condition.isOnChanges ? pair.0 != pair.1 : !condition.holds(pair.0) && condition.holds(pair.1)
            }
            let event = made.map { first + UInt64($0.offset) + 1 }
            #expect(finding.event == event, "\(text) in \(first + 1)...\(last)")
            #expect(finding.heldBefore == truth[0], "\(text)")
            if event == nil {
                #expect(finding.ceased == truth.contains(false), "\(text)")
                #expect(finding.searched == (truth.count > 1 ? first + 1...min(last, count) : nil), "\(text)")
            } else {
                #expect(finding.searched?.upperBound == event && finding.searched?.lowerBound == first + 1, "\(text)")
            }
        }
    }

    /// What a condition counts before a part of a history and after each of its events, by querying the states.
    private func numbers(
        of condition: Condition, _ history: RandomHistory, from first: UInt64, through last: UInt64
    ) throws -> [Int] {
        let projector = try Projector()
        try projector.fold(history.records[..<Int(first)])
        var numbers = [try condition.number(in: projector)]
        guard last > first else { return numbers }
        for index in Int(first)..<Int(last) {
            try history.records[index].withUnsafeBytes { try projector.apply($0, number: UInt64(index) + 1) }
            projector.store.endCommit()
            numbers.append(try condition.number(in: projector))
        }
        return numbers
    }

    @Test func `a condition that is true in every state, or in none, is recognised`() throws {
        for (text, answer) in [
            ("count(t) lt 0", false), ("pending ge 0", true), ("not conflicts ge 0", false),
            ("count(t: a) eq -1", false),
            ("count(t) ne -3", true), ("pending le -9223372036854775808", false),
        ] {
            #expect(try Condition(parsing: text).constant == answer, "\(text)")
        }
        for text in [
            "pending", "conflicts", "count(t)", "count(t: a)", "count(t) lt 1", "pending eq 0", "t/a", "t: a",
            "conflicts ge 9223372036854775807",
        ] {
            #expect(try Condition(parsing: text).constant == nil, "\(text)")
        }
    }
}

extension Condition {
    /// The number by a query on the state, and by the list of the outbox.
    fileprivate func number(in projector: Projector) throws -> Int {
        let reader = projector.reader(of: projector.store.snapshot)
        switch subject {
        case .row(let focus, let filter):
            let rows = try reader.run(RowQuery(table: focus.table, filter: filter)).rows
            let key = projector.state.rowKey(focus.table, focus.id)
            return rows.count { projector.state.rowKey(focus.table, $0.id) == key }
        case .count(let table, let filter):
            return try reader.run(RowQuery(table: table, filter: filter)).rows.count
        case .pending: return try PushPlan(reader).toPush.count
        case .conflicts:
            return try PushPlan(reader).operations.count { $0.state == .conflict || $0.state == .parked }
        }
    }
}

extension Chance {
    /// A condition of any kind, as a person writes it.
    fileprivate mutating func condition() -> String {
        let table = pick(["a", "b", "caf\u{e9}"])
        let row = table + "/" + pick(["1", "2", "x", "X", "y", "\u{e9}"])
        let bound = pick(["eq", "ne", "gt", "ge", "lt", "le"]) + " \(below(5))"
        let text =
            switch below(9) {
            case 0: row
            case 1: row + "." + filter()
            case 2: row + ": " + filter() + pick([" and ", " or "]) + filter()
            case 3: table + ": " + filter()
            case 4: "count(\(table)) " + bound
            case 5: "count(\(table): \(filter())) " + bound
            case 6, 7: "pending " + bound
            default: "conflicts " + bound
            }
        if once(in: 8) { return pick(["pending", "conflicts", "count(\(table))", "count(\(table): \(filter()))"]) }
        return (once(in: 4) ? "not " : "") + text
    }

    private mutating func filter() -> String {
        pick(["a", "b", "c", "version"]) + " " + pick(["eq", "ne", "gt", "ge", "lt", "le"]) + " "
            + pick(["0", "-1", "63", "null", "'x'", "''", "true", "'v3'"])
    }
}
