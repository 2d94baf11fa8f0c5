// The effect of a pulled row on pending changes: quiet rebase, immediate conflict, agreement.

import Testing

@testable import SynclineCore

@Suite struct PageTests {
    private let projector: Projector

    init() throws {
        projector = try Projector()
        try pull(["version": "1", "a": "base", "b": "base"])
    }

    private func pull(_ columns: [String: String]?, event: UInt64 = 1) throws {
        let row = columns.map { Row($0.sorted { $0.key < $1.key }.map { .init($0.key, .string($0.value)) }) }
        let page = PulledPage(table: "t", queryID: nil, rows: [.init(id: "r", row: row)], cursor: nil)
        try projector.apply(Event(time: 0, .page(page)), number: event)
    }

    private func change(_ kind: OperationKind, _ columns: [String: String] = [:]) throws {
        var writer = LocalTransactionWriter(
            projector, number: projector.through + 1, time: 0, TransactionHeading(isGrouped: false))
        try writer.change(kind, "t", "r", Row(columns.map { .init($0.key, .string($0.value)) }))
        _ = try writer.finish()
    }

    private var reader: StateReader { StateReader(projector.store.snapshot, projector.shapes) }

    private func row() throws -> [String: Value]? {
        try reader.row("t", "r").map {
            Dictionary(uniqueKeysWithValues: $0.columns.members.map { ($0.name, $0.value) })
        }
    }

    private func plan() throws -> [PlannedOperation.State] { try PushPlan(reader).operations.map(\.state) }

    private func code() throws -> String? { try reader.entry("t", "r")?.pending?.frozen?.code }

    @Test func `another column rebases quietly`() throws {
        try change(.update, ["a": "mine"])
        try pull(["version": "2", "a": "base", "b": "theirs"], event: 3)
        #expect(try row() == ["version": .string("2"), "a": .string("mine"), "b": .string("theirs")])
        #expect(try plan() == [.pending])
    }

    @Test func `the same column with the same value is not a conflict, with another it is`() throws {
        try change(.update, ["a": "mine"])
        try pull(["version": "2", "a": "mine", "b": "base"], event: 3)
        #expect(try plan() == [.pending])
        try change(.update, ["b": "mine"])
        try pull(["version": "3", "a": "mine", "b": "theirs"], event: 5)
        #expect(try plan() == [.conflict])
        #expect(try code() == "conflict")
        #expect(try row()?["b"] == .string("mine"))
        let error = #expect(throws: SyncError.self) { try change(.insert, ["a": "new"]) }
        #expect(error?.code == .rowExists)
        try change(.update, ["a": "later"])
        #expect(try plan() == [.conflict, .pending])
    }

    private func loseRight() throws {
        let row = PulledRow(id: "r", row: nil, hasLeft: true, isByRight: true)
        let page = PulledPage(table: "t", queryID: nil, rows: [row], cursor: nil)
        try projector.apply(Event(time: 0, .page(page)), number: projector.through + 1)
    }

    private func send() throws {
        let operation = try #require(try PushPlan(reader).operations.first)
        let sent = SentOperation(
            table: "t", id: "r", operationID: "o", position: operation.position, through: operation.through)
        try projector.apply(Event(time: 0, .sent([sent])), number: projector.through + 1)
    }

    private func answer(_ status: Int, _ outcome: Answer.Outcome) throws {
        let answer = Answer(table: "t", id: "r", operationID: "o", status: status, outcome: outcome)
        try projector.apply(Event(time: 0, .answered(answer)), number: projector.through + 1)
    }

    private static let gone = Answer.Outcome.conflict(server: nil, code: "row-gone")

    @Test(arguments: [OperationKind.update, .delete], [Answer.Outcome?.none, gone, .parked])
    func `the reason of a lost right reaches a change before, while and after the server refuses it`(
        _ kind: OperationKind, _ outcome: Answer.Outcome?
    ) throws {
        for isFirst in [true, false] {
            try pull(["version": "9", "a": "base", "b": "base"], event: projector.through + 1)
            try change(kind, kind == .update ? ["a": "mine"] : [:])
            if outcome != nil { try send() }
            if isFirst { try loseRight() }
            if kind == .update { #expect(try row()?["b"] == .string("base"), "the whole row stays visible") }
            if let outcome { try answer(404, outcome) }
            if !isFirst { try loseRight() }
            #expect(try code() == "right-lost")
            let entry = try reader.entry("t", "r")
            #expect(entry?.isRightLost == true && entry?.base == nil)
            // A second page says nothing new.
            let page = PulledPage(
                table: "t", queryID: nil, rows: [.init(id: "r", row: nil, hasLeft: true, isByRight: true)], cursor: nil)
            #expect(try projector.pages.applyNews(page, number: projector.through + 1).news == nil)
            if kind == .update { #expect(try row()?["b"] == .string("base")) }
            // Given back, it is an ordinary conflict, or an ordinary refusal.
            try pull(["version": "10", "a": "theirs", "b": "base"], event: projector.through + 1)
            #expect(try code() == (plan() == [.parked] ? "rejected" : "conflict"))
            try projector.apply(
                Event(time: 0, .discarded(table: "t", id: "r")), number: projector.through + 1)
        }
    }

    @Test func `the reason of a lost right outlives a migration, a later change and a decision about the first`() throws
    {
        try change(.update, ["a": "mine"])
        try loseRight()
        let schema = Declaration(version: 2, isStrict: false, tables: [])
        let steps: [SchemaStep] = [.renameColumn(table: "t", from: "a", to: "z")]
        try projector.apply(Event(time: 0, .declared(schema, steps: steps)), number: projector.through + 1)
        #expect(try code() == "right-lost" && row()?["z"] == .string("mine"))
        try change(.update, ["b": "later"])
        #expect(try plan() == [.conflict, .pending])
        let resolution = Resolution(table: "t", id: "r", choice: .takeServer, change: nil, policy: nil)
        try projector.apply(Event(time: 0, .resolved(resolution)), number: projector.through + 1)
        #expect(try plan() == [.pending])
        try send()
        try answer(404, Self.gone)
        #expect(try code() == "right-lost")
    }

    @Test func `a state that an own write replaced is news only if everything is read again`() throws {
        try change(.update, ["a": "mine"])
        let operation = try #require(try PushPlan(reader).operations.first)
        let sent = SentOperation(
            table: "t", id: "r", operationID: "o", position: operation.position, through: operation.through)
        try projector.apply(Event(time: 0, .sent([sent])), number: projector.through + 1)
        let stored = Row(
            ["version": "2", "a": "mine", "b": "base"].sorted { $0.key < $1.key }.map { .init($0, .string($1)) })
        let answer = Answer(
            table: "t", id: "r", operationID: "o", status: 200, outcome: .done(PulledRow(id: "r", row: stored)))
        try projector.apply(Event(time: 0, .answered(answer)), number: projector.through + 1)
        func pull(isAuditDue: Bool) throws {
            let old = Row(
                ["version": "1", "a": "base", "b": "base"].sorted { $0.key < $1.key }.map { .init($0, .string($1)) })
            let place = CursorState.Place.changes("c", isAuditDue: isAuditDue)
            let page = PulledPage(
                table: "t", queryID: "q", rows: [.init(id: "r", row: old)],
                cursor: CursorState(place, query: "", updated: 0))
            try projector.apply(Event(time: 0, .page(page)), number: projector.through + 1)
        }
        try pull(isAuditDue: false)
        #expect(try row()?["a"] == .string("mine"), "a copy of the server that lags")
        try pull(isAuditDue: true)
        #expect(try row()?["a"] == .string("base"), "the write was lost in a failover")
    }

    @Test func `a base that lacks columns is completed by the same version, which is not a conflict`() throws {
        try pull(["version": "2", "a": "base"], event: 2)
        try change(.update, ["a": "mine", "c": "mine"])
        try pull(["version": "2", "a": "base", "b": "base", "c": "base"], event: 4)
        #expect(try plan() == [.pending])
        #expect(
            try row() == [
                "version": .string("2"), "a": .string("mine"), "b": .string("base"), "c": .string("mine"),
            ])
        let base = try #require(try reader.entry("t", "r")?.base)
        #expect(base["c"] == .string("base"))
        // Another version that has another value is a conflict as always.
        try pull(["version": "3", "a": "theirs"], event: 5)
        #expect(try plan() == [.conflict])
    }

    @Test func `the same version changes the base only if it has a column with a value that the base lacks`() throws {
        func isNews(_ columns: [Value.Member]) throws -> Bool {
            let page = PulledPage(
                table: "t", queryID: nil, rows: [.init(id: "r", row: Row(columns))], cursor: nil)
            return try projector.pages.applyNews(page, number: projector.through + 1).news != nil
        }
        let version = Value.Member("version", .string("1"))
        #expect(try !isNews([version, .init("a", .string("base"))]))
        #expect(try !isNews([version, .init("c", .null), .init("deleted", .bool(false))]))
        #expect(try isNews([version, .init("c", .integer(1))]))
        #expect(try !isNews([version, .init("c", .integer(1))]))
        // The columns that it does not have are still known.
        #expect(try reader.entry("t", "r")?.base?["a"] == .string("base"))
    }

    @Test func `a pending delete conflicts with another version, and agrees with a tombstone`() throws {
        try change(.delete)
        try pull(["version": "1", "a": "base", "b": "base"], event: 3)
        #expect(try plan() == [.pending])
        try pull(nil, event: 4)
        #expect(try plan().isEmpty)
        #expect(projector.totals.done == 1)
        try pull(["version": "2"], event: 5)
        try change(.delete)
        try pull(["version": "3"], event: 7)
        #expect(try plan() == [.conflict])
        #expect(try row() == nil)
    }

    @Test func `a tombstone over an update is a conflict, and the app's row stays`() throws {
        try change(.update, ["a": "mine"])
        try pull(nil, event: 3)
        #expect(try plan() == [.conflict])
        #expect(try code() == "row-gone")
        #expect(try row() == ["version": .string("1"), "a": .string("mine"), "b": .string("base")])
        try change(.update, ["b": "later"])
        #expect(try row()?["b"] == .string("later"))
        try pull(["version": "5", "a": "theirs", "b": "base"], event: 5)
        #expect(try reader.entry("t", "r")?.pending?.frozen?.server?["version"] == .string("5"))
        #expect(try code() == "conflict")
    }

    @Test func `a pending insert waits for the push, even if the row was created and deleted meanwhile`() throws {
        try pull(nil, event: 2)
        try change(.insert, ["a": "mine"])
        try pull(["version": "9", "a": "theirs"], event: 4)
        #expect(try plan() == [.pending])
        #expect(try row()?["a"] == .string("mine"))
        try pull(nil, event: 5)
        #expect(try plan() == [.pending])
        #expect(try row()?["a"] == .string("mine"))
    }

    @Test func `a row inserted in place of one that was sent leaves nothing of it`() throws {
        try change(.update, ["a": "mine", "c": "mine"])
        try pull(["version": "2", "a": "theirs", "b": "base"], event: 3)
        try change(.delete)
        try change(.insert, ["a": "new"])
        let overlay = try #require(try reader.entry("t", "r")?.pending?.overlay)
        #expect(overlay["a"] == .string("new"))
        #expect(overlay["b"] == .null)
        #expect(overlay["c"] == .null)
    }
}
