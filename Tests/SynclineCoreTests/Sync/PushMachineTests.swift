// The order of a push, who waits for whom, what is tried again, and what stops everything; one at a time and four at once.

import Testing

@testable import SynclineCore

@Suite struct PushMachineTests {
    private static func plan(_ ids: String...) -> [PlannedOperation] {
        ids.enumerated().map { PushDesk.operation($1, UInt64($0 + 1)) }
    }

    @Test func `one at a time they go in order`() {
        var desk = PushDesk(Self.plan("a", "b", "c"))
        for _ in 0..<3 {
            #expect(desk.waiting.count == 1)
            desk.agree()
        }
        #expect(desk.sent == ["update a", "update b", "update c"])
        #expect(desk.machine.outcome == .complete)
    }

    @Test func `four at once they begin in order, and no more than four`() {
        var desk = PushDesk(Self.plan("a", "b", "c", "d", "e", "f")) { $0.concurrency = 4 }
        #expect(desk.sent == ["update a", "update b", "update c", "update d"])
        desk.agree(at: 2)
        #expect(desk.waiting.count == 4)
        while !desk.waiting.isEmpty { desk.agree(at: desk.waiting.count - 1) }
        #expect(desk.sent.count == 6)
        #expect(desk.machine.outcome == .complete)
    }

    private static func sameRow() -> [PlannedOperation] {
        [
            PushDesk.operation("a", 1, isOneOfSeveral: true, maybeSent: true), PushDesk.operation("b", 2),
            PushDesk.operation("a", 3, isOneOfSeveral: true),
        ]
    }

    @Test func `two of one row never overlap`() {
        var desk = PushDesk(Self.sameRow()) { $0.concurrency = 4 }
        #expect(desk.sent == ["update a", "update b"])
        desk.agree(at: 1)
        #expect(desk.waiting.count == 1)
        desk.agree()
        #expect(desk.sent.last == "update a")
        desk.agree()
        #expect(desk.machine.outcome == .complete)
    }

    @Test(arguments: [1, 4])
    func `a conflict or a refusal holds back its own row alone`(concurrency: Int) {
        for status in [412, 403] {
            var desk = PushDesk(Self.sameRow()) { $0.concurrency = concurrency }
            desk.answer(status, ["version": .string("7"), "a": .integer(7)])
            while !desk.waiting.isEmpty { desk.agree() }
            let code = status == 412 ? "conflict" : "rejected"
            #expect(desk.outcomes == [code, "done", code])
            #expect(desk.machine.outcome == .incomplete)
            #expect(desk.sent.count == 2)
        }
    }

    @Test func `what waits for a decision is not sent, nor what stands behind it`() {
        let plan = [
            PushDesk.operation("a", 1, state: .conflict, isOneOfSeveral: true),
            PushDesk.operation("a", 2, isOneOfSeveral: true), PushDesk.operation("b", 3, state: .parked),
            PushDesk.operation("c", 4),
        ]
        var desk = PushDesk(plan)
        desk.agree()
        #expect(desk.sent == ["update c"])
        #expect(desk.outcomes == ["conflict", "conflict", "rejected", "done"])
    }

    @Test(arguments: [1, 4])
    func `no connection stops everything, and the operation stays frozen`(concurrency: Int) {
        var desk = PushDesk(Self.plan("a", "b", "c", "d", "e")) { $0.concurrency = concurrency }
        desk.fail(.offline("gone"))
        #expect(desk.thawed == 0)
        // Those on their way are waited for, and counted.
        while !desk.waiting.isEmpty { desk.agree() }
        #expect(desk.machine.stop?.code == .offline)
        #expect(desk.sent.count == concurrency)
        #expect(desk.outcomes == ["offline"] + (1..<5).map { $0 < concurrency ? "done" : "offline" })
    }

    @Test(arguments: [1, 4])
    func `an answer that could not be stored leaves its operation pending`(concurrency: Int) {
        var desk = PushDesk(Self.plan("a", "b", "c")) { $0.concurrency = concurrency }
        desk.trouble = SyncError(.diskFull, "full", hint: "")
        desk.agree()
        #expect(desk.machine.items.allSatisfy { $0.report.outcome == .pending })
        #expect(desk.outcomes.first == "disk-full")
        #expect(desk.machine.outcome == .stopped(SyncError(.diskFull, "full", hint: "")))
    }

    @Test func `a server that asks to wait longer than anybody would stops the push`() {
        for asked in [ServerReply.RetryAfter.milliseconds(300_000), .milliseconds(300_001)] {
            var desk = PushDesk(Self.plan("a"))
            var reply = ServerReply(status: 503, content: .unreadable(""))
            reply.retryAfter = asked
            desk.answer(reply)
            #expect(desk.waits.count == (asked == .milliseconds(300_000) ? 1 : 0))
        }
    }

    @Test func `after 429 to the end an operation thaws, unless it may have arrived before`() {
        var desk = PushDesk(Self.plan("a", "b"))
        for _ in 0..<4 { desk.answer(429) }
        #expect(desk.waits == [1, 2, 3])
        #expect(desk.thawed == 1)
        #expect(desk.machine.stop?.code == .serverError)
        #expect(desk.sent == ["update a", "update a", "update a", "update a"])

        desk = PushDesk(Self.plan("a"))
        desk.answer(503)
        for _ in 0..<3 { desk.answer(429) }
        #expect(desk.thawed == 0)

        desk = PushDesk([PushDesk.operation("a", 1, maybeSent: true)])
        for _ in 0..<4 { desk.answer(429) }
        #expect(desk.thawed == 0)
    }

    @Test func `408 and 5xx are tried again so often, then stop with the operation frozen`() {
        for status in [408, 500, 503] {
            for retries in [0, 1, 3] {
                var desk = PushDesk(Self.plan("a", "b")) { $0.retries = retries }
                for _ in 0...retries { desk.answer(status) }
                #expect(desk.waiting.isEmpty)
                #expect(desk.waits == Array(0..<retries).map { $0 + 1 })
                #expect(desk.thawed == 0)
                #expect(desk.outcomes == ["server-error", "server-error"])
            }
        }
    }

    @Test(arguments: [1, 4])
    func `credentials are renewed once for all`(concurrency: Int) {
        var desk = PushDesk(Self.plan("a", "b", "c", "d")) { $0.concurrency = concurrency }
        desk.answer(401)
        #expect(desk.refreshes == 1)
        #expect(desk.waiting.count == concurrency)
        while !desk.waiting.isEmpty { desk.agree() }
        #expect(desk.machine.outcome == .complete)

        desk = PushDesk(Self.plan("a", "b")) { $0.concurrency = concurrency }
        desk.answer(401)
        while !desk.waiting.isEmpty { desk.answer(401) }
        #expect(desk.refreshes == 1)
        #expect(desk.machine.stop?.code == .unauthorized)
        #expect(desk.thawed == min(concurrency, 2))
    }

    @Test func `without other credentials a push stops, and the operation thaws`() {
        var desk = PushDesk([]) { _ in }
        #expect(desk.machine.outcome == .complete)
        desk = PushDesk(Self.plan("a", "b"))
        desk.hasOthers = false
        desk.answer(401)
        #expect(desk.outcomes == ["unauthorized", "unauthorized"])
        #expect(desk.thawed == 1)
    }

    @Test func `a policy rebases an operation four times, and no more`() {
        var desk = PushDesk(Self.plan("a", "b")) { $0.policy = .clientWins }
        for round in 0..<5 { desk.answer(412, ["version": .integer(Int64(round)), "a": .integer(99)]) }
        #expect(desk.resolutions.count == 4)
        #expect(desk.sent == Array(repeating: "update a", count: 5) + ["update b"])
        desk.agree()
        #expect(desk.outcomes == ["conflict", "done"])
        #expect(desk.machine.outcome == .incomplete)
    }

    @Test func `a policy that takes the server's row is done with the operation`() {
        var desk = PushDesk(Self.plan("a", "b")) { $0.policy = .serverWins }
        desk.answer(412, ["version": .string("7"), "a": .integer(9)])
        desk.agree()
        #expect(desk.machine.items.map(\.report.outcome) == [.done, .done])
        #expect(desk.outcomes == ["server-wins", "done"])
        #expect(desk.machine.outcome == .complete)
    }

    @Test func `an operation that is cancelled after a rebase has no answer to tell`() {
        var machine = PushMachine(Self.plan("a"), ids: .exact, PushOptions(policy: .clientWins))
        _ = machine.start()
        func frozen(_ id: String) -> FrozenOperation {
            FrozenOperation(
                kind: .update, status: .inFlight, maybeSent: true, position: .init(event: 1), through: .init(event: 1),
                operationID: id, columns: Row([.init("a", .integer(1))]), ancestor: nil)
        }
        _ = machine.handle(.frozen(0, .ready(WriteRequest(frozen("O1"), table: "t", id: "a", .zumo2))))
        let server = Row([.init("version", .string("2")), .init("a", .integer(2))])
        let reply = ServerReply(
            status: 412, content: .row(ServerRow(id: "a", columns: server, isDeleted: false)))
        _ = machine.handle(.replied(0, reply))
        var conflict = frozen("O1")
        conflict.status = .conflict
        conflict.server = server
        _ = machine.handle(.recorded(0, Conflict(table: "t", id: "a", conflict), hasBase: true))
        _ = machine.handle(.resolved(0))
        // It was decided, and is not frozen again: there is nothing to thaw.
        let actions = machine.handle(.cancelled(0))
        #expect(actions.isEmpty)
        #expect(machine.stop?.code == .cancelled)
    }

    @Test func `a row that must be fetched is asked for, and the write is not sent again`() {
        var desk = PushDesk(Self.plan("a"))
        desk.answer(204)
        #expect(desk.sent == ["update a", "get a"])
        desk.agree()
        #expect(desk.machine.outcome == .complete)

        desk = PushDesk(Self.plan("a"))
        desk.answer(204)
        desk.answer(401)
        desk.fail(.offline(""))
        #expect(desk.sent == ["update a", "get a", "get a"])
        #expect(desk.thawed == 0)
        #expect(desk.machine.stop?.code == .offline)
    }

    @Test func `cancelling leaves what was not sent as it was`() {
        var desk = PushDesk(Self.plan("a", "b"))
        desk.cancel()
        #expect(desk.thawed == 1)
        #expect(desk.machine.stop?.code == .cancelled)
        desk = PushDesk(Self.plan("a", "b"))
        desk.fail(.cancelled)
        #expect(desk.thawed == 0)
        #expect(desk.outcomes == ["cancelled", "cancelled"])
    }
}

extension PushOptions {
    fileprivate init(policy: ConflictPolicy) {
        self.init()
        self.policy = policy
    }
}
