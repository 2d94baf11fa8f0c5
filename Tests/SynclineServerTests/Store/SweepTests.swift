// Other programs that write to the server's tables: a sweep finds changes without a number and nothing else, and with the
// triggers of the page clients get every change.

import ChildProcesses
import Foundation
import SynclineCore
import SynclineTables
import SynclineTesting
import SynclineWire
import Testing

@testable import SynclineServer

@Suite struct SweepTests {
    private static let tables = """
        {"todoitem":{"columns":{"text":"string"}},"hard":{"softDelete":false,"columns":{"text":"string"}},
        "mine":{"perUser":"userId","access":"authenticated","columns":{"text":"string"}}}
        """

    private static let values = [
        "null", "\"text\"", "\"é e\u{301} 🎈\"", "0", "-0.0", "0.0", "1e300", "1e-300", "-5", "9007199254740993", "100",
        "1e2", "100.0", "2.5", "true", "false", "{\"a\":[1,{\"b\":-0.0}],\"é\":null}", "[]",
        "\"2026-05-19T21:30:00.123Z\"",
        "123456789012345678901234567890", "0.1",
    ]

    private func write(_ desk: ServiceDesk, _ chance: inout Chance, _ count: Int) throws {
        for _ in 0..<count {
            let (table, id) = (chance.pick(["todoitem", "hard", "mine"]), "r\(chance.below(12))")
            let names = ["text", "n", "b", "j", "d", "c\(chance.below(30))"]
            let members = names.filter { _ in chance.once(in: 2) }.map { "\"\($0)\":\(chance.pick(Self.values))" }
            let body = "{\((["\"id\":\"\(id)\""] + members).joined(separator: ","))}"
            let login = ["X-ZUMO-AUTH": token(chance.once(in: 2) ? "ann" : "bob")]
            let new = chance.once(in: 2)
            switch chance.below(6) {
            case 0...1: _ = try desk.ask("POST", "/tables/\(table)", body, login, new: new)
            case 2: _ = try desk.ask("PATCH", "/tables/\(table)/\(id)", body, login, new: new)
            case 3: _ = try desk.ask("PUT", "/tables/\(table)/\(id)", body, login, new: new)
            case 4: _ = try desk.ask(chance.pick(["DELETE", "POST"]), "/tables/\(table)/\(id)", nil, login)
            default:
                let operations = (0..<4).map { number in
                    """
                    {"operation":"\(chance.pick(["insert", "update", "delete", "undelete"]))","table":"\(table)",
                    "id":"\(id)\(number % 2)","group":"g","item":{"id":"\(id)\(number % 2)","text":"\(number)"}}
                    """
                }
                let batch = "{\"operations\":[\(operations.joined(separator: ","))]}"
                _ = try desk.ask("POST", "/tables/$batch", batch, login)
            }
        }
    }

    @Test(arguments: TestBackend.available)
    func `a sweep finds what other programs change, and none of the server's writes`(_ backend: TestBackend) throws {
        let seed = Seeds.one()
        var chance = Chance(seed: seed)
        let desk = try ServiceDesk(backend, tables: Self.tables)
        for _ in 0..<12 {
            try write(desk, &chance, 40)
            #expect(try desk.store.sweep().isEmpty, "seed \(seed)")
            try desk.store.purge(tombstonesBefore: chance.once(in: 3) ? desk.environment.now() + 1000 : nil)
        }
        _ = try desk.ask("POST", "/tables/todoitem", #"{"id":"a","text":"one"}"#)
        _ = try desk.ask("POST", "/tables/hard", #"{"id":"a","text":"one"}"#)
        #expect(try desk.store.sweep().isEmpty)
        let (number, time) = backend == .sqlite ? ("-7", "''") : ("-7", "now()")
        let flag = backend == .sqlite ? "0" : "false"
        for (statement, words) in [
            (#"UPDATE "todoitem" SET "text" = 'two' WHERE "id" = 'a'"#, "todoitem was changed by another program"),
            (
                """
                INSERT INTO "todoitem" ("id", "createdAt", "updatedAt", "version", "deleted") \
                VALUES ('foreign', \(time), \(time), \(number), \(flag))
                """, "it has 1 rows more"
            ),
            (#"DELETE FROM "todoitem" WHERE "id" = 'a'"#, "it has 1 rows fewer"),
            (backend == .sqlite ? #"DELETE FROM "hard""# : #"TRUNCATE "hard""#, "table hard was changed"),
        ] {
            try desk.store.database.carryOut([statement])
            let notes = try desk.store.sweep()
            #expect(notes.count == 1 && notes[0].contains(words), "\(statement): \(notes)")
            #expect(try desk.store.sweep().isEmpty, "it is told once")
            try write(desk, &chance, 20)
            #expect(try desk.store.sweep().isEmpty, "seed \(seed)")
        }
        let measures = desk.store.measures.flatMap(\.lines)
        #expect(measures.contains(#"syncline_swept_tables_total{outcome="changed"} 4"#))
    }

    @Test(arguments: TestBackend.available)
    func `a dropped column is not taken for a change by another program`(_ backend: TestBackend) throws {
        let desk = try ServiceDesk(backend, tables: #"{"t":{}}"#)
        _ = try desk.ask("POST", "/tables/t", #"{"id":"a","extra":1}"#)
        #expect(try desk.store.sweep().isEmpty)
        let table = try #require(desk.service.service.settings.tables.first)
        try desk.store.drop("extra", of: table)
        #expect(try desk.store.sweep().isEmpty && desk.store.sweep().isEmpty)
    }

    /// The SQL of the page under a heading.
    private func blocks(_ heading: String) throws -> [String] {
        var root = URL(fileURLWithPath: #filePath)
        for _ in 0..<4 { root.deleteLastPathComponent() }
        let page = root.appendingPathComponent("Sources/Syncline/Syncline.docc/Other-programs.md")
        let text = try String(contentsOf: page, encoding: .utf8)
        let start = try #require(text.firstRange(of: "\n## \(heading)\n")).upperBound
        let part = text[start...].prefix(upTo: text[start...].firstRange(of: "\n## ")?.lowerBound ?? text.endIndex)
        return part.components(separatedBy: "```sql\n").dropFirst().map { block in
            String(block.prefix(upTo: block.firstRange(of: "```")?.lowerBound ?? block.endIndex))
        }
    }

    @Test(arguments: TestBackend.available)
    func `with the page's triggers, clients get what other programs change`(_ backend: TestBackend) throws {
        let desk = try ServiceDesk(backend, tables: Self.tables)
        _ = try desk.ask("POST", "/tables/hard", #"{"id":"h","text":"one"}"#)
        for id in ["a", "b"] { _ = try desk.ask("POST", "/tables/todoitem", #"{"id":"\#(id)","text":"one"}"#) }
        #expect(try desk.store.sweep().isEmpty)
        func changed(_ table: String, _ since: String) throws -> (ids: [String], cursor: String) {
            let answer = try desk.ask("GET", "/tables/\(table)/changes?since=\(since)")
            return (answer.ids, answer.json["cursor"]?.string ?? "")
        }
        var cursor = try changed("todoitem", "").cursor
        let hard = try changed("hard", "").cursor
        var row = #"("id", "text") VALUES ('new', 'x')"#
        if backend == .sqlite {
            row = #"("id", "text", "createdAt", "updatedAt", "version", "deleted") VALUES ('new', 'x', '', '', 0, 0)"#
            // A trigger has semicolons; each ends with a line of its own.
            for block in try blocks("SQLite") {
                let triggers = block.components(separatedBy: "\nEND;").filter { $0.contains("CREATE") }
                try desk.store.database.carryOut(triggers.map { $0 + "\nEND" })
            }
        } else {
            let found = try blocks("PostgreSQL")
            let triggers = """
                CREATE TRIGGER n BEFORE INSERT OR UPDATE ON hard FOR EACH ROW EXECUTE FUNCTION syncline_number(); \
                CREATE TRIGGER d BEFORE DELETE ON hard FOR EACH ROW EXECUTE FUNCTION syncline_deleted()
                """
            try desk.store.database.carryOut(found + [triggers])
        }
        func change(_ statements: String..., changes ids: [String]) throws {
            try desk.store.database.carryOut(statements)
            let found = try changed("todoitem", cursor)
            #expect(found.ids.sorted() == ids, "\(statements)")
            cursor = found.cursor
            #expect(try desk.store.sweep().isEmpty)
        }
        try change(#"INSERT INTO "todoitem" \#(row)"#, changes: ["new"])
        try change(#"UPDATE "todoitem" SET "text" = 'two'"#, changes: ["a", "b", "new"])
        try change(#"DELETE FROM "todoitem" WHERE "id" = 'a'"#, changes: ["a"])
        #expect(try desk.ask("GET", "/tables/todoitem").ids.sorted() == ["b", "new"])
        let item = try desk.ask("GET", "/tables/todoitem/new").json
        #expect(item["text"]?.string == "two" && item["updatedAt"]?.string?.hasPrefix("20") == true, "\(item.json)")
        // The server's own writes pass, and are still counted.
        #expect(try desk.ask("PATCH", "/tables/todoitem/new", #"{"text":"three"}"#).status == 200)
        #expect(try desk.ask("POST", "/tables/todoitem", #"{"id":"own"}"#).status == 201)
        #expect(try desk.ask("DELETE", "/tables/todoitem/b").status == 200)
        try change(changes: ["b", "new", "own"])
        try desk.store.purge(tombstonesBefore: desk.environment.now() + 1 << 40)
        #expect(try desk.store.sweep().isEmpty)
        guard backend == .postgres else { return }
        #expect(throws: StoreFailure.self) { try desk.store.database.carryOut([#"TRUNCATE "todoitem""#]) }
        try desk.store.database.carryOut([#"DELETE FROM "hard""#])
        #expect(try desk.ask("GET", "/tables/hard/changes?since=\(hard)").status == 410, "its tombstones were purged")
        #expect(try changed("hard", "").ids == ["h"])
        #expect(try desk.ask("POST", "/tables/hard", #"{"id":"i"}"#).status == 201)
        #expect(try desk.ask("DELETE", "/tables/hard/i").status == 200)
        #expect(try desk.store.sweep().isEmpty)
    }
}
