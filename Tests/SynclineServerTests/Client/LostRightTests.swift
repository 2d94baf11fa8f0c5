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
    static let tables = #"""
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
        var lists = store.rows(of: "todoitem").observe(RowQuery(table: "todoitem")).makeAsyncIterator()
        #expect(try await lists.next()?.rows.count == 4)
        try await store.update(id(1), "mine")
        try admin("DELETE", "share/s1")
        _ = client.line.takeRequests()
        let report = try await store.pushOnce()
        #expect(report.reason != nil)
        let conflicts = try await store.conflicts()
        // The answer does not tell a hidden row from one that never existed; the next pull does.
        #expect(conflicts.map(\.id) == [id(1)] && conflicts.map(\.reason) == [.gone])
        _ = client.line.takeRequests()
        #expect(try await store.pullAll().reason == nil)
        let asked = client.line.takeRequests().filter { $0.contains("/todoitem/0000") }
        #expect(asked.isEmpty)
        // The change stays, in front of its user.
        #expect(try await store.column("text") == [id(1): .string("mine")])
        // The live list follows; it may show earlier states first.
        while let list = try await lists.next(), list.rows.map(\.id) != [id(1)] {}
        #expect(try await store.pushOnce().reason != nil)
        let kept = try client.desk.tables.row("todoitem", id: id(1))
        #expect(kept?.columns["text"] == .string("t1"))
        func absence(_ number: Int) async throws -> RowAbsence? {
            try await store.absence("todoitem", id: id(number))
        }
        #expect(try await [absence(1), absence(2), absence(9)] == [nil, .rightLost, nil])
        // Given again, the rows return.
        try admin("POST", "share", #"{"id":"s9","user":"bob","list":"l"}"#)
        #expect(try await store.pullAll().reason == nil)
        #expect(try await store.column("text").count == 4)
        #expect(
            try client.desk.ask("DELETE", "/tables/todoitem/" + id(3), nil, ["X-ZUMO-AUTH": token("ann")]).status < 300)
        #expect(try await store.pullAll().reason == nil)
        #expect(try await [absence(2), absence(3)] == [nil, .goneInPull])
        try await store.close()
    }

    /// Who finds the loss of a right first: a push that is refused, or a pull.
    enum Finder: CaseIterable { case push, pull }

    @Test(arguments: TestBackend.stores, Finder.allCases)
    func `a change of a row whose right is lost is refused for that reason until the right is given back`(
        _ backend: TestBackend, _ finder: Finder
    ) async throws {
        for protocolVersion in ServerProtocol.allCases {
            let shared = try await SharedList(backend, protocolVersion)
            try await shared.change(finder)
            try shared.admin("DELETE", "share/s")
            if finder == .push { #expect(try await shared.store.pushOnce().outcome == .incomplete) }
            #expect(try await shared.store.pullAll().reason == nil)
            try await shared.expectRefusals()
            #expect(try await shared.store.column("text") == [shared.ids[0]: "mine"])
            #expect(try await shared.store.column("list") == [shared.ids[0]: "l"])

            // It outlives the process and its history, and another refusal.
            try await shared.store.compact()
            try await shared.store.close()
            try await shared.open()
            try await shared.expectRefusals()
            for issue in try await shared.store.issues() { try await shared.store.resolve(issue, .retry) }
            let report = try await shared.store.pushOnce()
            #expect(report.operations.map(\.reason) == Array(repeating: .conflict(.rightLost), count: 2))
            try await shared.expectRefusals()
            #expect(try shared.server(0) == "theirs" && shared.server(1) == "theirs")

            try shared.admin("POST", "share", #"{"id":"s2","user":"bob","list":"l"}"#)
            #expect(try await shared.store.pullAll().reason == nil)
            #expect(try await shared.store.conflicts().allSatisfy { $0.reason != .rightLost })
            for issue in try await shared.store.issues() {
                try await shared.store.resolve(issue, issue.kind == .refused ? .retry : .decide(.keepMine))
            }
            #expect(try await shared.store.pushOnce().outcome == .complete)
            #expect(try shared.server(0) == "mine" && shared.server(1) == nil)
            try await shared.store.close()
        }
    }

    @Test(arguments: TestBackend.stores)
    func `a lost right is the reason after a lost answer, too, and each refusal can be given up`(
        _ backend: TestBackend
    ) async throws {
        let shared = try await SharedList(backend, .zumo2)
        try await shared.change(.push)
        try shared.admin("DELETE", "share/s")
        shared.client.line.lose(1)
        guard case .stopped? = try? await shared.store.pushOnce().outcome else { return #expect(Bool(false)) }
        #expect(try await shared.store.pullAll().reason == nil)
        try await shared.expectRefusals()
        var live = shared.store.observeIssues().makeAsyncIterator()
        #expect(try await live.next()?.count == 2)
        for issue in try await shared.store.issues() { try await shared.store.resolve(issue, .discard) }
        #expect(try await live.next()?.count != 2)
        #expect(try await shared.store.pending().isEmpty)
        #expect(try await shared.store.column("text").isEmpty)
        #expect(try await shared.store.pushOnce().outcome == .complete)
        try await shared.store.close()
    }

    @Test(arguments: TestBackend.stores, [false, true])
    func `a first pull finds that rows which were pushed before are lost or deleted`(
        _ backend: TestBackend, _ isCut: Bool
    ) async throws {
        let shared = try await SharedList(backend, .zumo2, pulls: false)
        let new = (3...5).map { "00000000-0000-7000-8000-00000000000\($0)" }
        for id in new {
            try await shared.store.rows(of: "todoitem").insert(
                .object([.init("id", .string(id)), .init("list", .string(id == new[0] ? "k" : "l"))]))
        }
        try shared.admin("POST", "share", #"{"id":"k","user":"bob","list":"k"}"#)
        #expect(try await shared.store.pushOnce().reason == nil)
        try shared.admin("DELETE", "share/k")
        let ann = ["X-ZUMO-AUTH": token("ann")]
        #expect(try shared.client.desk.ask("DELETE", "/tables/todoitem/" + new[1], nil, ann).status < 300)
        _ = shared.client.line.takeRequests()
        if isCut {
            // The line breaks after the first page, and the process ends.
            let line = shared.client.line
            let answers = Mutex(0)
            line.between {
                let isSecond = answers.withLock { answers in
                    answers += 1
                    return answers == 2
                }
                if isSecond { line.lose(1) }
            }
            #expect(try await shared.store.pullAll { $0.pageSize = 1 }.reason?.code == .offline)
            line.between {}
            try await shared.store.close()
            try await shared.open()
        }
        _ = shared.client.line.takeRequests()
        let report = try await shared.store.pullAll()
        #expect(report.reason == nil && report.deleted == 2)
        #expect(try await shared.store.column("text").keys.sorted() == shared.ids + [new[2]])
        let asked = shared.client.line.takeRequests().filter { $0.contains("/todoitem/0000") }
        #expect(asked.count == (isCut ? 0 : 2), "only rows that were not among the changes: \(asked)")
        try await shared.store.pullAll()
        #expect(shared.client.line.takeRequests().count == 1)
        try await shared.store.close()
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
        #expect(try await store.conflicts().map(\.reason) == [.rightLost])
        #expect(try await store.column("text") == [id(1): .string("mine")])
        try await store.close()
    }
}

/// Two rows of a list that is shared with Bob, and his store.
private final class SharedList {
    let client: ClientDesk
    private(set) var store: SyncDatabase
    let ids = (1...2).map { "00000000-0000-7000-8000-00000000000\($0)" }
    private let configuration: SyncConfiguration

    init(_ backend: TestBackend, _ protocolVersion: ServerProtocol, pulls: Bool = true) async throws {
        client = try ClientDesk(backend, protocolVersion, tables: LostRightTests.tables)
        var configuration = SyncConfiguration()
        configuration.transport = UserLine(client.line, "bob")
        configuration.serverProtocol = protocolVersion
        self.configuration = configuration
        store = try await SyncDatabase.open(at: client.folder.path + "/bob", configuration)
        for (number, user) in ["ann", "bob"].enumerated() {
            let id = number == 1 ? "s" : "a"
            try admin("POST", "share", #"{"id":"\#(id)","user":"\#(user)","list":"l"}"#)
        }
        for id in ids {
            let body = #"{"id":"\#(id)","list":"l","text":"theirs"}"#
            let status = try client.desk.ask("POST", "/tables/todoitem", body, ["X-ZUMO-AUTH": token("ann")]).status
            #expect(status == 201)
        }
        if pulls { #expect(try await store.pullAll().reason == nil) }
    }

    func open() async throws {
        store = try await SyncDatabase.open(at: client.folder.path + "/bob", configuration)
    }

    func admin(_ method: String, _ path: String, _ body: String? = nil) throws {
        let headers = ["X-ZUMO-AUTH": token("root", claims: #","roles":["admin"]"#)]
        #expect(try client.desk.ask(method, "/tables/" + path, body, headers).status < 300)
    }

    /// Bob edits one row and deletes the other. Rows that are held are not pushed by the pull.
    func change(_ finder: LostRightTests.Finder) async throws {
        try await store.update(ids[0], "mine")
        try await store.rows(of: "todoitem").delete(id: ids[1])
        if finder == .pull { for id in ids { try await store.hold(table: "todoitem", id: id) } }
    }

    func expectRefusals() async throws {
        for row in try await store.issues() where row.kind == .held {
            try await store.release(table: "todoitem", id: row.rowID ?? "")
        }
        let issues = try await store.issues()
        #expect(issues.map(\.rowID) == ids && issues.map(\.kind) == [.refused, .refused])
        #expect(Set(issues.map(\.reason)) == ["The right to the row was lost."])
        #expect(issues.map(\.actions) == [[.retry, .discard], [.retry, .discard]])
        #expect(try await store.conflicts().map(\.reason) == [.rightLost, .rightLost])
        #expect(try await store.health().refused == 2)
    }

    /// The text of a row at the server; nil if it is deleted.
    func server(_ index: Int) throws -> Value? {
        guard let row = try client.desk.tables.row("todoitem", id: ids[index]), !row.isDeleted else { return nil }
        return row.columns["text"]
    }
}
