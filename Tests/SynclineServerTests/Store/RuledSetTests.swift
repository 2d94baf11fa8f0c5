// Writes in sets of tables with rules, whose rows and memberships change each other's rights in the middle of a batch:
// PostgreSQL, which stores them together, ends like SQLite and like tables in memory, which carry out one after another.

import Foundation
import LogTesting
import SynclineCore
import SynclineGround
import SynclineTables
import SynclineWire
import Testing

@testable import SynclineServer

@Suite struct RuledSetTests {
    private static let tables = #"""
        {"note":{"columns":{"list":"string","text":"string"},
          "read":"list in share(list where user eq auth.sub) or list eq auth.sub",
          "write":"list in share(list where user eq auth.sub and role eq 'w') or list eq auth.sub"},
        "share":{"softDelete":false,"columns":{"user":"string","list":"string","role":"string"},ADMIN},
        "entry":{"columns":{"account":"string","text":"string"},
          "read":"account in account(id where household in member(household where user eq auth.sub))",
          "insert":"account in account(id where household in member(household where user eq auth.sub))"},
        "account":{"columns":{"household":"string"},ADMIN},
        "member":{"columns":{"user":"string","household":"string"},ADMIN}}
        """#
        .replacing(
            "ADMIN",
            with: ["insert", "update", "delete", "undelete"].map { #""\#($0)":"role:admin""# }.joined(separator: ","))
    private static let users = ["anna", "bob"]

    private struct Desk {
        let desk: ServiceDesk
        /// Nil for tables in memory.
        let database: CountingDatabase?
        private var cursors: [String: String] = [:]

        init(_ backend: TestBackend) throws {
            if backend == .memory {
                (desk, database) = (try ServiceDesk(backend, tables: RuledSetTests.tables), nil)
                return
            }
            let (inner, keeper) = try backend.database()
            let database = CountingDatabase(inner: inner)
            desk = try ServiceDesk(database, StillEnvironment(), keeper, tables: RuledSetTests.tables)
            self.database = database
        }

        func ask(_ user: String, _ method: String, _ target: String, _ body: String? = nil) throws -> HTTPResponse {
            try desk.ask(
                method, target, body,
                ["X-ZUMO-AUTH": token(user, claims: #","roles":["admin"]"#), "ZUMO-API-VERSION": "2.0.0"])
        }

        func batch(_ user: String, _ operations: [String]) throws -> [Value] {
            let answer = try ask(
                user, "POST", "/tables/$batch", #"{"operations":[\#(operations.joined(separator: ","))]}"#)
            guard case .array(let results)? = answer.json["results"] else { return [answer.json] }
            return results.map { result in
                .array([result["status"] ?? .null, result["code"] ?? .null, result["row"]?["text"] ?? .null])
            }
        }

        /// The changes that a user has not read yet: what is told of each row, in order.
        mutating func news(_ user: String, _ table: String) throws -> [Value] {
            var found: [Value] = []
            while true {
                let cursor = cursors[user + table] ?? ""
                let page = try ask(user, "GET", "/tables/\(table)/changes?since=\(cursor)&$top=7").json
                guard case .array(let items)? = page["items"], case .string(let next)? = page["cursor"] else {
                    return found + [page]
                }
                found += items.map { item in
                    .array(["id", "deleted", "left", "text", "list"].map { item[$0] ?? .null })
                }
                cursors[user + table] = next
                if page["hasMore"] != .bool(true) { return found }
            }
        }

        /// The stays and edges in the order in which they began and ended. The numbers depend on the database.
        func rights() throws -> [[SQLValue]] {
            let statements = [
                #"SELECT "bucket", "name", "id", "byDeletion" FROM "syncline_stays" ORDER BY "entered", 1, 2, 3"#,
                #"SELECT "bucket", "name", "id", 0 FROM "syncline_stays" WHERE "left" > 0 ORDER BY "left", 1, 2, 3"#,
                #"SELECT "step", "row", "from", "to" FROM "syncline_edges" ORDER BY "begin", 1, 2, 3"#,
                #"SELECT "step", "row", "from", "to" FROM "syncline_edges" WHERE "end" > 0 ORDER BY "end", 1, 2, 3"#,
            ]
            var found: [[SQLValue]] = []
            guard let database else { return found }
            try database.inner.read { connection throws(StoreFailure) in
                for text in statements {
                    try connection.forEachRow(of: SQLStatement(prepared: text)) { row in
                        found.append((0..<4).map { row.value($0) })
                    }
                }
            }
            return found
        }
    }

    @Test(arguments: Seeds.some(6))
    func `batches give and take rights as their operations do one by one`(_ seed: UInt64) throws {
        var chance = Chance(seed: seed)
        var desks = try TestBackend.stores.map { try Desk($0) }
        var done = 0
        for round in 0..<12 {
            let user = chance.pick(Self.users)
            let operations = (0..<(1 + chance.below(40))).map { Self.operation(round * 100 + $0, &chance) }
            let answers = try desks.map { try $0.batch(user, operations) }
            let place: Comment = "seed \(seed), round \(round) by \(user): \(operations) \(answers)"
            #expect(answers.allSatisfy { $0 == answers[0] }, place)
            done += answers[0].count { $0.json.hasPrefix("[20") }
            for table in ["note", "entry"] {
                for user in Self.users where chance.once(in: 2) {
                    let news = try desks.indices.map { try desks[$0].news(user, table) }
                    #expect(news.allSatisfy { $0 == news[0] }, place)
                    let rows = try desks.map { desk in
                        try desk.ask(user, "GET", "/tables/\(table)?$orderby=id&$select=id,text").json
                    }
                    #expect(rows.allSatisfy { $0 == rows[0] }, place)
                }
            }
            let rights = try desks.filter { $0.database != nil }.map { try $0.rights() }
            #expect(rights.allSatisfy { $0 == rights[0] }, place)
        }
        #expect(done > 20)
        for desk in desks where desk.database != nil { #expect(try desk.desk.store.sweep().isEmpty, "seed \(seed)") }
    }

    private static func id(_ number: Int) -> String {
        "00000000-0000-4000-8000-0000000000" + Hexadecimal.text(number, digits: 2)
    }

    private static func operation(_ number: Int, _ chance: inout Chance) -> String {
        let table = chance.pick(["note", "note", "note", "share", "share", "entry", "entry", "account", "member"])
        let kind = chance.pick(["insert", "insert", "update", "update", "replace", "delete", "undelete"])
        var members = [
            #""table":"\#(table)","operation":"\#(kind)","id":"\#(id(chance.below(table == "note" ? 9 : 4)))""#
        ]
        if chance.once(in: 4) { members.append(#""operationId":"o\#(chance.below(40))""#) }
        if chance.once(in: 8) { members.append(#""group":"g\#(number / 4)""#) }
        if kind == "delete" || kind == "undelete" { return "{\(members.joined(separator: ","))}" }
        let (user, list) = (chance.pick(["anna", "bob"]), chance.pick(["l1", "l2", "anna"]))
        let item =
            switch table {
            case "note": #""list":"\#(list)","text":"\#(number)""#
            case "share": #""user":"\#(user)","list":"\#(list)","role":"\#(chance.pick(["w", "w", "r"]))""#
            case "entry": #""account":"\#(id(chance.below(4)))","text":"\#(number)""#
            case "account": #""household":"\#(chance.pick(["h1", "h2"]))""#
            default: #""user":"\#(user)","household":"\#(chance.pick(["h1", "h2"]))""#
            }
        return "{\(members.joined(separator: ",")),\"item\":{\(item)}}"
    }

    @Test(.enabled(if: PrivatePostgres.shared != nil, "\(PrivatePostgres.missing)"))
    func `a page of a caller who was seen before takes one message, also after a wrong guess`() throws {
        let desk = try Desk(.postgres)
        let counts = try #require(desk.database).counts
        func insert(_ table: String, _ number: Int, _ item: String) throws {
            let body = #"{"id":"\#(Self.id(number))",\#(item)}"#
            #expect(try desk.ask("anna", "POST", "/tables/\(table)", body).status == 201)
        }
        var next = 0
        func share(_ list: String, with user: String) throws {
            next += 1
            try insert("share", next, #""user":"\#(user)","list":"\#(list)","role":"w""#)
        }
        func write(_ list: String) throws {
            for _ in 0..<30 {
                next += 1
                try insert("note", next, #""list":"\#(list)","text":"\#(next)""#)
            }
        }
        func trips(_ user: String, _ query: String) throws -> (Int, [String]) {
            let before = counts.trips.load(ordering: .relaxed)
            let ids = try desk.ask(user, "GET", "/tables/note?$top=40&\(query)").ids
            return (counts.trips.load(ordering: .relaxed) - before, ids)
        }
        let byTime = "$orderby=updatedAt&__includeDeleted=true"
        try share("l", with: "anna")
        try write("l")
        try share("l", with: "bob")
        for user in Self.users {
            let first = try trips(user, byTime)
            let second = try trips(user, byTime)
            // Bob's page is not full with what he has gained, so it asks for more.
            #expect(first.0 > second.0 && second.0 == (user == "anna" ? 1 : 2), "\(user)")
            #expect(first.1.count == 30 && second.1 == first.1, "\(user)")
            let text = try trips(user, "$orderby=text")
            #expect(text.0 == 1 && text.1.count == 30)
        }
        // Rows and rights that the guess does not know.
        try write("l")
        try share("m", with: "anna")
        try write("m")
        for user in Self.users {
            var ids: [String] = []
            var after = ""
            while true {
                let page = try trips(user, byTime + after).1
                ids += page
                if page.count < 40 { break }
                after = "&$skip=\(ids.count)"
            }
            #expect(Set(ids).count == (user == "anna" ? 90 : 60) && Set(ids).count == ids.count, "\(user)")
        }
    }

    @Test(.enabled(if: PrivatePostgres.shared != nil, "\(PrivatePostgres.missing)"))
    func `a batch asks a fixed number of questions, with rules and deletions, too`() throws {
        let desk = try Desk(.postgres)
        let counts = try #require(desk.database).counts
        func batch(_ operations: (String) -> String...) throws -> Int {
            let before = counts.trips.load(ordering: .relaxed)
            let answers = try desk.batch(
                "anna", operations.flatMap { operation in (0..<100).map { operation(Self.id($0)) } })
            #expect(answers.allSatisfy { $0.json.hasPrefix("[20") }, "\(answers)")
            return counts.trips.load(ordering: .relaxed) - before
        }
        func insert(_ table: String, _ id: String, _ item: String) -> String {
            #"{"operation":"insert","table":"\#(table)","item":{"id":"\#(id)",\#(item)}}"#
        }
        func change(_ kind: String, _ table: String, _ id: String, _ item: String = "") -> String {
            #"{"operation":"\#(kind)","table":"\#(table)","id":"\#(id)"\#(item)}"#
        }
        _ = try desk.batch("anna", [insert("share", "s", #""user":"anna","list":"l1","role":"w""#)])
        _ = try desk.batch("anna", [insert("share", "t", #""user":"anna","list":"l2","role":"w""#)])
        let share = #""user":"bob","list":"l1","role":"r""#
        let trips = [
            "inserts": try batch { insert("note", $0, #""list":"l1","text":"a""#) },
            "moves": try batch { change("update", "note", $0, #","item":{"list":"l2"}"#) },
            "deletions": try batch { change("delete", "note", $0) },
            "shares": try batch { insert("share", $0, share) },
            "ends of shares": try batch { change("delete", "share", $0) },
            "shares that end at once": try batch(
                { insert("share", $0, share) }, { change("delete", "share", $0) }),
        ]
        #expect(trips.values.allSatisfy { $0 < 20 }, "\(trips)")
    }
}
