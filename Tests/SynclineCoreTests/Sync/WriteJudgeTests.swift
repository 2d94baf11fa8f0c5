// Every row of the table of responses, for each kind of operation.

import Testing

@testable import SynclineCore

/// What a test expects of a verdict.
private enum Fate: Hashable {
    case done, gone, fetch, conflict, rowGone, parked, unauthorized, retry, retryMaybe, unknown
    case tombstone, revived, refused

    init(_ verdict: Verdict) {
        switch verdict {
        case .done(let row): self = row.row == nil ? .gone : .done
        case .fetch: self = .fetch
        case .conflict(let server, let reason):
            self = reason == .gone ? .rowGone : .conflict
            #expect((server == nil) == (reason == .gone))
        case .parked: self = .parked
        case .tombstone: self = .tombstone
        case .revived: self = .revived
        case .refused: self = .refused
        case .unauthorized: self = .unauthorized
        case .retry(let mayHaveArrived): self = mayHaveArrived ? .retryMaybe : .retry
        case .unknown: self = .unknown
        }
    }
}

@Suite struct WriteJudgeTests {
    private static let kinds = OperationKind.allCases

    private func judge(_ kind: OperationKind, _ body: [String: Value] = ["a": .integer(1)]) -> WriteJudge {
        let columns = kind == .delete ? [:] : body
        return WriteJudge(
            WriteRequest(
                kind: kind, table: "t", id: "r", body: Row(columns.map { .init($0.key, $0.value) }), version: "1",
                operationID: "O"), ids: .exact)
    }

    private func reply(
        _ status: Int, id: String = "r", _ columns: [String: Value]? = nil, deleted: Bool = false
    ) -> ServerReply {
        guard let columns else { return ServerReply(status: status, content: .unreadable("nothing")) }
        let row = Row(columns.map { .init($0.key, $0.value) })
        return ServerReply(status: status, content: .row(ServerRow(id: id, columns: row, isDeleted: deleted)))
    }

    /// What a response means for an insert, an update and a delete.
    private func expect(_ reply: ServerReply, _ fates: [Fate], line: SourceLocation = #_sourceLocation) {
        let found = Self.kinds.map { Fate(judge($0).judge(reply)) }
        #expect(found == fates, "\(reply)", sourceLocation: line)
    }

    /// What the row that is fetched after a response means.
    private func expect(
        fetched reply: ServerReply, after status: Int, _ fates: [Fate], line: SourceLocation = #_sourceLocation
    ) {
        let found = Self.kinds.map { Fate(judge($0).judge(fetched: reply, after: status)) }
        #expect(found == fates, "\(reply)", sourceLocation: line)
    }

    private static let other: [String: Value] = ["a": .integer(2), "version": .string("2")]
    private static let ours: [String: Value] = ["a": .integer(1), "b": .integer(9), "version": .string("2")]

    @Test func `2xx with our row means done; with anything else the row is fetched`() {
        for status in [200, 201, 204, 299] {
            expect(reply(status, Self.other), [.done, .done, .gone])
            expect(reply(status), [.fetch, .fetch, .gone])
            expect(reply(status, id: "other", Self.other), [.fetch, .fetch, .gone])
            expect(reply(status, id: "R", Self.other), [.parked, .parked, .gone])
            expect(reply(status, Self.other, deleted: true), [.rowGone, .rowGone, .gone])
            var list = reply(status)
            list.content = .list(ServerList(rows: [], count: nil))
            expect(list, [.fetch, .fetch, .gone])
        }
    }

    @Test func `2xx with a row that may not be read means done, with what was sent`() {
        for status in [200, 201] {
            var hidden = reply(status)
            hidden.content = .row(.hidden("r", version: "2", isDeleted: false))
            expect(hidden, [.done, .done, .gone])
            var request = WriteRequest(
                kind: .update, table: "t", id: "r", body: Row([.init("a", .integer(1))]), version: "1",
                operationID: "O")
            request.ancestor = Row([.init("a", .integer(0)), .init("b", .integer(7)), .init("version", .string("1"))])
            guard case .done(let done) = WriteJudge(request, ids: .exact).judge(hidden) else {
                Issue.record("it is not done")
                continue
            }
            #expect(done.row?["a"] == .integer(1) && done.row?["b"] == .integer(7))
            #expect(done.row?.version == "2")
        }
        for status in [409, 412] {
            for isDeleted in [false, true] {
                var hidden = reply(status)
                hidden.content = .row(.hidden("r", version: "2", isDeleted: isDeleted))
                expect(hidden, isDeleted ? [.rowGone, .rowGone, .gone] : [.conflict, .conflict, .conflict])
            }
        }
    }

    @Test func `404 and 410 mean that the row is gone, or that an insert is refused`() {
        for status in [404, 410] {
            expect(reply(status), [.parked, .rowGone, .gone])
            expect(reply(status, Self.ours), [.parked, .rowGone, .gone])
        }
    }

    @Test func `409 and 412 mean a conflict, or that the write was done before`() {
        for status in [409, 412] {
            expect(reply(status, Self.other), [.conflict, .conflict, .conflict])
            expect(reply(status, Self.ours), [.done, .done, .conflict])
            expect(reply(status, Self.other, deleted: true), [.rowGone, .rowGone, .gone])
            // The client's own item, sent back, says nothing about the server's row.
            expect(reply(status, ["a": .integer(1)]), [.fetch, .fetch, .fetch])
            expect(reply(status, id: "other", Self.ours), [.fetch, .fetch, .fetch])
            expect(reply(status), [.fetch, .fetch, .fetch])
        }
    }

    @Test func `a row that was fetched is compared after a refusal, and taken after a success`() {
        for status in [409, 412] {
            expect(fetched: reply(200, Self.other), after: status, [.conflict, .conflict, .conflict])
            expect(fetched: reply(200, Self.ours), after: status, [.done, .done, .conflict])
            expect(fetched: reply(200, Self.ours, deleted: true), after: status, [.rowGone, .rowGone, .gone])
        }
        for status in [200, 204] {
            expect(fetched: reply(200, Self.other), after: status, [.done, .done, .done])
            expect(fetched: reply(200, Self.other, deleted: true), after: status, [.rowGone, .rowGone, .rowGone])
        }
        for status in [200, 409, 412] {
            for gone in [404, 410] { expect(fetched: reply(gone), after: status, [.rowGone, .rowGone, .gone]) }
            expect(fetched: reply(401), after: status, [.unauthorized, .unauthorized, .unauthorized])
            for other in [204, 302, 304, 400, 403, 408, 429, 500, 503] {
                expect(fetched: reply(other), after: status, [.unknown, .unknown, .unknown])
            }
            expect(fetched: reply(200), after: status, [.unknown, .unknown, .unknown])
            expect(fetched: reply(200, id: "other", Self.ours), after: status, [.unknown, .unknown, .unknown])
        }
    }

    /// What a response means for an insert that may restore its row, or for its undelete.
    private func fate(_ undelete: WriteRequest.Undelete?, _ reply: ServerReply, after status: Int? = nil) -> Fate {
        var request = WriteRequest(
            kind: .insert, table: "t", id: "r", body: Row([.init("a", .integer(1))]), version: nil, operationID: "O")
        request.undelete = undelete
        let judge = WriteJudge(request, ids: .exact, mayRevive: true)
        return Fate(status.map { judge.judge(fetched: reply, after: $0) } ?? judge.judge(reply))
    }

    @Test func `an insert that may restore its row continues if it meets a tombstone`() {
        for status in [409, 412] {
            #expect(fate(nil, reply(status, Self.other, deleted: true)) == .tombstone)
            #expect(fate(nil, reply(status, Self.other)) == .conflict)
            #expect(fate(nil, reply(status)) == .fetch)
            for gone in [404, 410] { #expect(fate(nil, reply(gone), after: status) == .tombstone) }
            #expect(fate(nil, reply(200, Self.other, deleted: true), after: status) == .tombstone)
        }
        for status in [200, 201] { #expect(fate(nil, reply(status, Self.other, deleted: true)) == .rowGone) }
    }

    @Test func `an undelete without a row continues with the differences, and ends if there are none`() {
        let bare = WriteRequest.Undelete.bare(tombstone: Row(Self.other.map { .init($0.key, $0.value) }))
        for status in [200, 201] {
            #expect(fate(bare, reply(status, Self.other)) == .revived)
            #expect(fate(bare, reply(status, ["a": .integer(1), "version": .string("3")])) == .done)
            #expect(fate(bare, reply(status, Self.ours)) == .revived, "a column that ours lacks becomes null")
            #expect(fate(bare, reply(status)) == .fetch)
            #expect(fate(bare, reply(status, Self.other, deleted: true)) == .rowGone)
            #expect(fate(.whole, reply(status, Self.other)) == .done)
        }
        for status in [403, 404, 405, 410, 501] { #expect(fate(bare, reply(status)) == .refused) }
        #expect(fate(bare, reply(400)) == .parked)
        #expect(fate(bare, reply(500)) == .retryMaybe)
        // Its response was lost, and the row is as the tombstone had it.
        #expect(fate(bare, reply(412, ["a": .integer(2), "version": .string("9")])) == .revived)
        #expect(fate(bare, reply(412, ["a": .integer(3), "version": .string("9")])) == .conflict)
        #expect(fate(.bare(tombstone: nil), reply(412, ["a": .integer(3), "version": .string("9")])) == .conflict)
        #expect(fate(bare, reply(412, Self.other, deleted: true)) == .tombstone)
        #expect(fate(bare, reply(404), after: 412) == .rowGone)
        #expect(fate(.whole, reply(412, Self.ours)) == .done)
        #expect(fate(.whole, reply(412, Self.other)) == .conflict)
    }

    @Test func `every other refusal parks`() {
        for status in [300, 301, 302, 304, 307, 308, 400, 402, 403, 405, 406, 411, 413, 415, 422, 428, 431, 451, 499] {
            expect(reply(status), [.parked, .parked, .parked])
            expect(reply(status, Self.ours), [.parked, .parked, .parked])
        }
    }

    @Test func `401 asks for credentials, and a busy or failing server is asked again`() {
        expect(reply(401), [.unauthorized, .unauthorized, .unauthorized])
        expect(reply(429), [.retry, .retry, .retry])
        for status in [408, 500, 502, 503, 504, 599] { expect(reply(status), [.retryMaybe, .retryMaybe, .retryMaybe]) }
    }

    @Test func `equal means numbers as numbers, date-times as instants, null as absent`() {
        func isOurs(_ sent: Value, _ found: Value?) -> Bool {
            var columns: [String: Value] = ["version": .string("2"), "unasked": .integer(3)]
            columns["a"] = found
            return Fate(judge(.update, ["a": sent]).judge(reply(412, columns))) == .done
        }
        #expect(isOurs(.integer(1), .double(1)))
        #expect(isOurs(.null, nil))
        #expect(isOurs(.null, .null))
        #expect(isOurs(.string("2026-01-01T00:00:00Z"), .string("2026-01-01T01:00:00.000+01:00")))
        #expect(isOurs(.array([.integer(1), .string("x")]), .array([.double(1), .string("x")])))
        #expect(isOurs(.object([.init("x", .integer(1))]), .object([.init("x", .integer(1))])))
        #expect(!isOurs(.integer(1), .string("1")))
        #expect(!isOurs(.integer(1), nil))
        #expect(!isOurs(.bool(true), .integer(1)))
        #expect(!isOurs(.string("e\u{301}"), .string("\u{e9}")))
        #expect(!isOurs(.string("a"), .string("A")))
        #expect(!isOurs(.integer(9_007_199_254_740_993), .integer(9_007_199_254_740_992)))
    }

    @Test func `ids are ours whatever their case only in a store that says so`() {
        let request = WriteRequest(kind: .insert, table: "t", id: "R", body: .empty, version: nil, operationID: "O")
        #expect(Fate(WriteJudge(request, ids: .ignoreCase).judge(reply(201, Self.other))) == .done)
        for status in [201, 409, 412] {
            for row in [reply(status, Self.other), unreadable(status)] {
                guard case .parked(let words?) = WriteJudge(request, ids: .exact).judge(row) else {
                    Issue.record("\(status) is not parked")
                    continue
                }
                #expect(words.contains("\"R\"") && words.contains("\"r\""), "both ids are in the words")
            }
        }
        for status in [204, 409] {
            let verdict = WriteJudge(request, ids: .exact).judge(fetched: reply(200, Self.other), after: status)
            #expect(Fate(verdict) == .parked)
        }
    }

    /// A row whose content can't be read.
    private func unreadable(_ status: Int, id: String? = "r") -> ServerReply {
        ServerReply(status: status, content: .unreadableRow(id: id, "it nests too deep"))
    }

    @Test func `a row that can't be read is fetched, and parks the write if the fetched one can't be read either`() {
        for status in [200, 201, 409, 412] {
            let isGood = status < 300
            expect(unreadable(status), [.fetch, .fetch, isGood ? .gone : .fetch])
            expect(unreadable(status, id: nil), [.fetch, .fetch, isGood ? .gone : .fetch])
            expect(fetched: unreadable(200), after: status, [.parked, .parked, .parked])
            expect(fetched: unreadable(200, id: nil), after: status, [.parked, .parked, .parked])
            // Another row says nothing about ours.
            expect(fetched: unreadable(200, id: "other"), after: status, [.unknown, .unknown, .unknown])
        }
        for status in [400, 403] { expect(unreadable(status), [.parked, .parked, .parked]) }
        expect(unreadable(500), [.retryMaybe, .retryMaybe, .retryMaybe])
    }

    @Test func `a 2xx with the version that was sent and another value was not written`() {
        func fate(_ row: [String: Value], fetched: Bool = false, changes: [String: Value]? = nil) -> Fate {
            var request = judge(.update, ["a": .integer(1), "kept": .integer(5)]).request
            if let changes { request.changes = Row(changes.map { .init($0.key, $0.value) }) }
            let judge = WriteJudge(request, ids: .exact)
            return Fate(fetched ? judge.judge(fetched: reply(200, row), after: 204) : judge.judge(reply(200, row)))
        }
        let stale: [String: Value] = ["a": .integer(0), "kept": .integer(5), "version": .string("1")]
        let written: [String: Value] = ["a": .double(1), "kept": .integer(5), "version": .string("1")]
        for fetched in [false, true] {
            #expect(fate(stale, fetched: fetched) == .parked)
            #expect(fate(written, fetched: fetched) == .done, "a server need not count a version that changes nothing")
            #expect(
                fate(["kept": .integer(5), "version": .string("1")], fetched: fetched) == .parked, "null is absent")
            #expect(fate(stale.merging(["version": .string("2")]) { $1 }, fetched: fetched) == .done, "its own rule")
            #expect(fate(stale.merging(["version": .null]) { $1 }, fetched: fetched) == .done)
        }
        // In the whole row, only the columns of the operation count: others may be computed by the server.
        #expect(
            fate(["a": .integer(1), "kept": .integer(6), "version": .string("1")], changes: ["a": .integer(1)]) == .done
        )
        #expect(fate(stale, changes: ["a": .integer(1)]) == .parked)
        #expect(fate(stale, changes: ["kept": .integer(5)]) == .done)
    }
}
