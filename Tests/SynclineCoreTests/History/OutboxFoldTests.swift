// Readings of a history that fold only some rows give the same results as a fold of all of them: on random histories, in
// which other rows make round trips.

import LogTesting
import Testing

@testable import SynclineCore

@Suite struct OutboxFoldTests {
    private static let seeds = (0..<16).map { UInt64($0) }

    /// A random history whose further rows are changed, sent and answered.
    private func history(_ seed: UInt64) throws -> RandomHistory {
        var history = try RandomHistory(seed: seed)
        for _ in 0..<160 {
            if history.chance.once(in: 15) { try history.step() }
            let id = "trip-\(history.chance.below(20))"
            if history.chance.once(in: 25) { try history.disturb(id) } else { try history.moveOn(id) }
        }
        return history
    }

    /// Reads a history with a growing set of folded rows, until the set has all that must be folded.
    private func outbox(
        _ history: RandomHistory, _ body: (OutboxFold, UInt64) throws -> Void = { _, _ in }
    ) throws -> OutboxFold {
        var rows = FoldedRows()
        while true {
            var outbox = try OutboxFold(from: Projector(), folding: rows)
            for (index, record) in history.records.enumerated() {
                try record.withUnsafeBytes { try outbox.apply($0, number: UInt64(index) + 1) }
            }
            if outbox.isExact { break }
            rows = outbox.rows
        }
        var outbox = try OutboxFold(from: Projector(), folding: rows)
        for (index, record) in history.records.enumerated() {
            try record.withUnsafeBytes { try outbox.apply($0, number: UInt64(index) + 1) }
            try body(outbox, UInt64(index) + 1)
        }
        return outbox
    }

    @Test(arguments: seeds)
    func `the outbox is that of the fold after each event`(seed: UInt64) throws {
        let history = try history(seed)
        let projector = try Projector()
        let end = try outbox(history) { outbox, number in
            try history.records[Int(number) - 1].withUnsafeBytes { try projector.apply($0, number: number) }
            let reader = projector.reader(of: projector.store.snapshot)
            #expect(outbox.totals == projector.totals, "@\(number)")
            #expect(try outbox.toPush == PushPlan(reader).toPush.count, "@\(number)")
            #expect(try outbox.oldestPending == reader.oldestPending, "@\(number)")
        }
        #expect(end.projector.through == projector.through)
    }

    @Test(arguments: seeds)
    func `a search for a condition on the outbox finds the event that a fold of everything finds`(seed: UInt64) throws {
        let history = try history(seed)
        let last = UInt64(history.records.count)
        for text in [
            "pending gt 3", "pending eq 0", "conflicts ge 1", "pending gt 9", "conflicts gt 2", "pending lt 2",
        ] {
            let condition = try Condition(parsing: text)
            for first in [0, last / 2] {
                func start() throws -> Projector {
                    let projector = try Projector()
                    try projector.fold(history.records[..<Int(first)])
                    return projector
                }
                let search = ConditionSearch(condition) { through, visit in
                    for (index, record) in history.records.enumerated().dropFirst(Int(through)) {
                        guard try record.withUnsafeBytes({ try visit(UInt64(index) + 1, $0) }) else { return }
                    }
                }
                let finding = try search.run(from: start)
                let projector = try start()
                var held = try condition.holds(condition.count(in: projector.reader(of: projector.store.snapshot)))
                #expect(finding.heldBefore == held)
                var event: UInt64?
                for number in first + 1...last where event == nil {
                    try history.records[Int(number) - 1].withUnsafeBytes { try projector.apply($0, number: number) }
                    let reader = projector.reader(of: projector.store.snapshot)
                    let holds = try condition.holds(condition.count(in: reader))
                    if holds, !held { event = number }
                    held = holds
                }
                #expect(finding.event == event, "\(text) after @\(first)")
            }
        }
    }

    @Test func `most rows of a plain history are not folded`() throws {
        var history = try RandomHistory(seed: 1)
        for step in 0..<300 { try history.moveOn("trip-\(step % 7)") }
        let outbox = try outbox(history)
        #expect(outbox.totals == history.projector.totals && outbox.totals.done > 90)
        #expect(outbox.projector.totals == ChangeCounts())
    }

    @Test func `a row is folded if anything else happens to its change`() throws {
        let theirs = Row([.init("version", .string("w")), .init("n", .integer(0))])
        let change = LocalChange(kind: .update, table: "a", id: "x", columns: Row([.init("n", .integer(9))]))
        let answer = Answer(table: "a", id: "x", operationID: "T5", status: 400, outcome: .parked)
        let others: [Event.Body] = [
            .page(PulledPage(table: "a", queryID: "q", rows: [PulledRow(id: "x", row: theirs)], cursor: nil)),
            .page(PulledPage(table: "a", queryID: "q", rows: [PulledRow(id: "x", row: nil)], cursor: nil)),
            .local(LocalTransaction([change], isGrouped: false)), .undone(event: 4),
            .discarded(table: "a", id: "x"), .purged(Purge(table: "a", ids: ["x"], isForced: true)),
            .purged(Purge(table: "a", ids: nil, isForced: true)), .answered(answer),
            .configured(name: Hold.setting(RowKey(table: "a", id: "x")), value: .string("x")),
        ]
        for body in others {
            var history = try RandomHistory(seed: 1)
            for _ in 0..<4 { try history.moveOn("x") }
            if case .answered = body { try history.moveOn("x") }
            try history.record(body)
            let outbox = try outbox(history)
            let reader = history.reader
            #expect(outbox.totals == history.projector.totals, "\(body)")
            #expect(try outbox.toPush == PushPlan(reader).toPush.count, "\(body)")
            #expect(try outbox.oldestPending == reader.oldestPending, "\(body)")
            #expect(outbox.projector.totals != ChangeCounts(), "\(body)")
        }
    }

    @Test(arguments: seeds)
    func `every change has the same fate`(seed: UInt64) throws {
        let history = try history(seed)
        func account(_ rows: FoldedRows) throws -> (FoldedRows?, [ChangeFate], AccountingResult) {
            var accounting = try Accounting(from: Projector(), folding: rows)
            var told: [ChangeFate] = []
            for (index, record) in history.records.enumerated() {
                try record.withUnsafeBytes { try accounting.fold($0, number: UInt64(index) + 1) { told.append($0) } }
            }
            let missing = accounting.missing
            let result = try accounting.finish { told.append($0) }
            return (missing, told, result)
        }
        let whole = try account(FoldedRows(areAll: true))
        var part = try account(FoldedRows())
        while let missing = part.0 { part = try account(missing) }
        #expect(part.1 == whole.1)
        #expect(part.2.sums == whole.2.sums && part.2.totals == whole.2.totals && part.2.void == whole.2.void)
        #expect(part.2.isBalanced && part.2.through == whole.2.through)
    }

    @Test(arguments: seeds)
    func `a variation changes no row that is not folded`(seed: UInt64) throws {
        let history = try history(seed)
        var chance = Chance(seed: seed)
        var variation = ReplayVariation()
        for _ in 0..<(1 + chance.below(3)) {
            variation.without.insert(UInt64(1 + chance.below(history.records.count)))
        }
        variation.policy = chance.pick([nil, .clientWins, .serverWins, .merge])
        let events = try history.records.map { try $0.withUnsafeBytes { try Event($0) } }
        func replay(_ keys: Set<[UInt8]>?) throws -> (Replay, [ReplayStep], [ReplayStep.Decision]) {
            var replay = Replay(from: try Projector(), variation, of: keys)
            var steps: [ReplayStep] = []
            for (index, event) in events.enumerated() {
                let step = try replay.step(event, number: UInt64(index) + 1)
                if step.outcome != .folded || !step.decisions.isEmpty { steps.append(step) }
            }
            let decisions = try steps.flatMap(\.decisions) + replay.finish()
            return (replay, steps, decisions)
        }
        var rows = VariedRows(variation, from: try Projector())
        for (index, event) in events.enumerated() {
            rows.add(event, number: UInt64(index) + 1) { events[Int($0) - 1] }
        }
        var part = try replay(rows.keys)
        while rows.add(impossible: part.1) { part = try replay(rows.keys) }
        let whole = try replay(nil)
        #expect(part.1.map(\.number) == whole.1.map(\.number) && part.1.map(\.outcome) == whole.1.map(\.outcome))
        #expect(part.2.map(\.event) == whole.2.map(\.event) && part.2.map(\.resolution) == whole.2.map(\.resolution))
        guard let keys = rows.keys?.sorted(by: { $0.lexicographicallyPrecedes($1) }) else { return }
        let happened = history.reader
        var (found, expected): ([RowDifference], [RowDifference]) = ([], [])
        try happened.differences(of: keys, to: part.0.reader) { found.append($0) }
        try happened.differences(to: whole.0.reader) { expected.append($0) }
        #expect(found == expected)
        let sent = try PushCounts(happened).toPush - happened.sentCount(of: keys) + part.0.reader.sentCount(of: keys)
        #expect(try sent == PushCounts(whole.0.reader).toPush)
    }
}

extension RandomHistory {
    /// Changes a row again, or shows it in a page.
    fileprivate mutating func disturb(_ id: String) throws {
        let columns = Row([.init("n", .integer(Int64(chance.below(3))))])
        if chance.once(in: 2), try reader.entry("a", id)?.isPresent == true {
            let change = LocalChange(kind: .update, table: "a", id: id, columns: columns)
            return try record(.local(LocalTransaction([change], isGrouped: false)))
        }
        let version = Row([.init("version", .string("w\(next)"))])
        let row = PulledRow(id: id, row: chance.once(in: 4) ? nil : version.merged(with: columns))
        try record(.page(PulledPage(table: "a", queryID: "q0", rows: [row], cursor: nil)))
    }

    /// Changes a row, or sends or answers its change.
    fileprivate mutating func moveOn(_ id: String) throws {
        let pending = try reader.entry("a", id)?.pending
        guard let pending else {
            let kind = try reader.entry("a", id)?.base == nil ? OperationKind.insert : .update
            let columns = Row([.init("n", .integer(Int64(next)))])
            let change = LocalChange(kind: kind, table: "a", id: id, columns: columns)
            return try record(.local(LocalTransaction([change], isGrouped: chance.once(in: 3))))
        }
        guard pending.count == 1 else { return }
        guard let frozen = pending.frozen else {
            if pending.operation == nil { return }
            return try record(
                .sent([
                    SentOperation(
                        table: "a", id: id, operationID: "T\(next)", position: pending.first, through: pending.last)
                ]))
        }
        guard frozen.status == .inFlight else { return }
        let row = Row([.init("version", .string("v\(next)"))]).merged(with: frozen.columns)
        try record(
            .answered(
                Answer(
                    table: "a", id: id, operationID: frozen.operationID, status: 200,
                    outcome: .done(PulledRow(id: id, row: row)))))
    }
}
