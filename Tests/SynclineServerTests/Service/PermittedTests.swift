// What the server says a caller may do, before anything is tried.

import Syncline
import SynclineCore
import SynclineTables
import SynclineWire
import Testing

@testable import SynclineServer

@Suite struct PermittedTests {
    private static let tables = #"""
        {"open":{"columns":{"text":"string"}},
        "fixed":{"read":"authenticated","insert":"role:admin","update":"disabled","delete":"role:admin",
          "undelete":"disabled","columns":{"text":"string"}},
        "mine":{"access":"authenticated","perUser":"userId","columns":{"text":"string"}},
        "note":{"columns":{"owner":"string","list":"string"},
          "read":"owner eq auth.sub or list in share(list where user eq auth.sub)","write":"owner eq auth.sub",
          "update":"owner eq auth.sub or list in share(list where user eq auth.sub)"},
        "share":{"columns":{"user":"string","list":"string"},
          "insert":"role:admin","update":"role:admin","delete":"role:admin","undelete":"role:admin"},
        "staff":{"access":"authenticated","perUser":"userId","columns":{"name":"string",
          "salary":{"type":"number","read":"role:hr"},"grade":{"type":"string","read":"role:hr"}}}}
        """#

    private let note = "00000000-0000-7000-8000-000000000001"
    private let hidden = "00000000-0000-7000-8000-000000000002"
    private let absent = "00000000-0000-7000-8000-000000000003"

    private func desk(_ backend: TestBackend) throws -> ServiceDesk {
        let desk = try ServiceDesk(backend, tables: Self.tables)
        func add(_ user: String, _ table: String, _ row: String) throws {
            let headers = ["X-ZUMO-AUTH": token(user, claims: #","roles":["admin"]"#)]
            let answer = try desk.ask("POST", "/tables/\(table)", row, headers)
            #expect(answer.status == 201, "\(answer.text)")
        }
        try add("ann", "note", #"{"id":"\#(note)","owner":"ann","list":"l"}"#)
        try add("eve", "note", #"{"id":"\#(hidden)","owner":"eve","list":"other"}"#)
        try add("root", "share", #"{"id":"s","user":"bob","list":"l"}"#)
        try add("ann", "mine", #"{"id":"m","text":"x"}"#)
        return desk
    }

    private func ask(_ desk: ServiceDesk, _ user: String?, _ query: String, _ claims: String = "") throws -> String {
        let headers = user.map { ["X-ZUMO-AUTH": token($0, claims: claims)] } ?? [:]
        return try desk.ask("GET", "/tables/$access?\(query)", nil, headers).text
    }

    private static let nothing = #"{"read":false,"update":false,"delete":false,"undelete":false}"#
    private static let everything = #"{"read":true,"update":true,"delete":true,"undelete":true}"#

    @Test(arguments: TestBackend.stores)
    func `a table says which operations are permitted, and which depend on the row`(_ backend: TestBackend) throws {
        let desk = try desk(backend)
        let all = #"{"read":true,"insert":true,"update":true,"delete":true,"undelete":true}"#
        #expect(try ask(desk, nil, "table=open") == all)
        let fixed = #"{"read":true,"insert":false,"update":false,"delete":false,"undelete":false}"#
        #expect(try ask(desk, "ann", "table=fixed") == fixed)
        #expect(try ask(desk, nil, "table=fixed") == fixed.replacing("true", with: "false"))
        let admin = #"{"read":true,"insert":true,"update":false,"delete":true,"undelete":false}"#
        #expect(try ask(desk, "ann", "table=fixed", #","roles":["admin"]"#) == admin)
        let own = #"{"read":"rows","insert":true,"update":"rows","delete":"rows","undelete":"rows"}"#
        #expect(try ask(desk, "ann", "table=mine") == own)
        #expect(try ask(desk, "ann", "table=note") == own.replacing("true", with: #""rows""#))
        for query in ["", "table=", "table=nothing&id=x"] {
            let answer = try desk.ask("GET", "/tables/$access?\(query)")
            #expect(answer.status == 404, "\(query): \(answer.text)")
        }
        #expect(try desk.ask("POST", "/tables/$access?table=open", "{}").status == 405)
    }

    @Test(arguments: TestBackend.stores)
    func `a row is answered by its rules, and a hidden one as one that does not exist`(_ backend: TestBackend) throws {
        let desk = try desk(backend)
        #expect(try ask(desk, "ann", "table=note&id=\(note)") == Self.everything)
        let shared = #"{"read":true,"update":true,"delete":false,"undelete":false}"#
        #expect(try ask(desk, "bob", "table=note&id=\(note)") == shared)
        for id in [hidden, absent, "x", ""] {
            #expect(try ask(desk, "bob", "table=note&id=\(id)") == Self.nothing, "\(id)")
        }
        #expect(try ask(desk, "ann", "table=mine&id=m") == Self.everything)
        for (user, id) in [("bob", "m"), ("ann", "n")] {
            #expect(try ask(desk, user, "table=mine&id=\(id)") == Self.nothing)
        }
        // What no row decides is said of any id.
        #expect(try ask(desk, nil, "table=open&id=any") == Self.everything)
        // The answer is what happens.
        let bob = ["X-ZUMO-AUTH": token("bob")]
        #expect(try desk.ask("PATCH", "/tables/note/\(note)", #"{"list":"l"}"#, bob).status == 200)
        #expect(try desk.ask("DELETE", "/tables/note/\(note)", nil, bob).status == 403)
    }

    @Test(arguments: TestBackend.stores)
    func `columns that the caller may not see are named, unless he may do nothing`(_ backend: TestBackend) throws {
        let desk = try desk(backend)
        let headers = ["X-ZUMO-AUTH": token("ann")]
        #expect(try desk.ask("POST", "/tables/staff", #"{"id":"w","name":"Ann"}"#, headers).status == 201)
        let hidden = #""hidden":["grade","salary"]"#
        func hides(_ user: String?, _ query: String, _ claims: String = "") throws -> Bool {
            let answer = try ask(desk, user, query, claims)
            #expect(answer.contains(hidden) == answer.contains("hidden"), "\(answer)")
            return answer.contains(hidden)
        }
        #expect(try hides("ann", "table=staff") && hides("ann", "table=staff&id=w"))
        #expect(try !hides("ann", "table=staff", #","roles":["hr"]"#))
        #expect(try ask(desk, nil, "table=staff").contains("true") == false)
        #expect(try !hides(nil, "table=staff"))
        // A hidden row is as one that never existed.
        #expect(try ask(desk, "bob", "table=staff&id=w") == Self.nothing)
        #expect(try ask(desk, "bob", "table=staff&id=v") == Self.nothing)
    }

    @Test(arguments: ServerProtocol.allCases)
    func `a store asks what its token may do, and other servers do not say it`(_ kind: ServerProtocol) async throws {
        let client = try ClientDesk(.memory, kind, tables: Self.tables)
        var configuration = SyncConfiguration()
        configuration.transport = UserLine(client.line, "ann")
        configuration.serverProtocol = kind
        configuration.schema = SyncSchema(
            version: 1, tables: [TableSchema("staff", columns: [.column("pay", onServer: "salary")])])
        let store = try await SyncDatabase.open(at: client.folder.path + "/ann", configuration)
        let table = try #require(try await store.access(to: "fixed"))
        #expect(table.read == .granted && table.insert == .denied && table.update == .denied)
        let note = try #require(try await store.access(to: "note"))
        #expect(note.read == .byRow && note.insert == .byRow)
        #expect(try await store.access(to: "note", id: absent)?.delete == .denied)
        #expect(try await store.access(to: "staff")?.hiddenColumns == ["pay", "grade"])
        let error = await #expect(throws: SyncError.self) { try await store.access(to: "nothing") }
        #expect(error?.code == .rejected)
        client.line.tellCapabilities(false)
        #expect(try await store.access(to: "fixed") == nil)
        try await store.close()
    }
}
