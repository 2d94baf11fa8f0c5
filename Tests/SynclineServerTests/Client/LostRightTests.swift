// This project's client when a right is given and taken away: rows come and go, and a change that waits is never lost and
// never sent as another's.

import Syncline
import SynclineCore
import SynclineGround
import SynclineTables
import SynclineWire
import Testing

@testable import SynclineServer

/// The line of a user.
final class UserLine: HTTPTransport {
    private let line: DeskLine
    private let user: String

    init(_ line: DeskLine, _ user: String) { (self.line, self.user) = (line, user) }

    func send(_ request: HTTPRequest) async throws(NetworkFailure) -> HTTPResponse {
        var request = request
        request.headers.append(HTTPHeader("X-ZUMO-AUTH", token(user)))
        return try await line.send(request)
    }
}

@Suite struct LostRightTests {
    private static let tables = #"""
        {"todoitem":{"columns":{"list":"string","text":"string"},"read":"list in share(list where user eq auth.sub)"},
        "share":{"columns":{"user":"string","list":"string"},"softDelete":false,
          "insert":"role:admin","update":"role:admin","delete":"role:admin","undelete":"role:admin"}}
        """#

    private func id(_ number: Int) -> String { "00000000-0000-7000-8000-00000000000\(number)" }

    @Test(arguments: TestBackend.stores, ServerProtocol.allCases)
    func `rows whose right is lost go without a question, and a change that waits becomes a conflict`(
        _ backend: TestBackend, _ protocolVersion: ServerProtocol
    ) async throws {
        let client = try ClientDesk(backend, protocolVersion, tables: Self.tables)
        func admin(_ method: String, _ path: String, _ body: String? = nil) throws {
            let headers = ["X-ZUMO-AUTH": token("root", claims: #","roles":["admin"]"#)]
            #expect(try client.desk.ask(method, "/tables/" + path, body, headers).status < 300)
        }
        for (number, user) in ["ann", "bob"].enumerated() {
            try admin("POST", "share", #"{"id":"s\#(number)","user":"\#(user)","list":"l"}"#)
        }
        for number in 1...4 {
            let body = #"{"id":"\#(id(number))","list":"l","text":"t\#(number)"}"#
            #expect(try client.desk.ask("POST", "/tables/todoitem", body, ["X-ZUMO-AUTH": token("ann")]).status == 201)
        }
        var configuration = SyncConfiguration()
        configuration.transport = UserLine(client.line, "bob")
        configuration.serverProtocol = protocolVersion
        let store = try await SyncDatabase.open(at: client.folder.path + "/bob", configuration)
        #expect(try await store.pullAll().reason == nil)
        #expect(try await store.column("text").count == 4)
        try await store.update(id(1), "mine")
        try admin("DELETE", "share/s1")
        _ = client.line.takeRequests()
        let report = try await store.pushOnce()
        #expect(report.reason != nil)
        let conflicts = try await store.conflicts()
        #expect(conflicts.map(\.id) == [id(1)] && conflicts.map(\.reason) == [.gone])
        _ = client.line.takeRequests()
        #expect(try await store.pullAll().reason == nil)
        let asked = client.line.takeRequests().filter { $0.contains("/todoitem/0000") }
        #expect(asked.isEmpty)
        // The change stays, in front of its user.
        #expect(try await store.column("text") == [id(1): .string("mine")])
        #expect(try await store.pushOnce().reason != nil)
        let kept = try client.desk.tables.row("todoitem", id: id(1))
        #expect(kept?.columns["text"] == .string("t1"))
        // Given again, the rows return.
        try admin("POST", "share", #"{"id":"s9","user":"bob","list":"l"}"#)
        #expect(try await store.pullAll().reason == nil)
        #expect(try await store.column("text").count == 4)
        try await store.close()
    }

    @Test(arguments: TestBackend.stores)
    func `a pull alone finds the loss of a row with a change that waits`(_ backend: TestBackend) async throws {
        let client = try ClientDesk(backend, .zumo2, tables: Self.tables)
        let headers = ["X-ZUMO-AUTH": token("root", claims: #","roles":["admin"]"#)]
        func admin(_ method: String, _ path: String, _ body: String? = nil) throws {
            #expect(try client.desk.ask(method, "/tables/" + path, body, headers).status < 300)
        }
        try admin("POST", "share", #"{"id":"s","user":"bob","list":"l"}"#)
        var configuration = SyncConfiguration()
        configuration.transport = UserLine(client.line, "bob")
        let store = try await SyncDatabase.open(at: client.folder.path + "/bob", configuration)
        try await store.rows(of: "todoitem").insert(
            .object([.init("id", .string(id(1))), .init("list", .string("l")), .init("text", .string("a"))]))
        #expect(try await store.pushOnce().reason == nil)
        #expect(try await store.pullAll().reason == nil)
        try admin("DELETE", "share/s")
        try await store.update(id(1), "mine")
        try await store.hold(table: "todoitem", id: id(1))
        #expect(try await store.pullAll().reason == nil)
        #expect(try await store.conflicts().map(\.reason) == [.gone])
        #expect(try await store.column("text") == [id(1): .string("mine")])
        try await store.close()
    }
}
