// Direct access to a server's tables, in both protocols.

import SynclineCore
import SynclineTesting
import SynclineWire
import Testing

@testable import Syncline

/// Responds as the test says, and records the requests.
private actor ScriptedTransport: HTTPTransport {
    private var answers: [HTTPResponse]
    private(set) var requests: [HTTPRequest] = []

    init(_ answers: [HTTPResponse]) {
        self.answers = answers
    }

    func send(_ request: HTTPRequest) async throws(NetworkFailure) -> HTTPResponse {
        requests.append(request)
        return answers.isEmpty ? HTTPResponse(status: 500) : answers.removeFirst()
    }
}

private struct TwoTokens: CredentialProvider {
    func token(insteadOf refused: String?) async throws -> AccessToken? {
        switch refused {
        case nil: "old"
        case "old": "new"
        default: nil
        }
    }
}

@Suite struct OnlineTableTests {
    private static func response(_ status: Int, _ json: String = "", headers: [HTTPHeader] = []) -> HTTPResponse {
        var response = HTTPResponse(status: status)
        response.body = Array(json.utf8)
        response.headers = headers
        return response
    }

    @Test(arguments: ServerProtocol.allCases)
    func `rows are inserted, read, changed, deleted and restored`(_ protocolVersion: ServerProtocol) async throws {
        let server = SimulatedServer(protocolVersion)
        server.setTable("t", rows: [])
        let table = Backend(SimulatedNetwork(server), speaking: protocolVersion, nil).rows(of: "t")
        let inserted = try await table.insert(.object([.init("id", .string("a")), .init("n", .integer(1))]))
        let version = try #require(inserted.columns.version)
        let changed = try await table.update(
            .object([.init("id", .string("a")), .init("n", .integer(2))]), version: version)
        #expect(changed.columns["n"] == .integer(2))
        await #expect(throws: SyncError.self) {
            try await table.update(.object([.init("id", .string("a")), .init("n", .integer(3))]), version: version)
        }
        #expect(try await table.get(id: "a")?.columns["n"] == .integer(2))
        try await table.delete(id: "a")
        #expect(try await table.get(id: "a") == nil)
        try await table.undelete(id: "a")
        #expect(try await table.get(id: "a")?.columns["n"] == .integer(2))
        #expect(try await table.get(id: "b") == nil)
    }

    @Test func `pages are followed by their links, whatever form they have`() async throws {
        let links = [
            "https://x/tables/t?$skip=1&$top=5", "http://127.0.0.1/?%24skip=1&%24top=5", "%24skip=1&%24top=5",
            "/tables/t?$skip=1&$top=5",
        ]
        for link in links {
            let first = #"{"items":[{"id":"a"}],"count":2,"nextLink":"\#(link)"}"#
            let transport = ScriptedTransport([
                Self.response(200, first), Self.response(200, #"{"items":[{"id":"b"}],"count":2,"nextLink":null}"#),
            ])
            let table = Backend(transport, speaking: .datasync3, nil).rows(of: "t")
            let page = try await table.query(RowQuery(table: "t", countsAll: true))
            #expect(page.hasMore && page.count == 2)
            let next = try #require(try await table.page(after: page))
            #expect(next.rows.map(\.id) == ["b"] && !next.hasMore)
            #expect(try await table.page(after: next) == nil)
            let asked = await transport.requests[1]
            #expect(asked.path == "/tables/t")
            #expect(asked.query == [HTTPHeader("$skip", "1"), HTTPHeader("$top", "5")])
        }
        let header = HTTPHeader("Link", "http://127.0.0.1/?%24top=10&%24skip=50; rel=next")
        let transport = ScriptedTransport([Self.response(200, #"[{"id":"a"}]"#, headers: [header])])
        #expect(
            try await Backend(transport, speaking: .zumo2, nil).rows(of: "t").query(RowQuery(table: "t")).hasMore)
    }

    @Test func `a refused token is renewed once`() async throws {
        let transport = ScriptedTransport([
            Self.response(401), Self.response(200, #"{"id":"a"}"#), Self.response(401), Self.response(401),
        ])
        let table = Backend(transport, speaking: .zumo2, TwoTokens()).rows(of: "t")
        #expect(try await table.get(id: "a") != nil)
        let error = await #expect(throws: SyncError.self) { try await table.get(id: "a") }
        #expect(error?.code == .unauthorized)
        let tokens = await transport.requests.map { $0.headers.value("X-ZUMO-AUTH") }
        #expect(tokens == ["old", "new", "new"])
    }

    /// Headers, and no token of its own.
    private struct Named: CredentialProvider {
        func token(insteadOf refused: String?) async throws -> AccessToken? { refused == nil ? "own" : nil }
        func headers() async -> [String: String] { ["X-Key": "value"] }
    }

    @Test func `a token that is set before the first request leaves the provider's headers`() async throws {
        let transport = ScriptedTransport([Self.response(200, "[]"), Self.response(200, "[]")])
        let backend = Backend(transport, speaking: .zumo2, Named())
        backend.signOut()
        for _ in 0..<2 { _ = try await backend.rows(of: "t").query(RowQuery(table: "t")) }
        let requests = await transport.requests
        #expect(requests.map { $0.headers.value("X-Key") } == ["value", "value"])
        #expect(requests.map { $0.headers.value("X-ZUMO-AUTH") } == [nil, nil])
    }

    @Test func `signing in exchanges a provider's token for the server's`() async throws {
        let transport = ScriptedTransport([
            Self.response(200, #"{"user":{"userId":"u1"},"authenticationToken":"t1"}"#), Self.response(200, "[]"),
            Self.response(200, #"{"authenticationToken":"t2"}"#), Self.response(200, "[]"), Self.response(403, "no"),
        ])
        let backend = Backend(transport, speaking: .zumo2, nil)
        let user = try await backend.signIn("WindowsAzureActiveDirectory", with: ["access_token": "x"])
        #expect(user == Backend.User(id: "u1", token: "t1"))
        _ = try await backend.rows(of: "t").query(RowQuery(table: "t"))
        #expect(try await backend.refreshSignIn() == "t2")
        _ = try await backend.rows(of: "t").query(RowQuery(table: "t"))
        let error = await #expect(throws: SyncError.self) { try await backend.signIn("aad", with: [:]) }
        #expect(error?.code == .unauthorized)
        let requests = await transport.requests
        #expect(requests[0].path == "/.auth/login/aad")
        #expect(requests[0].body == Array(#"{"access_token":"x"}"#.utf8))
        #expect(requests[1].headers.value("X-ZUMO-AUTH") == "t1")
        #expect(requests[2].path == "/.auth/refresh" && requests[2].method == "GET")
        #expect(requests[3].headers.value("X-ZUMO-AUTH") == "t2")
    }

    @Test func `a direct call to the server returns any answer`() async throws {
        let transport = ScriptedTransport([Self.response(418, #"{"tea":true}"#)])
        let backend = Backend(transport, speaking: .zumo2, nil)
        let answer = try await backend.call(
            "brew", method: "put", parameters: ["cups": "2"], value: .object([.init("a", .integer(1))]))
        #expect(answer.status == 418)
        #expect(answer.value == .object([.init("tea", .bool(true))]))
        let request = await transport.requests[0]
        #expect(request.method == "PUT" && request.path == "/api/brew")
        #expect(request.query == [HTTPHeader("cups", "2")])
        #expect(request.headers.value("Content-Type") == "application/json")
    }
}
