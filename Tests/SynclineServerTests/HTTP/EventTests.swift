// Streams of events over real sockets: what listeners of some tables hear, of commits in any process.

import SynclineCore
import SynclineGround
import SynclineWire
import Testing

@testable import SynclineServer
@testable import SynclineTables

@Suite(.timeLimit(.minutes(10))) struct EventTests {
    private func get(_ target: String, _ headers: String = "") -> String {
        "GET \(target) HTTP/1.1\r\nHost: x\r\n\(headers)\r\n"
    }

    private func send(
        _ method: String, _ target: String, _ body: String, _ headers: String = "", to server: RunningServer
    )
        throws
    {
        let answer = try server.exchange(
            "\(method) /tables/\(target) HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nConnection: close\r\n"
                + "Content-Length: \(body.utf8.count)\r\n\(headers)\r\n\(body)")
        #expect(answer.hasPrefix("HTTP/1.1 20"), "\(answer)")
    }

    /// The latest mark that a server's readers see.
    private func end(_ server: RunningServer, _ table: String = "todoitem") throws -> String {
        let page = try server.exchange(get("/tables/\(table)/changes?since=", "Connection: close\r\n"))
        return String(try #require(page.firstMatch(of: /"end":"([^"]+)"/)?.1))
    }

    /// A listener that has had its first event.
    private func listen(_ server: RunningServer, _ tables: String?, _ headers: String = "") throws -> RawConnection {
        let listener = try server.connect()
        listener.send(get("/tables/$events" + (tables.map { "?tables=\($0)" } ?? ""), headers))
        let first = listener.read(until: "data: ")
        #expect(first.contains("200 OK") && first.contains("text/event-stream") && first.contains("event: change"))
        #expect(!first.contains("tables:"), "what it has read is not known")
        return listener
    }

    /// The names in a listener's events up to a mark.
    private func heard(_ listener: RawConnection, until mark: String) -> [String] {
        listener.read(until: "data: \(mark)\n").matches(of: /tables: (.*)\n/).map { String($0.1) }
    }

    @Test(arguments: TestBackend.available)
    func `a listener hears of the tables that it names, and of no others`(_ backend: TestBackend) throws {
        let server = try RunningServer(backend)
        defer { withExtendedLifetime(server) {} }
        let (some, all) = (try listen(server, "TodoItem,hard,nothing"), try listen(server, nil))
        try send("POST", "fixed", #"{"id":"f"}"#, to: server)
        let (fixed, first) = (try end(server), heard(all, until: try end(server)))
        #expect(first == ["fixed"])
        try send("POST", "todoitem", #"{"id":"a"}"#, to: server)
        let inserted = try end(server)
        #expect(heard(some, until: inserted) == ["todoitem"] && heard(all, until: inserted) == ["todoitem"])
        #expect(inserted != fixed)
        try send("POST", "hard", #"{"id":"h"}"#, to: server)
        #expect(heard(some, until: try end(server)) == ["hard"])
        try send("DELETE", "hard/h", "", to: server)
        #expect(heard(some, until: try end(server)) == ["hard"], "a tombstone is a change")
        let batch = #"""
            {"operations":[{"operation":"insert","table":"todoitem","item":{"id":"b"}},\#
            {"operation":"insert","table":"hard","item":{"id":"i"}},\#
            {"operation":"insert","table":"fixed","item":{"id":"g"}}]}
            """#
        try send("POST", "$batch", batch, to: server)
        #expect(heard(some, until: try end(server)) == ["hard,todoitem"])
    }

    @Test(arguments: TestBackend.available)
    func `a caller hears of his own lists, and of no others`(_ backend: TestBackend) throws {
        let tables = #"""
            {"note":{"columns":{"list":"string"},"read":"list in share(list where user eq auth.sub)"},
            "share":{"columns":{"user":"string","list":"string"},"insert":"role:admin","update":"role:admin",
              "delete":"role:admin","undelete":"role:admin"},"other":{}}
            """#
        let server = try RunningServer(backend, tables: tables)
        defer { withExtendedLifetime(server) {} }
        func login(_ user: String) -> String { "X-ZUMO-AUTH: \(token(user))\r\n" }
        let admin = "X-ZUMO-AUTH: \(token("root", claims: #","roles":["admin"]"#))\r\n"
        for user in ["ann", "bob"] {
            try send("POST", "share", #"{"id":"\#(user)","user":"\#(user)","list":"\#(user)"}"#, admin, to: server)
        }
        let (ann, bob) = (
            try listen(server, "note,other", login("ann")), try listen(server, "note,other", login("bob"))
        )
        let id = "00000000-0000-7000-8000-000000000001"
        try send("POST", "note", #"{"id":"\#(id)","list":"ann"}"#, login("ann"), to: server)
        let written = try end(server, "other")
        #expect(heard(ann, until: written) == ["note"])
        try send("POST", "other", #"{"id":"a"}"#, to: server)
        #expect(heard(bob, until: try end(server, "other")) == ["other"])
        // He gains a list, and loses it.
        let shared = #"{"id":"both","user":"bob","list":"ann"}"#
        try send("POST", "share", shared, admin, to: server)
        #expect(heard(bob, until: try end(server, "other")) == ["note"])
        try send("DELETE", "share/both", "", admin, to: server)
        #expect(heard(bob, until: try end(server, "other")) == ["note"])
    }

    @Test(arguments: TestBackend.available)
    func `a listener hears of commits in another process`(_ backend: TestBackend) throws {
        let server = try RunningServer(backend)
        let other = try RunningServer(backend, beside: server)
        defer { withExtendedLifetime((server, other)) {} }
        let listener = try listen(server, "todoitem")
        for number in 0..<5 {
            try send("POST", "fixed", #"{"id":"\#(number)"}"#, to: other)
            try send("POST", "todoitem", #"{"id":"\#(number)"}"#, to: other)
            #expect(heard(listener, until: try end(other)) == ["todoitem"])
        }
    }

    @Test func `a request for events names tables that there are, and that the caller may read`() throws {
        let server = try RunningServer()
        defer { withExtendedLifetime(server) {} }
        func answer(_ query: String) throws -> String {
            let text = try server.exchange(get("/tables/$events?\(query)", "Connection: close\r\n"))
            let code = text.firstMatch(of: /"code":"([^"]+)"/)?.1
            return "\(text.dropFirst(9).prefix(3)) \(code ?? "")"
        }
        for query in ["tables=", "tables=,", "tables=todoitem,", "tables=%20"] {
            #expect(try answer(query) == "400 invalid-tables", "\(query)")
        }
        for name in [
            "nothing", "nothing,none", "%00", "a%0Aevent:%20x", "'%22;--", "%F0%9F%90%8C",
            "x" + String(repeating: ",x", count: 2000),
        ] {
            #expect(try answer("tables=\(name)") == "404 table-not-found", "\(name)")
        }
        #expect(try answer("tables=secure").hasPrefix("401"))
        #expect(try answer("tables=secure,nothing").hasPrefix("401"))
    }

    @Test(arguments: TestBackend.available)
    func `a listener hears only of tables that it may read`(_ backend: TestBackend) throws {
        let server = try RunningServer(
            backend, tables: #"{"open":{},"shut":{"read":"disabled"},"staff":{"read":"role:staff"}}"#)
        defer { withExtendedLifetime(server) {} }
        let ann = "Authorization: Bearer \(token(claims: #","roles":["staff"]"#))\r\n"
        let (guest, staff) = (try listen(server, nil), try listen(server, "open,shut,staff", ann))
        try send("POST", "shut", "{}", to: server)
        try send("POST", "staff", "{}", to: server)
        #expect(heard(staff, until: try end(server, "open")) == ["staff"])
        try send("POST", "open", "{}", to: server)
        let mark = try end(server, "open")
        #expect(heard(guest, until: mark) == ["open"] && heard(staff, until: mark) == ["open"])
    }

    @Test func `a membership is a change of the table whose rows it shows`() throws {
        let server = try RunningServer(
            tables: #"""
                {"note":{"columns":{"list":"string"},"read":"list in member(list where user eq auth.sub)"},
                "member":{"columns":{"list":"string","user":"string"},"access":"authenticated","insert":"role:staff","update":"disabled","delete":"disabled","undelete":"disabled"},"other":{}}
                """#)
        defer { withExtendedLifetime(server) {} }
        let ann = "Authorization: Bearer \(token(claims: #","roles":["staff"]"#))\r\n"
        let listener = try listen(server, "note", ann)
        try send("POST", "other", "{}", to: server)
        try send("POST", "member", #"{"list":"l","user":"ann"}"#, ann, to: server)
        #expect(heard(listener, until: try end(server, "other")) == ["note"])
    }

    @Test(arguments: TestBackend.available)
    func `a table that is dropped, and comes again, wakes its listeners`(_ backend: TestBackend) throws {
        let server = try RunningServer(backend)
        defer { withExtendedLifetime(server) {} }
        let (gone, rest) = (try listen(server, "hard"), try listen(server, "todoitem"))
        try server.store.database.carryOut([#"ALTER TABLE "hard" RENAME TO "away""#])
        try send("POST", "todoitem", #"{"id":"a"}"#, to: server)
        let mark = try end(server)
        #expect(heard(rest, until: mark) == ["todoitem"])
        #expect(heard(gone, until: mark) == ["hard"])
        try server.store.database.carryOut([#"ALTER TABLE "away" RENAME TO "hard""#])
        try server.store.look()
        try send("POST", "todoitem", #"{"id":"b"}"#, to: server)
        try send("POST", "hard", #"{"id":"b"}"#, to: server)
        #expect(heard(gone, until: try end(server)) == ["hard"])
    }

    @Test func `each of many listeners hears every latest mark`() {
        let change = Mutex<Int64>(1)
        let hub = EventHub(buckets: { _, _, _ in [:] }) { _, _ in
            ChangeNews(ChangeMark(epoch: "e", change: change.withLock { $0 }, purged: 0), ["a"])
        }
        let streams = (0..<200).map { _ in EventStream {} }
        func wait(for number: Int64) {
            for stream in streams {
                var seen = ""
                let cursor = ChangeCursor(epoch: "e", change: number).text
                while !seen.contains("data: \(cursor)\n") {
                    if case .bytes(let bytes) = stream.next(atMost: 1000, suspend: {}) {
                        seen += String(decoding: bytes, as: UTF8.self)
                    }
                }
            }
        }
        for stream in streams { hub.add(stream, EventInterest(["a", "b"])) }
        wait(for: 1)
        change.withLock { $0 = 2 }
        hub.wake()
        wait(for: 2)
        // Without being told of the commit, it finds out.
        change.withLock { $0 = 3 }
        wait(for: 3)
        hub.end()
    }
}
