// How often the outbox is searched for operations that await a decision.

import SynclineGround
import Testing

@testable import SynclineCore

@Suite struct LiveOutlookTests {
    /// A store with changes of the rows `a` and `b`, and how many searches its outlook took.
    private final class Outbox {
        let projector: Projector
        var live = LiveOutlook()
        private var before: StateReader

        init() throws {
            projector = try Projector()
            before = projector.reader(of: projector.store.endCommit())
            try live.load(before)
        }

        /// Records what happened to a row in a commit of its own. Returns whether the outlook changed.
        func record(_ id: String, _ body: Event.Body) throws -> Bool {
            try projector.apply(Event(time: 0, body), number: projector.through + 1)
            let after = projector.reader(of: projector.store.endCommit())
            let changes = TableChanges(of: "t", [RowKey.bytes("t", id, .exact)], from: before, to: after)
            before = after
            let isChanged = try live.update(changes)
            #expect(live.result.conflicts == (try after.conflicts()))
            #expect(live.result.pending == Int(projector.totals.pending))
            return isChanged
        }

        func change(_ id: String, _ value: Int64) throws -> Bool {
            let columns = Row([.init("n", .integer(value))])
            let change = LocalChange(kind: .update, table: "t", id: id, columns: columns)
            return try record(id, .local(LocalTransaction([change], isGrouped: false)))
        }

        func page(_ id: String, _ version: String) throws -> Bool {
            let row = Row([.init("version", .string(version)), .init("n", .integer(0))])
            return try record(
                id, .page(PulledPage(table: "t", queryID: nil, rows: [PulledRow(id: id, row: row)], cursor: nil)))
        }

        func send(_ id: String) throws -> Bool {
            let operation = try #require(try PushPlan(before).operations.first { $0.id == id })
            return try record(
                id,
                .sent([
                    SentOperation(
                        table: "t", id: id, operationID: "O" + id, position: operation.position,
                        through: operation.through)
                ]))
        }

        func answer(_ id: String, _ outcome: Answer.Outcome) throws -> Bool {
            try record(
                id, .answered(Answer(table: "t", id: id, operationID: "O" + id, status: 400, outcome: outcome)))
        }
    }

    @Test func `the outbox is searched only after commits that concern an operation that awaits a decision`() throws {
        let outbox = try Outbox()
        for (number, id) in ["a", "b"].enumerated() {
            #expect(try !outbox.page(id, "1"))
            #expect(try outbox.change(id, 1))
            #expect(outbox.live.result.pending == number + 1)
        }
        #expect(try !outbox.send("a"))
        #expect(outbox.live.loads == 1)
        #expect(try outbox.answer("a", .parked))
        #expect(outbox.live.loads == 2)
        #expect(outbox.live.result.conflicts.map(\.id) == ["a"])
        #expect(try outbox.change("b", 2))
        #expect(try !outbox.page("c", "1"))
        #expect(outbox.live.loads == 2)
        #expect(try outbox.change("a", 3))
        #expect(outbox.live.loads == 3)
        #expect(outbox.live.result.conflicts.first?.current?["n"] == .integer(3))
    }
}
