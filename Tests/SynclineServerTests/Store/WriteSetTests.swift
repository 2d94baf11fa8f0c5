// Writes in sets: what requests ask of a database, as counts, and that the rows are those of one write after another.

import Foundation
import LogTesting
import SynclineCore
import SynclineGround
import SynclineTables
import SynclineWire
import Testing

@testable import SynclineServer

@Suite struct WriteSetTests {
    private static let tables = """
        {"todo":{"columns":{"text":"string","n":"number","d":"date","b":"boolean","j":"json"}},
        "hard":{"softDelete":false,"columns":{"text":"string"}},
        "mine":{"access":"authenticated","perUser":"userId","columns":{"text":"string"}}}
        """

    private struct Desk {
        let desk: ServiceDesk
        let database: CountingDatabase

        init(_ backend: TestBackend, _ tables: String = WriteSetTests.tables) throws {
            let (inner, keeper) = try backend.database()
            database = CountingDatabase(inner: inner)
            desk = try ServiceDesk(database, StillEnvironment(), keeper, tables: tables)
        }

        func batch(_ operations: [String]) throws -> [Value] {
            let body = #"{"operations":[\#(operations.joined(separator: ","))]}"#
            return try ask("POST", "/tables/$batch", body).results.map { $0["status"] ?? .null }
        }

        func ask(_ method: String, _ target: String, _ body: String? = nil) throws -> HTTPResponse {
            try desk.ask(method, target, body, ["X-ZUMO-AUTH": token("anna")])
        }

        /// The round trips of the second of two equal requests: the first one prepares the statements.
        func trips(_ request: (Int) throws -> Void) rethrows -> Int {
            try request(0)
            let before = database.counts.trips.load(ordering: .relaxed)
            try request(1)
            return database.counts.trips.load(ordering: .relaxed) - before
        }
    }

    private func insert(_ id: String, _ text: String, more: String = "") -> String {
        #"{"operation":"insert","table":"todo","item":{"id":"\#(id)","text":"\#(text)"}\#(more)}"#
    }

    private func update(_ id: String, _ text: String, more: String = "") -> String {
        #"{"operation":"update","table":"todo","id":"\#(id)","item":{"text":"\#(text)"}\#(more)}"#
    }

    @Test(arguments: TestBackend.available)
    func `requests and batches ask a fixed number of questions`(_ backend: TestBackend) throws {
        let desk = try Desk(backend)
        func ask(_ method: String, _ target: String, _ body: String? = nil) throws {
            #expect(try desk.ask(method, target, body).status < 300)
        }
        func batch(_ operation: (String) -> String) throws {
            let statuses = Set(try desk.batch((0..<100).map { operation("\($0)") }))
            #expect(statuses.isSubset(of: [.integer(200), .integer(201)]))
        }
        var counts: [String: Int] = [:]
        counts["insert"] = try desk.trips { try ask("POST", "/tables/todo", #"{"id":"s\#($0)","text":"a"}"#) }
        counts["update"] = try desk.trips { try ask("PATCH", "/tables/todo/s0", #"{"text":"\#($0)"}"#) }
        counts["get"] = try desk.trips { _ in try ask("GET", "/tables/todo/s0") }
        counts["100 inserts"] = try desk.trips { round in try batch { insert("\(round)-\($0)", "a") } }
        counts["100 updates"] = try desk.trips { round in try batch { update("0-\($0)", "b\(round)") } }
        counts["100 inserts, repeatable"] = try desk.trips { round in
            try batch { insert("\(round)_\($0)", "a", more: #","operationId":"i\#(round)-\#($0)""#) }
        }
        counts["100 updates, repeatable"] = try desk.trips { round in
            try batch { update("0_\($0)", "c\(round)", more: #","operationId":"u\#(round)-\#($0)""#) }
        }
        counts["repeats"] = try desk.trips { _ in
            try batch { update("0_\($0)", "c0", more: #","operationId":"u0-\#($0)""#) }
        }
        counts["page"] = try desk.trips { _ in try ask("GET", "/tables/todo?$orderby=id") }
        try ask("GET", "/tables/todo/changes?since=")
        counts["changes"] = try desk.trips { _ in try ask("GET", "/tables/todo/changes?since=") }
        let expected =
            backend == .sqlite
            ? [
                "insert": 5, "update": 6, "get": 1, "page": 1, "100 inserts": 104, "100 updates": 204,
                "100 inserts, repeatable": 304, "100 updates, repeatable": 404,
                "repeats": 103, "changes": 4,
            ]
            : [
                "insert": 4, "update": 4, "get": 1, "page": 1, "100 inserts": 3, "100 updates": 4,
                "100 inserts, repeatable": 3, "100 updates, repeatable": 4, "repeats": 3, "changes": 2,
            ]
        #expect(counts == expected)
    }

    @Test func `pages of tables with rules ask PostgreSQL a fixed number of questions`() throws {
        guard TestBackend.available.contains(.postgres) else { return }
        let desk = try Desk(
            .postgres,
            #"""
            {"note":{"columns":{"list":"string"},"read":"list in share(list where user eq auth.sub)"},
            "share":{"columns":{"user":"string","list":"string"},"insert":"role:admin","update":"disabled",
              "delete":"disabled","undelete":"disabled"}}
            """#)
        let share = #"{"operation":"insert","table":"share","item":{"user":"anna","list":"l"}}"#
        let notes = (10..<60).map { number in
            let id = "00000000-0000-4000-8000-0000000000\(number)"
            return #"{"operation":"insert","table":"note","item":{"id":"\#(id)","list":"l"}}"#
        }
        let admin = ["X-ZUMO-AUTH": token("root", claims: #","roles":["admin"]"#)]
        #expect(try desk.desk.ask("POST", "/tables/$batch", #"{"operations":[\#(share)]}"#, admin).status == 200)
        #expect(Set(try desk.batch(notes)) == [.integer(201)])
        // The first page learns that most rows are the caller's.
        for (target, wanted) in [
            ("?$orderby=id", 1), ("?$orderby=list", 1), ("/changes?since=", 2),
            ("?$orderby=updatedAt&__includeDeleted=true", 1),
        ] {
            let trips = try desk.trips { (_: Int) throws in
                #expect(try desk.ask("GET", "/tables/note\(target)").status == 200)
            }
            #expect(trips == wanted, "\(target)")
        }
    }

    @Test(arguments: Seeds.some(8))
    func `batches do what their operations do one by one`(_ seed: UInt64) throws {
        var chance = Chance(seed: seed)
        let desks = try TestBackend.available.map { try Desk($0) }
        for desk in desks { #expect(try desk.desk.store.sweep().isEmpty) }
        var number = 0
        for round in 0..<12 {
            let operations = (0..<(1 + chance.below(30))).map { _ in
                number += 1
                return WriteSetTests.operation(number, &chance)
            }
            let statuses = try desks.map { try $0.batch(operations) }
            let place: Comment = "seed \(seed), round \(round): \(operations) \(statuses)"
            #expect(statuses.allSatisfy { $0 == statuses[0] }, place)
            for table in ["todo", "hard", "mine"] {
                let rows = try desks.map { desk in
                    // The versions depend on the database.
                    try desk.ask("GET", "/tables/\(table)?$orderby=id&__includeDeleted=true").rows.map { row in
                        ["id", "deleted", "text", "n", "d", "b", "j", "more"].map { row[$0] ?? .null }
                    }
                }
                #expect(rows.allSatisfy { $0 == rows[0] }, place)
            }
        }
        // The digests that every write changes are those of the rows.
        for desk in desks { #expect(try desk.desk.store.sweep().isEmpty, "seed \(seed)") }
    }

    private static func operation(_ number: Int, _ chance: inout Chance) -> String {
        let id = "r\(chance.below(12))"
        let table = chance.pick(["todo", "todo", "hard", "mine"])
        var members = [#""table":"\#(table)""#]
        let kind = chance.pick(["insert", "insert", "update", "update", "replace", "delete", "undelete"])
        members.append(#""operation":"\#(kind)","id":"\#(id)""#)
        if chance.once(in: 3) { members.append(#""operationId":"o\#(chance.below(40))""#) }
        if chance.once(in: 5) { members.append(#""group":"g\#(number / 4)""#) }
        if kind == "delete" || kind == "undelete" { return "{\(members.joined(separator: ","))}" }
        let texts = [
            "null", #""""#, #""é \\ \" {,} NULL""#, #""2026-05-19""#, #""line\nbreak""#,
            #""8F14E45F-CEEA-467F-9ADD-1F0A2C3B4D5E""#,
        ]
        var item = [#""text":\#(chance.pick(texts))"#]
        if table == "todo" {
            item.append(#""n":\#(chance.pick(["null", "1", "-2.5", "1e30", "0.1", "9007199254740993"]))"#)
            item.append(#""b":\#(chance.pick(["null", "true", "false"]))"#)
            let dates = ["null", #""0001-01-01T00:00:00Z""#, #""2026-05-19T21:30:00.123456Z""#]
            item.append(#""d":\#(chance.pick(dates))"#)
            item.append(#""j":\#(chance.pick(["null", "[1,{\"a\":null}]", "{}", #""x""#]))"#)
            if chance.once(in: 40) { item.append(#""more":1"#) }
        }
        members.append(#""item":{\#(item.joined(separator: ","))}"#)
        return "{\(members.joined(separator: ","))}"
    }

    @Test(.enabled(if: PrivatePostgres.shared != nil, "\(PrivatePostgres.missing)"))
    func `a row that the database refuses fails alone`() throws {
        let desk = try Desk(.postgres)
        try desk.database.inner.carryOut([#"ALTER TABLE "todo" ADD CHECK ("text" <> 'bad')"#])
        #expect(
            try desk.batch((0..<9).map { insert("a\($0)", $0 == 4 ? "bad" : "good") })
                == (0..<9).map { .integer($0 == 4 ? 409 : 201) })
        #expect(
            try desk.batch((0..<9).map { update("a\($0)", $0 == 7 ? "bad" : "better") })
                == (0..<9).map { .integer($0 == 7 ? 409 : $0 == 4 ? 404 : 200) })
    }

    /// With a line, the other program would wait for this one.
    @Test(.enabled(if: PrivatePostgres.shared != nil && TestBackend.numbers != .line, "\(PrivatePostgres.missing)"))
    func `a row that another program inserts meanwhile is found`() throws {
        let (inner, keeper) = try TestBackend.postgres.database()
        let hasWritten = Mutex(false)
        let database = CountingDatabase(inner: inner) { text in
            let isFirst =
                text.hasPrefix(#"INSERT INTO "todo""#)
                && hasWritten.withLock { isDone in
                    defer { isDone = true }
                    return !isDone
                }
            guard isFirst else { return }
            let row = #"INSERT INTO "todo" SELECT 'a1', s."time", s."time", s."change", false, 'theirs' FROM taken s"#
            _ = try? inner.carryOut([
                #"WITH taken AS (SELECT "change", to_timestamp("time" / 1000.0) AS "time" FROM syncline_take('todo')) \#(row)"#
            ])
        }
        let desk = try ServiceDesk(database, StillEnvironment(), keeper, tables: WriteSetTests.tables)
        let operations = (0..<30).map { insert("a\($0)", "ours") }.joined(separator: ",")
        let before = database.counts.trips.load(ordering: .relaxed)
        let results = try desk.ask("POST", "/tables/$batch", #"{"operations":[\#(operations)]}"#).results
        #expect(results.map { $0["status"] } == (0..<30).map { .integer($0 == 1 ? 409 : 201) })
        #expect(results[1]["row"]?["text"] == .string("theirs"))
        // The transaction was repeated, and still stored the rows together.
        #expect(database.counts.trips.load(ordering: .relaxed) - before < 30)
    }
}

extension HTTPResponse {
    /// The results of a batch.
    fileprivate var results: [Value] { if case .array(let all)? = json["results"] { all } else { [] } }

    /// The rows of a list in the older protocol.
    fileprivate var rows: [Value] { if case .array(let all) = json { all } else { [] } }
}
