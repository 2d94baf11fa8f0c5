// A server with tenants over real sockets: each has its own rows, numbers and epoch, and none waits for another.

import Dispatch
import Foundation
import SynclineCore
import SynclineGround
import SynclineTables
import SynclineWire
import Testing

@testable import SynclineServer

@Suite(.timeLimit(.minutes(10))) struct TenantTests {
    private struct Answer {
        let status: Int
        let text: String

        func header(_ name: String) -> String? {
            text.split(separator: "\r\n").first { $0.lowercased().hasPrefix(name.lowercased() + ": ") }
                .map { String($0.dropFirst(name.count + 2)) }
        }
    }

    private func ask(
        _ server: RunningServer, _ method: String, _ target: String, _ body: String? = nil, user: String? = nil,
        of tenant: String? = nil, host: String = "x", headers: String = ""
    ) throws -> Answer {
        var text = "\(method) \(target) HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n\(headers)"
        if let user {
            let claims = tenant.map { #","org":"\#($0)""# } ?? ""
            text += "X-ZUMO-AUTH: \(token(user, claims: claims))\r\n"
        }
        if let body { text += "Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n" }
        let answer = try server.exchange(text + "\r\n" + (body ?? ""))
        return Answer(status: Int(answer.dropFirst(9).prefix(3)) ?? 0, text: answer)
    }

    private let tables = #"{"t":{"columns":{"text":"string"}},"mine":{"access":"authenticated","columns":{}}}"#

    /// A server with the tenants a and b.
    private func server(_ backend: TestBackend = .sqlite, by: String = "path", more: String = "") throws
        -> RunningServer
    {
        let (first, second) = (try backend.store(), try backend.store())
        let names = by == "host" ? ["a.example", "b.example"] : ["a", "b"]
        let stores = zip(names, [first.0, second.0]).map { "\(Value.string($0).json):\(Value.string($1).json)" }
        return try RunningServer(
            tenants: #"{"by":"\#(by)","claim":"org"\#(more),"stores":{\#(stores.joined(separator: ","))}}"#,
            tables: tables, more: #","maxTop":10,"pageSize":1,"cors":{"origins":["localhost"]}"#,
            [first.1, second.1] as AnyObject)
    }

    @Test(arguments: TestBackend.available)
    func `tenants share nothing`(_ backend: TestBackend) throws {
        let server = try server(backend)
        defer { withExtendedLifetime(server) {} }
        for id in ["x", "y"] {
            let made = try ask(
                server, "POST", "/a/tables/t", #"{"id":"\#(id)","text":"of a"}"#, headers: "ZUMO-API-VERSION: 3.0.0\r\n"
            )
            #expect(made.status == 201, "\(made.text)")
            #expect(made.header("Location") == "http://x/a/tables/t/\(id)")
        }
        #expect(try ask(server, "GET", "/b/tables/t/x").status == 404)
        #expect(try ask(server, "GET", "/b/tables/t").text.hasSuffix("[]"))
        let page = try ask(server, "GET", "/a/tables/t?$orderby=id")
        #expect(page.text.contains("of a") && page.header("Link")?.hasPrefix("<") != true)
        #expect(page.header("Link")?.hasPrefix("http://x/a/tables/t?") == true, "\(page.text)")
        let epochs = try ["a", "b"].map { try ask(server, "GET", "/\($0)/tables/t").header("X-Syncline-Epoch") }
        #expect(epochs[0] != nil && epochs[0] != epochs[1])
        // A cursor says which history it is a place in.
        let changes = try ask(server, "GET", "/a/tables/t/changes?since=")
        let cursor = try #require(changes.text.firstMatch(of: /"end":"([^"]+)"/)?.1)
        #expect(try ask(server, "GET", "/a/tables/t/changes?since=\(cursor)").status == 200)
        #expect(try ask(server, "GET", "/b/tables/t/changes?since=\(cursor)").status == 410)
    }

    @Test func `a token is for its tenant only`() throws {
        let server = try server()
        defer { withExtendedLifetime(server) {} }
        for tenant in ["a", "b"] {
            let made = try ask(server, "POST", "/\(tenant)/tables/mine", #"{"id":"x"}"#, user: "ann", of: tenant)
            #expect(made.status == 201)
        }
        for (method, target, body) in [
            ("GET", "/b/tables/mine", nil), ("GET", "/b/tables/mine/x", nil), ("GET", "/b/tables/t", nil),
            ("DELETE", "/b/tables/mine/x", nil), ("POST", "/b/tables/mine", #"{"id":"y"}"#),
            ("GET", "/b/tables/$events", nil), ("GET", "/b/tables/mine/changes?since=", nil),
            ("POST", "/b/tables/$batch", #"{"operations":[]}"#), ("GET", "/b/tables/$access", nil),
        ] as [(String, String, String?)] {
            for tenant in ["a", nil] {
                let answer = try ask(server, method, target, body, user: "ann", of: tenant)
                #expect(answer.status == 401 && answer.text.contains("other-tenant"), "\(method) \(target)")
                #expect(answer.header("WWW-Authenticate") == "Bearer")
            }
        }
        #expect(try ask(server, "GET", "/b/tables/mine/x", user: "ann", of: "b").status == 200)
        // It has no tenant, so it has no rows.
        #expect(try ask(server, "GET", "/c/tables/mine", user: "ann", of: "c").status == 503)
        #expect(try ask(server, "DELETE", "/c/tables/mine/x", user: "ann", of: "c").status == 503)
    }

    @Test func `a tenant is found by the host, and by the token`() throws {
        let hosts = try server(by: "host")
        #expect(try ask(hosts, "POST", "/tables/t", #"{"id":"x"}"#, host: "A.example:80").status == 201)
        #expect(try ask(hosts, "GET", "/tables/t/x", host: "a.example").status == 200)
        #expect(try ask(hosts, "GET", "/tables/t/x", host: "b.example").status == 404)
        #expect(try ask(hosts, "GET", "/tables/t/x", host: "c.example").status == 503)
        let claims = try server(by: "claim")
        #expect(try ask(claims, "POST", "/tables/mine", #"{"id":"x"}"#, user: "ann", of: "a").status == 201)
        #expect(try ask(claims, "GET", "/tables/mine/x", user: "ann", of: "a").status == 200)
        #expect(try ask(claims, "GET", "/tables/mine/x", user: "ann", of: "b").status == 404)
        #expect(try ask(claims, "GET", "/tables/t").status == 401)
        // A browser asks before it sends a token.
        let asked = try ask(
            claims, "OPTIONS", "/tables/t",
            headers: "Origin: http://localhost\r\nAccess-Control-Request-Headers: authorization\r\n")
        #expect(asked.status == 204 && asked.header("Access-Control-Allow-Headers") == "authorization")
        #expect(try ask(claims, "DELETE", "/healthz").status == 405)
        withExtendedLifetime((hosts, claims)) {}
    }

    @Test func `a tenant whose store can't be opened is refused until it can be, and the others are served`() throws {
        let folder = try TemporaryFolder()
        let stores = #"{"a":"sqlite:\#(folder.path)/a","b":"sqlite:\#(folder.path)/no/b"}"#
        let tenants = #"{"by":"path","claim":false,"stores":\#(stores)}"#
        let server = try RunningServer(tenants: tenants, tables: tables, folder)
        defer { withExtendedLifetime(server) {} }
        for (method, target, body) in [
            ("GET", "/b/tables/t", nil), ("POST", "/b/tables/t", #"{"id":"x"}"#), ("DELETE", "/b/tables/t/x", nil),
            ("GET", "/b/tables/$events", nil), ("GET", "/b/healthz", nil), ("GET", "/b/tables/t/x", nil),
        ] as [(String, String, String?)] {
            let answer = try ask(server, method, target, body)
            #expect(answer.status == 503 && answer.header("Retry-After") == "1", "\(method) \(target): \(answer.text)")
            #expect(!answer.text.contains(folder.path))
        }
        #expect(try ask(server, "POST", "/a/tables/t", #"{"id":"x"}"#).status == 201)
        #expect(try ask(server, "GET", "/healthz").status == 200)
        let metrics = try ask(server, "GET", "/metrics").text
        #expect(metrics.contains(#"syncline_tenant_open{tenant="a"} 1"#))
        #expect(metrics.contains(#"syncline_tenant_open{tenant="b"} 0"#))
        #expect(metrics.contains(#"syncline_tenant_requests_total{tenant="b"} 6"#))
        #expect(metrics.contains(#"{tenant="a","#), "the measures of its store")
        try FileManager.default.createDirectory(atPath: folder.path + "/no", withIntermediateDirectories: false)
        while try ask(server, "GET", "/b/tables/t").status == 503 {}
        #expect(try ask(server, "POST", "/b/tables/t", #"{"id":"x"}"#).status == 201)
    }

    @Test(arguments: TestBackend.available)
    func `a listener hears of its tenant's changes only`(_ backend: TestBackend) throws {
        let server = try server(backend)
        defer { withExtendedLifetime(server) {} }
        let listener = try server.connect()
        let login = "X-ZUMO-AUTH: \(token(claims: #","org":"a""#))\r\n"
        listener.send("GET /a/tables/$events HTTP/1.1\r\nHost: x\r\n\(login)\r\n")
        #expect(listener.read(until: "data: ").contains("200 OK"))
        #expect(try ask(server, "POST", "/b/tables/t", #"{"id":"x"}"#).status == 201)
        #expect(try ask(server, "POST", "/a/tables/mine", #"{"id":"x"}"#, user: "ann", of: "a").status == 201)
        let heard = listener.read(until: "tables: ") + listener.read(until: "\n\n")
        #expect(!heard.contains("tables: t") && heard.contains("mine"))
    }

    @Test func `a tenant's requests are delayed, then refused, and not those of others`() throws {
        let server = try server(more: #","requestsPerSecond":1"#)
        defer { withExtendedLifetime(server) {} }
        // Two at most are answered now or wait for a second.
        let text = "GET /a/healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
        let clients = try (0..<20).map { _ in
            let client = try server.connect()
            client.send(text)
            return client
        }
        #expect(try ask(server, "GET", "/b/healthz").status == 200)
        let answers = clients.map { $0.rest() }
        #expect(answers.contains { $0.hasPrefix("HTTP/1.1 200") })
        let refused = answers.filter { $0.hasPrefix("HTTP/1.1 429") }
        #expect(!refused.isEmpty && refused.allSatisfy { $0.contains("Retry-After: 1\r\n") })
        #expect(refused.count + answers.count { $0.hasPrefix("HTTP/1.1 200") } == answers.count)
    }

    @Test func `a stop interrupts a store that is being opened`() throws {
        let begun = DispatchSemaphore(value: 0)
        let tenant = Tenant("a", note: { _ in }) { () throws(StoreFailure) in
            begun.signal()
            while WorkLimit.current?.stop != .unwanted {}
            throw .busy("interrupted")
        }
        var notes = RequestNotes()
        guard case .later(.again(let wait)) = tenant.choice(&notes) else { throw CancellationError() }
        let resumed = DispatchSemaphore(value: 0)
        wait { resumed.signal() }
        begun.wait()
        tenant.interrupt()
        tenant.endWork()
        resumed.wait()
        guard case .answer(let answer) = tenant.choice(&notes) else { throw CancellationError() }
        #expect(answer.status == 503 && tenant.store == nil)
        // It is resumed also by an opener that has ended.
        wait { resumed.signal() }
        resumed.wait()
    }

    @Test func `a store that was opened while the server stops is closed`() throws {
        let folder = try TemporaryFolder()
        let (begun, go) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        var settings = try configuration(#"{"tables":{"t":{}}}"#)
        settings.store = "sqlite:\(folder.path)/test.db"
        let tenant = Tenant("a", note: { _ in }) { [settings] () throws(StoreFailure) in
            begun.signal()
            go.wait()
            let store = try ServedStore(settings, StillEnvironment(), TokenGate(nil))
            return (store, StoreFront(settings, store.answers))
        }
        var notes = RequestNotes()
        guard case .later(.again(let wait)) = tenant.choice(&notes) else { throw CancellationError() }
        let resumed = DispatchSemaphore(value: 0)
        wait { resumed.signal() }
        begun.wait()
        tenant.interrupt()
        go.signal()
        resumed.wait()
        #expect(tenant.store == nil && tenant.front == nil)
    }

    @Test func `a new tenant needs no restart, and a new epoch is one tenant's`() throws {
        let folder = try TemporaryFolder()
        func settings(_ names: String) throws -> ServerConfiguration {
            let stores = names.map { #""\#($0)":"sqlite:\#(folder.path)/\#($0)""# }.joined(separator: ",")
            return try configuration(
                """
                {"tenants":{"by":"path","claim":false,"stores":{\(stores)}},"listen":"127.0.0.1:0","log":"none",
                "tables":{"t":{}}}
                """)
        }
        func epochs(_ server: Server) throws -> [String: String] {
            let tenants = try #require(server.stores as? Tenants)
            for name in tenants.known.value.plan.names { try tenants.open(name) }
            return tenants.known.value.tenants.mapValues { $0.store?.store.epoch ?? "" }
        }
        let server = try Server(try settings("ab"))
        let before = try epochs(server)
        #expect(throws: StartFailure.self) { try server.reload(try settings("a")) }
        try server.reload(try settings("abc"))
        #expect(try epochs(server).filter { $0.key != "c" } == before)
        #expect(try epochs(server).count == 3)
        // As one that was there from the start, it keeps its store.
        #expect(throws: StartFailure.self) { try server.reload(try settings("ab")) }
        var moved = try settings("abc")
        moved.tenants?.stores["c"] = try StorePlaces("sqlite:\(folder.path)/d")
        #expect(throws: StartFailure.self) { try server.reload(moved) }
        server.stop()
        var renewing = try settings("ab")
        (renewing.renewsEpoch, renewing.tenant) = (true, "b")
        let again = try Server(renewing)
        let after = try epochs(again)
        #expect(after["a"] == before["a"] && after["b"] != before["b"])
        again.stop()
    }
}
