// The simulated server, asked as by a store: the transcripts of real servers, and what each option changes.

import SynclineCore
import SynclineGround
import SynclineTesting
import SynclineWire
import Testing

/// A client without state.
private struct Client {
    let server: SimulatedServer
    let codec: WireCodec

    init(_ serverProtocol: ServerProtocol, options: SimulatedServer.Options = .init()) {
        server = SimulatedServer(serverProtocol, options: options)
        codec = WireCodec(serverProtocol)
    }

    func ask(_ request: ServerRequest) throws -> ServerReply {
        codec.reply(server.handle(try codec.request(request)), to: request)
    }

    func write(
        _ kind: OperationKind, _ id: String, _ columns: [Value.Member] = [], version: String? = nil,
        operation: String = "O"
    ) throws -> ServerReply {
        try ask(
            .write(
                WriteRequest(
                    kind: kind, table: "t", id: id, body: Row(columns), version: version, operationID: operation)))
    }

    func get(_ id: String) throws -> ServerReply { try ask(.row(table: "t", id: id)) }

    func list(_ filter: String? = nil, _ change: (inout ListRequest) -> Void = { _ in }) throws -> ServerList {
        var list = ListRequest(table: "t", filter: try filter.map { try FilterExpression(parsing: $0) })
        list.order = [.init("updatedAt"), .init("id")]
        change(&list)
        return try #require(try ask(.list(list)).list)
    }
}

extension ServerReply {
    fileprivate var row: ServerRow? {
        if case .row(let row) = content { return row }
        return nil
    }

    fileprivate var list: ServerList? {
        if case .list(let list) = content { return list }
        return nil
    }

    fileprivate var version: String? { row?.columns["version"]?.text }
}

extension ServerList {
    fileprivate var ids: String { rows.map(\.id).joined() }
}

private func row(_ id: String, _ members: [String: Value] = [:]) -> Value { .item(id, members) }

@Suite("The simulated server")
struct SimulatedServerTests {
    @Test func `a row that was read and upserted again is a new write`() throws {
        let server = SimulatedServer(.zumo2)
        server.setTable("t", rows: [.item("a", ["n": .integer(1), "version": .string("mine")])])
        let read = try #require(server.rows(of: "t").first)
        #expect(read[member: "version"] == .string("mine"))
        server.upsert([read], in: "t")
        let again = try #require(server.rows(of: "t").first)
        #expect(again[member: "version"] != read[member: "version"] && again[member: "n"] == .integer(1))
        #expect(again[member: "updatedAt"] != read[member: "updatedAt"])
    }

    @Test("answers writes as the older servers do")
    func older() throws {
        let client = Client(.zumo2)
        let inserted = try client.write(.insert, "a", [.init("text", .string("one")), .init("n", .null)])
        #expect(inserted.status == 201)
        #expect(inserted.etag == "MQ==")
        #expect(
            inserted.row?.columns.members.map { "\($0.name) \($0.value.json)" } == [
                #"text "one""#, "n null", #"createdAt "2026-01-01T00:00:00.001Z""#,
                #"updatedAt "2026-01-01T00:00:00.001Z""#, #"version "MQ==""#, "deleted false",
            ])
        #expect(inserted.date == Timestamp("2026-01-01T00:00:01Z")?.instant)
        let again = try client.write(.insert, "a", [.init("text", .string("dup"))])
        #expect(again.status == 409 && again.etag == nil && again.row?.columns.columns == ["text"])
        let patched = try client.write(.update, "a", [.init("text", .string("two"))], version: "MQ==")
        #expect(patched.status == 200 && patched.etag == "Mg==" && patched.row?.columns["n"] == .null)
        let stale = try client.write(.update, "a", [.init("text", .string("three"))], version: "MQ==")
        #expect(stale.status == 412 && stale.version == "Mg==" && stale.row?.columns["text"] == .string("two"))
        #expect(try client.write(.delete, "a", version: "MQ==").status == 412)
        let deleted = try client.write(.delete, "a", version: "Mg==")
        #expect(deleted.status == 200 && deleted.row?.isDeleted == true && deleted.etag == "Mw==")
        #expect(try client.write(.delete, "a").status == 409)
        #expect(try client.write(.delete, "a", version: "Mw==").status == 412)
        #expect(try client.get("a").status == 404)
        #expect(try client.get("a").message == "The item does not exist")
        #expect(try client.list { $0.includesDeleted = false }.ids == "")
        #expect(try client.list().rows.map(\.isDeleted) == [true])
        #expect(try client.write(.update, "a", [.init("text", .string("x"))]).row?.isDeleted == true)
        #expect(try client.write(.update, "b", []).status == 404)
        #expect(try client.write(.delete, "b").status == 404)
        var undelete = HTTPRequest("POST", "/tables/t/a")
        undelete.headers = [HTTPHeader("If-Match", "\"MQ==\"")]
        #expect(client.server.handle(undelete).status == 412)
        undelete.headers = []
        #expect(client.server.handle(undelete).status == 201)
        #expect(try client.get("a").row?.isDeleted == false)
    }

    @Test("returns the changes after a cursor, and refuses a cursor from which it can't continue")
    func changes() throws {
        var options = SimulatedServer.Options()
        options.tellsChanges = true
        options.deletesForGood = true
        let client = Client(.datasync3, options: options)
        func ask(_ since: String, _ filter: String? = nil, top: Int = 10) throws -> ServerReply {
            let filter = try filter.map { try FilterExpression(parsing: $0) }
            var request = ChangesRequest(table: "t", since: since, filter: filter, top: top)
            request.counts = true
            return try client.ask(.changes(request))
        }
        func read(_ since: String, _ filter: String? = nil, top: Int = 10) throws -> ServerChanges {
            guard case .changes(let changes) = try ask(since, filter, top: top).content else {
                throw SyncError(.internalError, "no changes")
            }
            return changes
        }
        for id in ["a", "b", "c"] { _ = try client.write(.insert, id, [.init("n", .integer(1))]) }
        #expect(try ask("").capabilities == .changes)
        let first = try read("", top: 2)
        #expect(first.rows.map(\.id) == ["a", "b"] && first.hasMore && first.count == 3)
        let rest = try read(first.cursor)
        #expect(rest.rows.map(\.id) == ["c"] && !rest.hasMore)
        client.server.upsert([row("b", ["n": .integer(2)])], in: "t")
        client.server.remove(["a"], from: "t")
        let news = try read(rest.cursor, "n eq 1")
        #expect(news.rows.map(\.id) == ["b", "a"])
        #expect(news.rows.map(\.hasLeft) == [true, false] && news.rows.map(\.isDeleted) == [false, true])
        #expect(try read(news.cursor).rows.isEmpty)
        client.server.forgetDeletions()
        #expect(try ask(rest.cursor).status == 410)
        client.server.setTable("u", rows: [])
        #expect(try ask(news.cursor).status == 410, "a table was set up again")
        #expect(try read("").rows.map(\.id) == ["c", "b"])
    }

    @Test("takes many writes at once, and recognises each of them when repeated")
    func batches() throws {
        var options = SimulatedServer.Options()
        options.takesBatches = true
        options.recognizesOperations = true
        for serverProtocol in ServerProtocol.allCases {
            let client = Client(serverProtocol, options: options)
            func write(_ kind: OperationKind, _ id: String, _ operation: String, _ text: String = "") -> WriteRequest {
                WriteRequest(
                    kind: kind, table: "t", id: id,
                    body: kind == .delete ? .empty : Row([.init("text", .string(text))]), version: nil,
                    operationID: operation)
            }
            let writes = [
                write(.insert, "a", "1", "one"), write(.insert, "a", "2", "two"), write(.update, "x", "3"),
                write(.insert, "b", "4", "b"), write(.delete, "b", "5"),
            ]
            for _ in 0..<2 {
                let reply = try client.ask(.batch(writes))
                #expect(reply.capabilities == [.batch, .operations])
                guard case .results(let results) = reply.content else {
                    Issue.record("no results")
                    continue
                }
                #expect(results.map(\.status) == [201, 409, 404, 201, 200])
                #expect(results[1].row?.columns["text"] == .string("one"), "a conflict shows the server's row")
                #expect(results[4].row?.isDeleted == true)
            }
            #expect(try client.ask(.write(writes[0])).status == 201, "alone it is the same write")
            #expect(client.server.rows(of: "t").count == 2)
        }
    }

    @Test("applies all of a group of writes or none, and stops if it is asked to")
    func groups() throws {
        var options = SimulatedServer.Options()
        options.takesBatches = true
        let server = SimulatedServer(.datasync3, options: options)
        func statuses(_ rule: String, _ operations: [String]) throws -> [Int64] {
            var request = HTTPRequest("POST", "/tables/$batch")
            request.body = Array(#"{"onRefusal":"\#(rule)","operations":[\#(operations.joined(separator: ","))]}"#.utf8)
            guard case .array(let results)? = try Value(json: server.handle(request).body)[member: "results"] else {
                throw SyncError(.internalError, "no results")
            }
            return results.compactMap { result in
                if case .integer(let status)? = result[member: "status"] { return status }
                return nil
            }
        }
        func insert(_ id: String, _ group: String = "") -> String {
            #"{"operation":"insert","table":"t","id":"\#(id)","item":{},"group":"\#(group)"}"#
        }
        let missing = #"{"operation":"delete","table":"t","id":"x","group":"g"}"#
        #expect(try statuses("continue", [insert("a", "g"), missing, insert("b", "h")]) == [424, 404, 201])
        #expect(server.rows(of: "t").count == 1, "the group was taken back")
        #expect(try statuses("stop", [insert("c", "h"), missing, insert("d", "i")]) == [201, 404, 424])
        #expect(server.rows(of: "t").count == 2)
    }

    @Test("answers writes as the newer servers do")
    func newer() throws {
        let client = Client(.datasync3)
        let inserted = try client.write(.insert, "a", [.init("text", .string("one")), .init("n", .integer(1))])
        #expect(inserted.status == 201 && inserted.row?.columns["createdAt"] == nil)
        let version = try #require(inserted.etag)
        #expect(Base64.decode(version)?.count == 16)
        let again = try client.write(.insert, "a", [.init("text", .string("dup"))])
        #expect(again.status == 409 && again.etag == version && again.row?.columns["text"] == .string("one"))
        let put = try client.write(.update, "a", [.init("text", .string("two"))], version: version)
        #expect(put.status == 200 && put.row?.columns["n"] == nil)
        #expect(try client.write(.update, "a", [], version: version).status == 412)
        #expect(try client.write(.update, "b", []).status == 404)
        #expect(try client.write(.delete, "a", version: version).version == put.etag)
        let deleted = try client.write(.delete, "a")
        #expect(deleted.status == 204 && deleted.content == .unreadable("the response is empty"))
        for reply in [try client.write(.delete, "a"), try client.get("a"), try client.write(.update, "a")] {
            #expect(reply.status == 410)
        }
        #expect(try client.list().rows.map(\.isDeleted) == [true])
        var request = try client.codec.request(.row(table: "t", id: "a"))
        request.query = [HTTPHeader("__includedeleted", "true")]
        #expect(client.server.handle(request).status == 200)
        request.method = "PUT"
        request.body = Array(#"{"deleted":false,"text":"back"}"#.utf8)
        #expect(client.server.handle(request).status == 200)
        #expect(try client.get("a").row?.columns["text"] == .string("back"))
    }

    @Test("pages, counts, orders and selects", arguments: ServerProtocol.allCases)
    func lists(_ dialect: ServerProtocol) throws {
        let client = Client(dialect)
        client.server.setTable("t", rows: (0..<130).map { row("r\($0)", ["n": .integer(Int64(129 - $0))]) })
        let first = try client.list()
        #expect(first.rows.count == (dialect == .zumo2 ? 50 : 100) && first.count == 130)
        #expect(try client.list { $0.skip = 120 }.rows.count == 10)
        #expect(try client.list { $0.counts = false }.count == nil)
        let last = try client.list("n lt 5") {
            $0.order = [.init("n")]
            $0.top = 2
            $0.select = ["n"]
            $0.select?.append("id")
        }
        #expect(last.ids == "r129r128" && last.count == 5 && last.rows[0].columns.columns == ["n"])
        #expect(try client.list { $0.top = 0 } == ServerList(rows: [], count: 130))
        client.server.setTable("t", rows: [row("a"), row("b"), row("c")], pageLimit: 2)
        #expect(try client.list().ids == "ab")
        #expect(client.server.requestCount(of: "t") == 1)
        #expect(try client.list { $0.order = [.init("id", descending: true)] }.ids == "cb")
        #expect(client.server.requestCount(of: "t") == 2)
    }

    @Test("names the next page as its protocol does")
    func nextPage() throws {
        for (dialect, expected) in [
            (ServerProtocol.zumo2, nil), (.datasync3, "%24filter=n%20eq%20null&%24skip=2&%24top=1"),
        ] {
            let client = Client(dialect)
            client.server.setTable("t", rows: [row("a"), row("b"), row("c"), row("d")], pageLimit: 2)
            var request = HTTPRequest("GET", "/tables/t")
            request.query = [HTTPHeader("$filter", "n eq null"), HTTPHeader("$top", "3")]
            let response = client.server.handle(request)
            let body = try Value(json: response.body)
            #expect(body[member: "nextLink"] == expected.map { .string($0) })
            #expect((response.headers.value("Link") != nil) == (dialect == .zumo2))
        }
    }

    @Test("stores times finer than it shows them")
    func precision() throws {
        let client = Client(.datasync3)
        client.server.setTable(
            "t",
            rows: [
                row("a", ["updatedAt": .string("2026-03-01T12:00:00.000100Z")]),
                row("b", ["updatedAt": .string("2026-03-01T12:00:00.000900Z")]), row("c"),
            ], precision: .microseconds)
        #expect(try client.list("updatedAt gt 2026-03-01T12:00:00.000Z").ids == "abc")
        #expect(try client.list("updatedAt gt 2026-03-01T12:00:00.000500Z").ids == "bc")
        #expect(try client.list("updatedAt ge 2026-03-01T12:00:00.0012Z").ids == "c")
        #expect(
            try client.list().rows.map { $0.columns["updatedAt"]?.json } == [
                #""2026-03-01T12:00:00.000Z""#, #""2026-03-01T12:00:00.000Z""#, #""2026-03-01T12:00:00.001Z""#,
            ])
        #expect(try client.list().rows.map { $0.columns["version"]?.json ?? "" }.count == 3)
    }

    @Test("gives each write a time after the latest, across tables and setups")
    func clock() throws {
        let client = Client(.zumo2)
        client.server.setTable("s", rows: [row("a", ["updatedAt": .string("2026-02-01T00:00:00.000Z")])])
        client.server.setTable("t", rows: [row("a"), row("b", ["version": .string("v")])])
        let list = try client.list()
        #expect(
            list.rows.map { $0.columns["updatedAt"]?.json } == [
                #""2026-02-01T00:00:00.001Z""#, #""2026-02-01T00:00:00.002Z""#,
            ])
        #expect(list.rows[1].columns["version"] == .string("v"))
        client.server.setTable("t", rows: [row("a")])
        #expect(try client.list().rows[0].columns["version"] != list.rows[0].columns["version"])
    }

    @Test("lets others change rows between two reads")
    func mutations() throws {
        let client = Client(.zumo2)
        client.server.setTable(
            "t", rows: [row("a"), row("b")],
            mutations: [
                .init(afterRequest: 2, upsert: [row("c"), row("a", ["n": .integer(1)])]),
                .init(afterRequest: 3, remove: ["b"]),
            ])
        #expect(try client.list().ids == "ab")
        _ = try client.write(.update, "b", [])
        #expect(try client.get("b").status == 200)
        #expect(try client.list().ids == "bca")
        #expect(try client.list().ids == "ca")
        #expect(client.server.rows(of: "t").count == 2)
    }

    @Test("recognises a repeated operation, if it remembers operations")
    func operations() throws {
        var options = SimulatedServer.Options()
        let foreign = Client(.zumo2)
        #expect(try foreign.write(.insert, "a").status == 201)
        #expect(try foreign.write(.insert, "a").status == 409)
        options.recognizesOperations = true
        let own = Client(.zumo2, options: options)
        let first = try own.write(.insert, "a")
        #expect(try own.write(.insert, "a") == first)
        #expect(try own.write(.insert, "a", operation: "P").status == 409)
    }

    @Test("shows lists of an earlier state, if it lags")
    func lag() throws {
        var options = SimulatedServer.Options()
        options.lag = 2
        let client = Client(.zumo2, options: options)
        client.server.setTable("t", rows: [row("a")])
        for id in ["b", "c", "d"] { _ = try client.write(.insert, id) }
        #expect(try client.list().ids == "ab")
        #expect(try client.get("d").status == 200)
        _ = try client.write(.insert, "e")
        #expect(try client.list().ids == "abc")
    }

    @Test("shows writes late, if they commit late")
    func lateCommits() throws {
        var options = SimulatedServer.Options()
        options.lateCommits = .init(every: 2, reads: 2)
        let client = Client(.zumo2, options: options)
        for id in ["a", "b", "c"] { _ = try client.write(.insert, id) }
        #expect(try client.list().ids == "ac")
        #expect(try client.list().ids == "ac")
        #expect(try client.list().ids == "abc")
    }

    @Test("forgets deleted rows, if it deletes permanently", arguments: ServerProtocol.allCases)
    func hardDeletes(_ dialect: ServerProtocol) throws {
        var options = SimulatedServer.Options()
        options.deletesForGood = true
        let client = Client(dialect, options: options)
        _ = try client.write(.insert, "a")
        #expect(try client.write(.delete, "a").status == (dialect == .zumo2 ? 200 : 204))
        #expect(try client.list().ids == "")
        #expect(try client.get("a").status == 404)
    }

    @Test("refuses what no server takes")
    func refused() {
        let server = SimulatedServer()
        var request = HTTPRequest("GET", "/tables/t")
        request.headers = [HTTPHeader("ZUMO-API-VERSION", "9.0.0")]
        let response = server.handle(request)
        #expect(response.status == 400 && response.headers.value("ETag")?.hasPrefix("W/") == true)
        #expect(server.handle(HTTPRequest("GET", "/elsewhere")).status == 404)
    }

    @Test("makes ids if none are given")
    func ids() throws {
        for dialect in ServerProtocol.allCases {
            let server = SimulatedServer(dialect)
            var request = HTTPRequest("POST", "/tables/t")
            request.body = Array("{}".utf8)
            let ids = [server.handle(request), server.handle(request)].map { $0.body }
            #expect(ids[0] != ids[1])
            #expect(server.rows(of: "t").count == 2)
        }
    }
}

@Suite("The simulated network")
struct SimulatedNetworkTests {
    private func insert(_ id: String) throws -> HTTPRequest {
        try WireCodec(.zumo2).request(
            .write(WriteRequest(kind: .insert, table: "t", id: id, body: .empty, version: nil, operationID: id)))
    }

    @Test("does to each request what the script says")
    func script() async throws {
        let server = SimulatedServer()
        let network = SimulatedNetwork(server) { _ in server.upsert([.item("late", [:])], in: "t") }
        network.script([
            .dropRequest, .dropAnswer, .duplicate, .answer(status: 503, retryAfter: "7"), nil, .delay,
        ])
        await #expect(throws: NetworkFailure.self) { try await network.send(insert("a")) }
        #expect(server.rows(of: "t").isEmpty)
        await #expect(throws: NetworkFailure.self) { try await network.send(insert("b")) }
        #expect(server.rows(of: "t").count == 1)
        #expect(try await network.send(insert("c")).status == 409)
        let busy = try await network.send(insert("d"))
        #expect(busy.status == 503 && busy.headers.value("Retry-After") == "7")
        #expect(try await network.send(insert("e")).status == 201)
        #expect(try await network.send(insert("late")).status == 409)
        #expect(try await network.send(insert("f")).status == 201)
        #expect(network.requestCount == 7)
        network.setOffline(true)
        await #expect(throws: NetworkFailure.self) { try await network.send(insert("g")) }
    }

    @Test("draws the same faults from the same seed")
    func random() async throws {
        func outcomes(_ seed: UInt64) async throws -> [String] {
            let network = SimulatedNetwork(SimulatedServer())
            network.setRandomFaults(RandomFaults(seed: seed, perThousand: 500))
            var outcomes: [String] = []
            for number in 0..<100 {
                let request = try insert("\(number)")
                do {
                    outcomes.append("\(try await network.send(request).status)")
                } catch {
                    outcomes.append("\(error)")
                }
            }
            return outcomes
        }
        let first = try await outcomes(1)
        #expect(try await outcomes(1) == first)
        #expect(try await outcomes(2) != first)
        #expect(Set(first).count > 5)
    }

    @Test("gives up when the task is cancelled")
    func cancelled() async throws {
        let server = SimulatedServer()
        let network = SimulatedNetwork(server)
        let request = try insert("a")
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await Result { try await network.send(request) }
        }
        guard case .failure(let error) = await task.value else { return #expect(Bool(false)) }
        #expect(error as? NetworkFailure == .cancelled)
        #expect(server.rows(of: "t").isEmpty)
    }
}

extension Result where Failure == any Error {
    fileprivate init(_ body: () async throws -> Success) async {
        do { self = .success(try await body()) } catch { self = .failure(error) }
    }
}
