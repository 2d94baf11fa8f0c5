// Writes that are batched if the server supports it: how many, in which order, and that each is judged as if it had
// gone alone.

import Testing

@testable import SynclineCore

@Suite struct PushTogetherTests {
    private static func desk(
        _ count: Int = 5, _ change: (inout PushSettings) -> Void = { _ in }
    ) -> PushDesk {
        PushDesk((1...count).map { PushDesk.operation("r\($0)", UInt64($0)) }) { options in
            options.takesBatches = true
            options.batchSize = 3
            change(&options)
        }
    }

    private static func row(_ id: String, _ version: String = "2", _ number: Int64? = nil) -> ServerReply.Content {
        var columns: [Value.Member] = [.init("version", .string(version))]
        if let number { columns.append(.init("a", .integer(number))) }
        return .row(ServerRow(id: id, columns: Row(columns), isDeleted: false))
    }

    /// A response to a batch, from a server that still supports batches.
    private static func results(_ results: [(Int, ServerReply.Content)]) -> ServerReply {
        var reply = ServerReply(
            status: 200,
            content: .results(
                results.map { status, content in
                    var result = ServerReply(status: status, content: content)
                    result.capabilities = .batch
                    return result
                }))
        reply.capabilities = .batch
        return reply
    }

    private static func agreement(_ desk: PushDesk) -> ServerReply {
        results(desk.together[0].requests.map { (200, row($0.id)) })
    }

    @Test func `they are sent in the order of the plan, up to the limit per request`() {
        var desk = Self.desk()
        #expect(desk.sent == ["together r1 r2 r3"])
        desk.answerTogether(Self.agreement(desk))
        #expect(desk.sent.last == "together r4 r5")
        desk.answerTogether(Self.agreement(desk))
        #expect(desk.machine.outcome == .complete)
    }

    /// Operations of events, by their numbers.
    private static func desk(of events: [UInt64], _ change: (inout PushSettings) -> Void = { _ in }) -> PushDesk {
        PushDesk(events.enumerated().map { PushDesk.operation("r\($0 + 1)", $1) }) { options in
            options.takesBatches = true
            options.batchSize = 4
            change(&options)
        }
    }

    @Test func `a transaction that fits into a request is not cut`() {
        func requests(_ desk: PushDesk) -> [String] {
            var desk = desk
            while !desk.together.isEmpty || !desk.waiting.isEmpty {
                if desk.together.isEmpty {
                    var reply = ServerReply(status: 200, content: Self.row("r\(desk.waiting[0].index + 1)"))
                    reply.capabilities = .batch
                    desk.answer(reply)
                } else {
                    desk.answerTogether(Self.agreement(desk))
                }
            }
            #expect(desk.machine.outcome == .complete)
            return desk.sent.map { $0.replacing("together ", with: "").replacing("update ", with: "") }
        }
        #expect(requests(Self.desk(of: [1, 2, 3, 3, 3, 4])) == ["r1 r2", "r3 r4 r5 r6"])
        #expect(requests(Self.desk(of: [1, 2, 2, 2, 3, 3])) == ["r1 r2 r3 r4", "r5 r6"])
        #expect(requests(Self.desk(of: [1, 1, 1, 2, 2, 3])) == ["r1 r2 r3", "r4 r5 r6"])
        // One that is too large is sent as before.
        #expect(requests(Self.desk(of: [1, 2, 2, 2, 2, 2])) == ["r1 r2 r3 r4", "r5 r6"])
        // The same by size: each operation has about 125 bytes.
        func small(_ options: inout PushSettings) { options.batchBytes = 400 }
        #expect(requests(Self.desk(of: [1, 2, 2, 2, 3], small)) == ["r1", "r2 r3 r4", "r5"])
        #expect(requests(Self.desk(of: [1, 1, 1, 1, 2], small)) == ["r1 r2 r3", "r4", "r5"])
    }

    @Test func `an unknown server gets one operation first, and its answer shows what it supports`() {
        var desk = Self.desk { $0.takesBatches = false }
        #expect(desk.sent == ["update r1"])
        var reply = ServerReply(status: 200, content: Self.row("r1"))
        reply.capabilities = .batch
        desk.answer(reply)
        #expect(desk.sent.last == "together r2 r3 r4")
        var other = Self.desk { $0.takesBatches = false }
        for _ in 1...5 { other.agree() }
        #expect(other.sent == (1...5).map { "update r\($0)" } && other.machine.outcome == .complete)
    }

    @Test func `a request has a maximum size, except for one large row`() {
        var desk = Self.desk { $0.batchBytes = 1 }
        #expect(desk.sent == ["update r1"], "one that goes alone goes as it always did")
        for _ in 1...5 {
            var reply = ServerReply(status: 200, content: Self.row("r\(desk.sent.count)"))
            reply.capabilities = .batch
            desk.answer(reply)
        }
        #expect(desk.sent.count == 5 && desk.machine.outcome == .complete)
    }

    @Test func `each is judged by itself`() {
        var desk = Self.desk(3) { $0.batchSize = 100 }
        desk.answerTogether(
            Self.results([(200, Self.row("r1")), (412, Self.row("r2", "9", 7)), (403, .unreadable(""))]))
        #expect(desk.outcomes == ["done", "conflict", "rejected"])
        #expect(desk.machine.outcome == .incomplete && desk.sent.count == 1)
    }

    @Test func `a failed refresh of credentials stops the next operations`() {
        var desk = Self.desk()
        desk.answerTogether(Self.results([(200, Self.row("r1")), (204, .unreadable("")), (200, Self.row("r3"))]))
        #expect(desk.sent == ["together r1 r2 r3", "get r2"])
        var reply = ServerReply(status: 200, content: Self.row("r2"))
        reply.capabilities = .batch
        desk.answer(reply)
        #expect(desk.sent.last == "together r4 r5")
    }

    @Test func `operations to be retried share one wait and are sent together again`() {
        var desk = Self.desk { $0.retries = 2 }
        desk.answerTogether(Self.results([(503, .unreadable("")), (200, Self.row("r2")), (503, .unreadable(""))]))
        #expect(desk.waits == [1] && desk.sent == ["together r1 r2 r3", "together r1 r3"])
        desk.answerTogether(ServerReply(status: 429, content: .unreadable("")))
        #expect(desk.waits == [1, 2] && desk.sent.last == "together r1 r3")
        desk.answerTogether(ServerReply(status: 503, content: .unreadable("")))
        #expect(desk.machine.stop?.code == .serverError && desk.waiting.isEmpty && desk.together.isEmpty)
        #expect(desk.outcomes == ["server-error", "done", "server-error", "server-error", "server-error"])
        #expect(desk.thawed == 0, "a 503 may have been done nevertheless")
    }

    @Test func `several operations ask for credentials only once`() {
        var desk = Self.desk(3)
        desk.answerTogether(ServerReply(status: 401, content: .unreadable("")))
        #expect(desk.refreshes == 1 && desk.sent == ["together r1 r2 r3", "together r1 r2 r3"])
        desk.answerTogether(ServerReply(status: 401, content: .unreadable("")))
        #expect(desk.machine.stop?.code == .unauthorized && desk.thawed == 3 && desk.refreshes == 1)
    }

    @Test(arguments: [404, 405, 413, 400, 501, 302])
    func `a server without batch support gets them one by one`(status: Int) {
        var desk = Self.desk(4)
        desk.answerTogether(ServerReply(status: status, content: .unreadable("")))
        for number in 1...4 {
            #expect(desk.sent.last == "update r\(number)" && desk.waiting.count == 1)
            var reply = ServerReply(status: 200, content: Self.row("r\(number)"))
            reply.capabilities = .batch
            desk.answer(reply)
        }
        #expect(desk.machine.outcome == .complete && desk.sent.count == 5, "and is not asked again")
    }

    @Test func `an answer that is unreadable or incomplete counts for no operation`() {
        for content in [ServerReply.Content.unreadable("x"), .results([]), Self.row("r1")] {
            var desk = Self.desk(3)
            desk.answerTogether(ServerReply(status: 200, content: content))
            #expect(desk.sent.last == "update r1")
            desk.fail(.offline("gone"))
            // All of them may have been received: they are sent again unchanged.
            #expect(desk.thawed == 0 && desk.machine.stop?.code == .offline)
        }
    }

    @Test func `a lost reply stops it, and unsent operations thaw`() {
        var desk = Self.desk()
        desk.failTogether(.offline("gone"))
        #expect(desk.machine.stop?.code == .offline && desk.thawed == 0 && desk.together.isEmpty)
        var unread = Self.desk(3)
        unread.answerTogether(ServerReply(status: 404, content: .unreadable("")))
        unread.cancel()
        #expect(unread.machine.stop?.code == .cancelled && unread.thawed == 3)
    }

    @Test func `a policy sends again what it rebased, before what comes next`() {
        var desk = Self.desk { $0.policy = .clientWins }
        desk.answerTogether(
            Self.results([(412, Self.row("r1", "9", 7)), (200, Self.row("r2")), (412, Self.row("r3", "9", 7))]))
        #expect(desk.resolutions.count == 2)
        #expect(desk.sent.dropFirst().prefix(2).allSatisfy { $0.contains("r1") || $0.contains("r3") })
        while !desk.together.isEmpty || !desk.waiting.isEmpty {
            if desk.together.isEmpty { desk.agree() } else { desk.answerTogether(Self.agreement(desk)) }
        }
        #expect(desk.machine.outcome == .complete)
    }

    @Test func `two operations of one row are never sent together, and nothing overtakes them`() {
        var desk = PushDesk([
            PushDesk.operation("a", 1, isOneOfSeveral: true, maybeSent: true), PushDesk.operation("b", 2),
            PushDesk.operation("a", 3, isOneOfSeveral: true), PushDesk.operation("c", 4),
        ]) { $0.takesBatches = true }
        #expect(desk.sent == ["together a b"])
        desk.answerTogether(Self.agreement(desk))
        #expect(desk.sent.last == "together a c")
    }
}
