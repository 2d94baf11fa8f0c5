// The order of a push, which operation waits for which, what is retried, and what stops everything; one at a time
// and four at once.

import Testing

@testable import SynclineCore

@Suite struct PushMachineTests {
    private static func plan(_ ids: String...) -> [PlannedOperation] {
        ids.enumerated().map { PushDesk.operation($1, UInt64($0 + 1)) }
    }

    @Test func `with a limit of one, operations are sent in order`() {
        var desk = PushDesk(Self.plan("a", "b", "c"))
        for _ in 0..<3 {
            #expect(desk.waiting.count == 1)
            desk.agree()
        }
        #expect(desk.sent == ["update a", "update b", "update c"])
        #expect(desk.machine.outcome == .complete)
    }

    @Test func `with a limit of four, operations begin in order, and never more than four`() {
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

    @Test(arguments: [1, 4], [true, false])
    func `nothing that comes after a follow-up is sent before it`(_ concurrency: Int, _ isFirstLost: Bool) {
        let plan = [
            PushDesk.operation("item", 1, isOneOfSeveral: true, maybeSent: true),
            PushDesk.operation("item", 2, .delete, isOneOfSeveral: true), PushDesk.operation("list", 3, .delete),
        ]
        var desk = PushDesk(plan) { $0.concurrency = concurrency }
        if isFirstLost {
            #expect(desk.sent == ["update item"])
            desk.agree()
        } else {
            desk.answer(412, ["version": .string("2"), "a": .integer(0)])
        }
        while !desk.waiting.isEmpty { desk.agree() }
        #expect(desk.sent == ["update item", "delete item", "delete list"])
        #expect(desk.machine.outcome == .complete)
    }

    @Test func `an insert over a tombstone continues in its place as an undelete and an update`() {
        var history = PushMachine.History()
        history.mayRevive = true
        var desk = PushDesk(
            [PushDesk.operation("a", 1, .insert), PushDesk.operation("b", 2)], history: history)
        desk.answer(409, ["version": .string("2"), "a": .integer(7)], deleted: true)
        desk.answer(201, ["version": .string("3"), "a": .integer(7)])
        #expect(desk.sent == ["insert a", "undelete a", "update a"])
        desk.agree()
        desk.agree()
        #expect(desk.sent.last == "update b")
        #expect(desk.machine.outcome == .complete)
    }

    @Test func `a tombstone that changes every time ends as a conflict`() {
        var history = PushMachine.History()
        history.mayRevive = true
        var desk = PushDesk([PushDesk.operation("a", 1, .insert)], history: history)
        for round in 0..<5 { desk.answer(412, ["version": .integer(Int64(round)), "a": .integer(7)], deleted: true) }
        #expect(desk.sent == ["insert a"] + Array(repeating: "undelete a", count: 4))
        #expect(desk.outcomes == ["row-gone"])
    }

    @Test func `without a decision, only a policy that says so restores a row`() {
        for policy in [ConflictPolicy.fail, .serverWins, .merge, .clientWins] {
            var desk = PushDesk([PushDesk.operation("a", 1, .insert)]) { $0.policy = policy }
            desk.answer(409, ["version": .string("2"), "a": .integer(7)], deleted: true)
            #expect(desk.sent == (policy.revives ? ["insert a", "undelete a"] : ["insert a"]))
        }
    }

    @Test func `a server that refuses to undelete is not asked again by a policy`() {
        for status in [403, 404, 405, 410, 501] {
            var desk = PushDesk([PushDesk.operation("a", 1, .insert)]) { $0.policy = .clientWins }
            desk.answer(409, ["version": .string("2"), "a": .integer(7)], deleted: true)
            desk.answer(status)
            #expect(desk.sent == ["insert a", "undelete a"])
            #expect(desk.outcomes == ["row-gone"])
            #expect(desk.machine.outcome == .incomplete)
        }
    }

    @Test func `an operation that fails push after push is parked once the server is known to work`() {
        var history = PushMachine.History()
        var desk = PushDesk(Self.plan("a", "b"), history: history) { $0.retries = 1 }
        for _ in 0..<2 { desk.answer(500) }
        #expect(desk.recorded == [.failing])
        #expect(desk.machine.stop?.code == .serverError)
        history.failures = 2
        desk = PushDesk(Self.plan("a", "b"), history: history) { $0.retries = 0 }
        desk.answer(500)
        #expect(desk.recorded == [.failing], "nothing shows that the server works")
        history.serverWorks = true
        desk = PushDesk(Self.plan("a", "b"), history: history) { $0.retries = 1 }
        desk.answer(500)
        desk.answer(500)
        #expect(desk.recorded == [.parked])
        desk.agree()
        #expect(desk.outcomes == ["rejected", "done"])
        // A response to another operation of the same push shows it, too, if it came after the first failure.
        history.serverWorks = false
        desk = PushDesk(Self.plan("b", "a"), history: history) { $0.retries = 0 }
        desk.agree()
        desk.answer(500)
        #expect(desk.outcomes == ["done", "rejected"])
        history.failures = 1
        desk = PushDesk(Self.plan("b", "a"), history: history) { $0.retries = 0 }
        desk.agree()
        desk.answer(500)
        #expect(desk.notes == 1)
    }

    @Test func `a push that ends otherwise resets the count`() {
        var history = PushMachine.History()
        history.failures = 2
        for status in [408, 503] {
            var desk = PushDesk(Self.plan("a"), history: history) { $0.retries = 0 }
            desk.answer(status)
            #expect(desk.recorded == [.interrupted])
        }
        var desk = PushDesk(Self.plan("a"), history: history)
        desk.fail(.offline("gone"))
        #expect(desk.recorded == [.interrupted])
        desk = PushDesk(Self.plan("a"), history: history)
        desk.cancel()
        #expect(!desk.recorded.contains(.interrupted), "nothing was learnt")
    }

    @Test func `if several fail together, each is tried alone`() {
        var desk = PushDesk(Self.plan("a", "b", "c")) { options in
            options.retries = 0
            options.takesBatches = true
        }
        #expect(desk.sent == ["together a b c"])
        desk.answerTogether(ServerReply(status: 500, content: .unreadable("")))
        #expect(desk.sent.last == "update a")
        desk.answer(500)
        #expect(desk.recorded.contains(.failing))
        #expect(desk.machine.stop?.code == .serverError)
    }

    @Test func `a policy leaves a conflict that a lost answer may have made`() {
        for isKnown in [false, true] {
            var desk = PushDesk([PushDesk.operation("a", 1, maybeSent: true)]) { $0.policy = .clientWins }
            var reply = ServerReply(
                status: 412,
                content: .row(
                    ServerRow(
                        id: "a", columns: Row([.init("version", .string("9")), .init("a", .integer(5))]),
                        isDeleted: false)))
            if isKnown { reply.capabilities = .operations }
            desk.answer(reply)
            #expect(desk.resolutions.count == (isKnown ? 1 : 0))
            if !isKnown { #expect(desk.outcomes == ["conflict"]) }
        }
    }

    @Test(arguments: [1, 4])
    func `a conflict or a refusal blocks only its own row`(concurrency: Int) {
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

    @Test func `an operation that awaits a decision is not sent, nor are its follow-ups`() {
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
        // Those in flight are waited for, and counted.
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

    @Test func `a server that asks for too long a wait stops the push`() {
        for asked in [ServerReply.RetryAfter.milliseconds(300_000), .milliseconds(300_001)] {
            var desk = PushDesk(Self.plan("a"))
            var reply = ServerReply(status: 503, content: .unreadable(""))
            reply.retryAfter = asked
            desk.answer(reply)
            #expect(desk.waits.count == (asked == .milliseconds(300_000) ? 1 : 0))
        }
    }

    @Test func `after 429 to every attempt an operation thaws, unless it may have arrived before`() {
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

    @Test func `408 and 5xx are retried a few times, then the push stops with the operation frozen`() {
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
    func `several operations renew the credentials only once`(concurrency: Int) {
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

    @Test func `an operation that is cancelled after a rebase has no answer`() {
        var machine = PushMachine(Self.plan("a"), ids: .exact, PushSettings(policy: .clientWins))
        _ = machine.start()
        func frozen(_ id: String) -> FrozenOperation {
            FrozenOperation(
                kind: .update, status: .inFlight, maybeSent: true, position: .init(event: 1), through: .init(event: 1),
                operationID: id, columns: Row([.init("a", .integer(1))]), ancestor: nil)
        }
        _ = machine.handle(.frozen(0, .ready(WriteRequest(frozen("O1"), table: "t", id: "a", .zumo2, TableTypes()))))
        let server = Row([.init("version", .string("2")), .init("a", .integer(2))])
        let reply = ServerReply(
            status: 412, content: .row(ServerRow(id: "a", columns: server, isDeleted: false)))
        _ = machine.handle(.replied(0, reply))
        var conflict = frozen("O1")
        conflict.status = .conflict
        conflict.server = server
        _ = machine.handle(.recorded(0, Conflict(table: "t", id: "a", conflict, TableTypes()), hasBase: true))
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
