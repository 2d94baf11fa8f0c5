// Every decision about every kind of operation, with and without later changes: what is left to be pushed, the
// balance, and that the log folds to the same bytes again.

import Testing

@testable import SynclineCore

/// A store that got into a conflict, event by event.
private struct Play {
    let projector: Projector
    var records: [[UInt8]] = []
    private static let base = Row([
        .init("version", .string("1")), .init("a", .integer(1)), .init("b", .integer(1)), .init("c", .integer(1)),
    ])

    init() throws { projector = try Projector() }

    mutating func record(_ body: Event.Body) throws {
        let event = Event(time: 0, body)
        try projector.apply(event, number: UInt64(records.count) + 1)
        records.append(event.bytes)
    }

    mutating func change(_ kind: OperationKind, _ columns: [String: Int64] = [:]) throws {
        var writer = LocalTransactionWriter(
            projector, number: UInt64(records.count) + 1, time: 0, TransactionHeading(isGrouped: false))
        try writer.change(
            kind, "t", "r", Row(columns.sorted { $0.key < $1.key }.map { .init($0.key, .integer($0.value)) }))
        if let record = try writer.finish() { records.append(record) }
    }

    var reader: StateReader { StateReader(projector.store.snapshot, projector.shapes) }

    func plan() throws -> [PlannedOperation] { try PushPlan(reader).operations }

    /// An operation of a kind with a given response of the server.
    mutating func begin(_ kind: OperationKind, _ outcome: Answer.Outcome) throws {
        if kind != .insert {
            try record(
                .page(
                    PulledPage(
                        table: "t", queryID: nil, rows: [PulledRow(id: "r", row: Play.base)], cursor: nil)))
        }
        try change(kind, kind == .delete ? [:] : ["a": 2])
        let operation = try #require(try plan().first)
        try record(
            .sent([
                SentOperation(
                    table: "t", id: "r", operationID: "O", position: operation.position, through: operation.through)
            ]))
        try record(.answered(Answer(table: "t", id: "r", operationID: "O", status: 412, outcome: outcome)))
    }

    /// What the app does after the operation, as far as it may.
    mutating func follow(_ count: Int, _ kind: OperationKind) throws {
        switch (count, kind) {
        case (1, .delete): try change(.insert, ["b": 7])
        case (1, _): try change(.update, ["b": 7])
        case (2, .delete):
            try change(.insert, ["b": 7])
            try change(.delete)
        case (2, _): try change(.delete)
        default: break
        }
    }

    func check() throws {
        let again = try Projector()
        try again.fold(records[...])
        projector.store.endCommit()
        #expect(try again.agrees(with: projector))
        var journal: UInt64 = 0
        try reader.forEachChange { _, _ in
            journal += 1
            return true
        }
        #expect(projector.totals.pending == journal)
        try checkAccount()
    }

    /// Each change has one fate, found by what left the outbox, and the fold's counts agree.
    private func checkAccount() throws {
        var accounting = try Accounting(from: Projector())
        var fates: [Position: Fate] = [:]
        for (index, record) in records.enumerated() {
            try record.withUnsafeBytes {
                try accounting.fold($0, number: UInt64(index) + 1) { change in
                    #expect(fates.updateValue(change.fate, forKey: change.position) == nil)
                }
            }
        }
        let result = try accounting.finish()
        #expect(result.isBalanced, "\(result.differences)")
        #expect(result.sums[.resolved] == projector.totals.resolved)
        #expect(fates.values.allSatisfy { [.done, .resolved, .superseded].contains($0) })
    }
}

@Suite struct ConflictTests {
    private static let server = Row([
        .init("version", .string("9")), .init("a", .integer(1)), .init("b", .integer(1)), .init("c", .integer(9)),
    ])
    private static let answers: [Answer.Outcome] = [
        .conflict(server: server, code: "conflict"), .conflict(server: nil, code: "row-gone"), .parked,
    ]
    private static let decisions: [ConflictDecision] =
        [.takeServer, .keepMine, .merge, .row(Row([.init("a", .integer(5))]))]
        + OperationKind.allCases.map { .row(Row([.init("a", .integer(5))]), as: $0) }

    /// The operations left if nothing was changed after the conflict.
    private static func expected(
        _ kind: OperationKind, _ answer: Answer.Outcome, _ decision: ConflictDecision
    ) -> OperationKind? {
        var hasServer = false
        var isGone = false
        switch answer {
        case .conflict(let server, _): (hasServer, isGone) = (server != nil, server == nil)
        default: break
        }
        let hasBase = hasServer || !isGone && kind != .insert
        switch decision {
        case .takeServer, .leave: return nil
        case .keepMine, .merge:
            if answer == .parked { return kind }
            if kind == .delete { return hasServer ? .delete : nil }
            return hasServer ? .update : .insert
        // A row that is gone can only be inserted, or left alone.
        case .row(_, .delete?): return hasBase ? .delete : nil
        case .row(_, let chosen?): return isGone ? .insert : chosen
        case .row(_, nil): return hasBase ? .update : .insert
        }
    }

    @Test func `each decision leaves what it says, and balances`() throws {
        for kind in OperationKind.allCases {
            for answer in Self.answers {
                for decision in Self.decisions {
                    for later in 0...2 {
                        var play = try Play()
                        try play.begin(kind, answer)
                        try play.follow(later, kind)
                        let comment: Comment = "\(kind), \(answer), \(decision), \(later) later changes"
                        let conflict = try #require(try play.reader.conflicts().first, comment)
                        let entry = try #require(try play.reader.entry("t", "r"), comment)
                        let hasBase = entry.base != nil
                        let resolution: Resolution?
                        do throws(SyncError) {
                            resolution = try conflict.resolution(decision, hasBase: hasBase)
                        } catch {
                            #expect(error.code == .mergeConflict && decision == .merge, comment)
                            continue
                        }
                        let event = try #require(resolution, comment)
                        try play.record(.resolved(event))
                        try play.check()
                        #expect(try play.reader.conflicts().isEmpty, comment)
                        let kinds = try play.plan().map(\.kind)
                        #expect(kinds.count <= 1, comment)
                        if later == 0 {
                            #expect(kinds.first == Self.expected(kind, answer, decision), comment)
                            let seen = try play.reader.entry("t", "r")?.visible
                            #expect(seen == entry.visible(after: event.change), comment)
                        } else if later == 2 {
                            // If the last change is a delete, the row is gone, or will be.
                            #expect(try play.reader.row("t", "r") == nil, comment)
                            #expect(kinds.isEmpty || kinds == [.delete], comment)
                        } else if kind != .delete, case .row(_, .delete?) = decision {
                            // The later updates are removed with the row.
                            #expect(try play.reader.row("t", "r") == nil, comment)
                            #expect(kinds.isEmpty || kinds == [.delete], comment)
                        } else {
                            #expect(try play.reader.row("t", "r")?.columns["b"] == .integer(7), comment)
                            if kind == .delete, hasBase { #expect(kinds == [.update], comment) }
                        }
                        try finish(&play, comment)
                    }
                }
            }
        }
    }

    /// What is left is sent and done: nothing remains.
    private func finish(_ play: inout Play, _ comment: Comment) throws {
        if let operation = try play.plan().first {
            try play.record(
                .sent([
                    SentOperation(
                        table: "t", id: "r", operationID: "P", position: operation.position,
                        through: operation.through)
                ]))
            let row = operation.kind == .delete ? nil : Self.server
            try play.record(
                .answered(
                    Answer(
                        table: "t", id: "r", operationID: "P", status: 200,
                        outcome: .done(PulledRow(id: "r", row: row)))))
        }
        for void in try PushPlan(play.reader).voids {
            let first = try play.reader.entry(key: void.rowKey)?.pending?.first
            try play.record(
                .sent([
                    SentOperation(
                        table: "t", id: "r", operationID: nil, position: try #require(first), through: void.through)
                ]))
        }
        let totals = play.projector.totals
        #expect(totals.pending == 0, comment)
        #expect(totals.made == totals.done + totals.superseded + totals.cancelled + totals.resolved, comment)
        try play.check()
    }

    @Test func `N31: a decision depends only on the three rows, not on the order of the columns`() throws {
        let names = ["a", "b"]
        var found: Set<String> = []
        for order in [names, names.reversed()] {
            var play = try Play()
            try play.record(
                .page(
                    PulledPage(
                        table: "t", queryID: nil,
                        rows: [PulledRow(id: "r", row: Row([.init("version", .string("1"))]))], cursor: nil)))
            for name in order { try play.change(.update, [name: 3]) }
            let operation = try #require(try play.plan().first)
            try play.record(
                .sent([
                    SentOperation(
                        table: "t", id: "r", operationID: "O", position: operation.position,
                        through: operation.through)
                ]))
            let answer = Answer(
                table: "t", id: "r", operationID: "O", status: 412,
                outcome: .conflict(server: Self.server.filter { $0.name != "a" && $0.name != "b" }, code: "conflict"))
            try play.record(.answered(answer))
            let conflict = try #require(try play.reader.conflicts().first)
            let change = try #require(try conflict.resolution(.merge, hasBase: true)?.change)
            found.insert(change.columns.members.map { "\($0.name)=\($0.value)" }.sorted().joined(separator: ","))
        }
        #expect(found.count == 1)
    }
}
