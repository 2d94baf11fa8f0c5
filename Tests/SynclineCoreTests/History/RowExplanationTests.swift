// Why a row is as it is, from events alone.

import Testing

@testable import SynclineCore

/// A few events about the rows of one table, and what they explain.
private struct Tale {
    private var records: [[UInt8]] = []
    private let projector: Projector

    init() throws {
        projector = try Projector()
    }

    @discardableResult
    mutating func add(_ bodies: Event.Body...) throws -> UInt64 {
        for body in bodies {
            let record = Event(time: Int64(records.count) * 1000, body).bytes
            try record.withUnsafeBytes { try projector.apply($0, number: UInt64(records.count) + 1) }
            records.append(Array(record))
        }
        return UInt64(records.count)
    }

    func why(_ id: String, onTheWay: Bool = false) throws -> RowExplanation {
        var blame = try Blame(table: "t", id: id, from: Projector())
        for (index, record) in records.enumerated() {
            try record.withUnsafeBytes { _ = try blame.fold($0, number: UInt64(index) + 1) }
        }
        var plan = try PushPlan(projector.reader(of: projector.store.snapshot)).operations
        if onTheWay { for index in plan.indices { plan[index].state = .inFlight } }
        return try RowExplanation(blame, plan: plan, key: projector.state.rowKey("t", id))
    }

    func absence(_ id: String) throws -> RowAbsence? {
        if case .hidden(let absence, _) = try why(id).visibility { absence } else { nil }
    }
}

private func columns(_ members: KeyValuePairs<String, Value>) -> Row {
    Row(members.map { .init($0.key, $0.value) })
}

private func local(_ kind: OperationKind, _ id: String, _ text: String? = nil, cancels: Bool = false) -> Event.Body {
    let row = text.map { columns(["text": .string($0)]) } ?? .empty
    return .local(
        LocalTransaction(
            [LocalChange(kind: kind, table: "t", id: id, columns: row, cancels: cancels)], isGrouped: false))
}

private func pulled(_ id: String, _ text: String?, version: String = "1", isAudit: Bool = false) -> Event.Body {
    let row = text.map { columns(["version": .string(version), "text": .string($0)]) }
    return .page(
        PulledPage(
            table: "t", queryID: "all", rows: [PulledRow(id: id, row: row)], cursor: nil, isAudit: isAudit))
}

private func sent(_ id: String, from first: UInt64, through last: UInt64? = nil) -> Event.Body {
    .sent([
        SentOperation(
            table: "t", id: id, operationID: "O", position: Position(event: first, index: 0),
            through: Position(event: last ?? first, index: 0))
    ])
}

private func answered(_ id: String, _ status: Int, _ outcome: Answer.Outcome, _ message: String? = nil) -> Event.Body {
    .answered(
        Answer(table: "t", id: id, operationID: "O", status: status, outcome: outcome, message: message))
}

@Suite struct RowExplanationTests {
    @Test func `each field knows the event that set it and whether the server has confirmed it`() throws {
        var tale = try Tale()
        try tale.add(pulled("a", "milk"), local(.update, "a", "oat milk"))
        let why = try tale.why("a")
        #expect(why.visibility == .visible)
        let fields = Dictionary(uniqueKeysWithValues: why.fields.map { ($0.origin.field, $0) })
        #expect(fields["text"]?.standing == .unconfirmed && fields["text"]?.origin.event == 2)
        #expect(fields["version"]?.standing == .confirmed && fields["version"]?.origin.event == 1)
        #expect(fields["version"]?.origin.provenance == .pull(queryID: "all", page: 1))
        #expect(why.operations.map(\.obstacle) == [.none] && why.operations.first?.number == 1)
        #expect(try tale.why("a", onTheWay: true).operations.first?.obstacle == .underWay)
    }

    @Test func `an operation says what it waits for`() throws {
        var tale = try Tale()
        try tale.add(pulled("a", "milk"), local(.update, "a", "oat milk"), sent("a", from: 2))
        #expect(try tale.why("a").operations.map(\.obstacle) == [.unanswered])
        #expect(try tale.why("a").attempt?.sent == 3)
        try tale.add(local(.update, "a", "soy milk"))
        #expect(try tale.why("a").operations.map(\.obstacle) == [.unanswered, .after(1)])
        try tale.add(answered("a", 500, .failing))
        #expect(
            try tale.why("a").operations.map(\.obstacle) == [.failing(times: 1, serverWorks: false), .after(1)])
        try tale.add(answered("a", 412, .conflict(server: nil, code: "row-gone"), "gone"))
        guard case .waits(let conflict)? = try tale.why("a").operations.first?.obstacle else {
            return #expect(Bool(false), "it is in conflict")
        }
        #expect(conflict.state == .conflict && conflict.status == 412 && conflict.message == "gone")
        #expect(conflict.server == nil)
    }

    @Test func `a refused operation is parked with the server's message`() throws {
        var tale = try Tale()
        try tale.add(local(.insert, "b", "x"), sent("b", from: 1), answered("b", 400, .parked, "no such column"))
        guard case .waits(let conflict)? = try tale.why("b").operations.first?.obstacle else {
            return #expect(Bool(false), "it is parked")
        }
        #expect(conflict.state == .parked && conflict.status == 400 && conflict.message == "no such column")
    }

    @Test func `a push that did not reach the server is remembered until the row changes again`() throws {
        var tale = try Tale()
        try tale.add(local(.insert, "a", "x"), sent("a", from: 1), answered("a", 0, .notReceived))
        #expect(try tale.why("a").operations.map(\.obstacle) == [.notReceived(status: 0)])
        #expect(try tale.why("a").attempt?.answered == 3)
        try tale.add(sent("a", from: 1), answered("a", 503, .notReceived))
        #expect(try tale.why("a").operations.map(\.obstacle) == [.notReceived(status: 503)])
        try tale.add(.discarded(table: "t", id: "a"), local(.insert, "a", "y"))
        #expect(try tale.why("a").operations.map(\.obstacle) == [.none])
    }

    @Test func `an invisible row says how it disappeared`() throws {
        var tale = try Tale()
        try tale.add(pulled("a", "milk"), local(.delete, "a"))
        #expect(try tale.absence("a") == .deletePending)
        try tale.add(sent("a", from: 2), answered("a", 204, .done(PulledRow(id: "a", row: nil))))
        #expect(try tale.absence("a") == .deleteConfirmed)
        try tale.add(local(.insert, "b", "x"), local(.delete, "b", cancels: true))
        #expect(try tale.absence("b") == .cameToNothing)
        try tale.add(local(.insert, "c", "x"), .undone(event: 7))
        #expect(try tale.absence("c") == .undone)
        try tale.add(local(.insert, "d", "x"), .discarded(table: "t", id: "d"))
        #expect(try tale.absence("d") == .dropped)
        try tale.add(pulled("e", "x"), pulled("e", nil))
        #expect(try tale.absence("e") == .goneInPull)
        try tale.add(pulled("f", "x"), pulled("f", nil, isAudit: true))
        #expect(try tale.absence("f") == .notFound)
        try tale.add(pulled("g", "x"), .purged(Purge(table: "t", ids: nil, isForced: true)))
        #expect(try tale.absence("g") == .purged)
        #expect(try tale.why("h").visibility == .unknown && tale.absence("h") == nil)
        try tale.add(pulled("e", "back"))
        #expect(try tale.why("e").visibility == .visible)
    }

    @Test func `a confirmed delete names the answer, and not a pull after it`() throws {
        var tale = try Tale()
        try tale.add(pulled("a", "milk"), local(.delete, "a"), sent("a", from: 2))
        let answer = try tale.add(answered("a", 204, .done(PulledRow(id: "a", row: nil))))
        try tale.add(pulled("a", nil), .purged(Purge(table: "t", ids: nil, isForced: true)))
        guard case .hidden(.deleteConfirmed, let gone) = try tale.why("a").visibility else {
            return #expect(Bool(false), "the delete was confirmed")
        }
        #expect(gone.latest.event == answer && gone.first.event == 2)
    }

    @Test func `a row that left the query of a pull, or whose right is lost, is not taken for a deleted one`() throws {
        for isByRight in [false, true] {
            var tale = try Tale()
            let row = PulledRow(id: "a", row: nil, hasLeft: true, isByRight: isByRight)
            let left = PulledPage(table: "t", queryID: "all", rows: [row], cursor: nil)
            try tale.add(pulled("a", "milk"), .page(left))
            #expect(try tale.absence("a") == (isByRight ? .rightLost : .left))
        }
    }

    @Test func `a change of a row whose right is lost names the loss until the server sends the row again`() throws {
        var tale = try Tale()
        try tale.add(pulled("a", "milk"), local(.update, "a", "mine"))
        #expect(try tale.why("a").lostRight == nil)
        let row = PulledRow(id: "a", row: nil, hasLeft: true, isByRight: true)
        let lost = try tale.add(.page(PulledPage(table: "t", queryID: "all", rows: [row], cursor: nil)))
        let why = try tale.why("a")
        #expect(why.visibility == .visible && why.lostRight == lost)
        guard case .waits(let conflict)? = why.operations.first?.obstacle else {
            return #expect(Bool(false), "the change waits for a decision")
        }
        #expect(conflict.reason == .rightLost && conflict.server == nil)
        try tale.add(pulled("a", "theirs"))
        #expect(try tale.why("a").lostRight == nil)
    }

    @Test func `a renamed column keeps the event that gave it its value`() throws {
        var tale = try Tale()
        let made = try tale.add(local(.insert, "a", "milk"))
        let steps: [SchemaStep] = [.renameColumn(table: "t", from: "text", to: "title")]
        try tale.add(.declared(Declaration(version: 2, isStrict: false, tables: []), steps: steps))
        let field = try #require(try tale.why("a").fields.first)
        #expect(field.origin.field == "title" && field.origin.event.rawValue == made)
        #expect(field.origin.provenance == .transaction(change: 1, of: 1))
    }
}
