// Responses that no server should send: each is an error with a code and a hint, or parks a write, and the store
// stays unchanged.

import SynclineCore
import SynclineTesting
import SynclineWire
import Testing

@testable import Syncline

@Suite struct BadServerTests {
    private static func store(
        _ answer: @escaping @Sendable (HTTPRequest) -> Result<HTTPResponse, NetworkFailure>
    ) async throws -> SyncDatabase {
        var configuration = SyncConfiguration.test()
        configuration.transport = PlayedLine { answer($0) }
        return try await SyncDatabase.open(MemoryStorage(granularity: .sector), configuration)
    }

    private static let row = #"{"id":"a","version":"1","updatedAt":"2026-01-01T00:00:00Z"}"#

    private static let lists: [HTTPResponse] =
        [
            "", "{", "[", "null", "7", #""text""#, #"{"results":7}"#, #"{"items":"x"}"#, #"{"error":"no"}"#,
            String(repeating: "[", count: 100_000), "\u{0}", #"[{"id":"a","x":1e999}]"#,
            #"{"results":[{"id":"a","version":"1"}],"count":5}"#,
            #"{"results":[{"id":"a","updatedAt":"tomorrow"}],"count":5}"#,
        ].map { HTTPResponse.json(200, $0) }
        + [204, 300, 301, 302, 304, 307, 400, 403, 404, 418, 500, 503].map { HTTPResponse.json($0, "{}") }

    @Test func `a list that can't be read stops the pull, and nothing is stored`() async throws {
        for response in Self.lists {
            let database = try await Self.store { _ in .success(response) }
            let before = database.lastEvent
            var settings = PullSettings()
            settings.queryID = "q"
            settings.retries = 1
            let report = try await database.pull("t", settings)
            let text = String(decoding: response.body.prefix(80), as: UTF8.self)
            #expect(report.reason?.code == .serverError, "\(response.status) \(text)")
            #expect(report.reason?.message.isEmpty == false)
            #expect(report.reason?.hint != nil, "\(response.status) \(text)")
            #expect(database.lastEvent == before, "\(response.status) \(text)")
        }
    }

    @Test(arguments: [false, true])
    func `a row without an id that comes whatever is asked stops the pull, and is listed`(reconciles: Bool)
        async throws
    {
        for body in [
            "[1]", #"[{"id":1}]"#, #"[{"noid":true}]"#, #"[{"id":null}]"#, #"{"results":[{}],"count":2}"#,
        ] {
            let database = try await Self.store { _ in .success(.json(200, body)) }
            let report = try await database.pull("t", PullSettings(queryID: "q", reconciles: reconciles, retries: 1))
            #expect(report.reason?.code == .serverError && report.reason?.hint != nil, "\(body)")
            #expect(report.requests < 100, "\(body)")
            #expect(try await database.unreadableRows().map(\.id) == [nil], "\(body)")
            #expect(try await database.rows(of: "t").count() == 0, "\(body)")
        }
    }

    @Test func `a page of another kind or in no order stops the pull`() async throws {
        var html = HTTPResponse.json(200, "<html><body>Sign in</body></html>")
        html.headers = [HTTPHeader("Content-Type", "text/html")]
        let turned = #"{"id":"b","version":"1","updatedAt":"2025-01-01T00:00:00Z"}"#
        for response in [html, .json(200, #"{"results":[\#(Self.row),\#(turned)],"count":9}"#)] {
            let database = try await Self.store { _ in .success(response) }
            let before = database.lastEvent
            let report = try await database.pull("t")
            #expect(report.reason?.code == .serverError)
            #expect(database.lastEvent == before)
        }
    }

    @Test func `the same page again and again ends, with and without an audit`() async throws {
        for count in ["", #","count":50"#] {
            for reconciles in [false, true] {
                let database = try await Self.store { _ in .success(.json(200, #"{"results":[\#(Self.row)]\#(count)}"#))
                }
                var settings = PullSettings()
                settings.queryID = "q"
                settings.reconciles = reconciles
                let report = try await database.pull("t", settings)
                #expect(report.reason?.code == .serverError && report.reason?.hint != nil)
                #expect(report.requests < 20)
            }
        }
    }

    @Test func `servers of two versions at one address stop a pull that read nothing`() async throws {
        // The server says it has a changes feed, and then does not.
        let able = HTTPHeader(WireHeader.capabilities, "changes")
        let database = try await Self.store { request in
            request.path.hasSuffix("/changes")
                ? .success(.json(404, "{}")) : .success(.json(200, #"{"results":[]}"#, [able]))
        }
        let before = database.lastEvent
        var settings = PullSettings()
        settings.queryID = "q"
        for _ in 0..<2 {
            let report = try await database.pull("t", settings)
            #expect(report.reason?.code == .serverError && report.reason?.hint != nil)
            #expect(report.received == 0 && report.requests < 20)
        }
        #expect(database.lastEvent == before)
    }

    @Test func `an answer that is too large stops a pull and a push, and nothing is lost`() async throws {
        let database = try await Self.store { _ in .failure(.refused("the answer is too large")) }
        try await database.rows(of: "t").insert(.item("a", [:]))
        var settings = PullSettings()
        settings.pushesFirst = false
        #expect(try await database.pull("t", settings).reason?.code == .serverError)
        let report = try await database.push()
        #expect(report.reason?.code == .serverError)
        #expect(report.reason?.hint != nil)
        #expect(try await database.pending().map(\.maybeSent) == [true])
    }

    @Test func `a redirect parks a write, with the server's words`() async throws {
        for status in [301, 302, 303, 307, 308] {
            let response = HTTPResponse.json(status, #"{"message":"elsewhere"}"#, [HTTPHeader("Location", "/x")])
            let database = try await Self.store { _ in .success(response) }
            try await database.rows(of: "t").insert(.item("a", [:]))
            #expect(try await database.push().outcome == .incomplete)
            let conflict = try #require(try await database.conflicts().first)
            #expect(conflict.state == .parked && conflict.status == status && conflict.message == "elsewhere")
        }
    }

    @Test func `a write with an empty answer is looked up, and stays frozen if that fails`() async throws {
        for body in ["", "{", "[]", "7", #"{"id":7}"#, #"{"id":"other"}"#, "<html>"] {
            let database = try await Self.store { _ in .success(.json(200, body)) }
            try await database.rows(of: "t").insert(.item("a", ["n": .integer(1)]))
            let report = try await database.push()
            #expect(report.reason?.code == .serverError, "\(body)")
            #expect(try await database.pending().map(\.isFrozen) == [true])
            #expect(try await database.rows(of: "t").get(id: "a")?.columns["n"] == .integer(1))
        }
    }

    @Test(arguments: ServerProtocol.allCases)
    func `a server of the other protocol ends in a report, and nothing is lost`(_ protocolVersion: ServerProtocol)
        async throws
    {
        let server = SimulatedServer(protocolVersion == .zumo2 ? .datasync3 : .zumo2)
        server.setTable("t", rows: Value.rows(5), pageLimit: 2)
        var configuration = SyncConfiguration.test()
        configuration.serverProtocol = protocolVersion
        configuration.transport = PlayedLine { request in
            var request = request
            request.headers.removeAll { $0.isNamed("ZUMO-API-VERSION") }
            return .success(server.handle(request))
        }
        let database = try await SyncDatabase.open(MemoryStorage(granularity: .sector), configuration)
        try await database.rows(of: "t").insert(.item("a", ["n": .integer(1)]))
        let report = try await database.push()
        #expect(try await database.rows(of: "t").get(id: "a")?.columns["n"] == .integer(1))
        #expect(report.outcome == .complete || report.reason?.hint != nil)
        let pulled = try await database.pull("t")
        #expect(pulled.reason == nil || pulled.reason?.hint != nil)
    }
}
