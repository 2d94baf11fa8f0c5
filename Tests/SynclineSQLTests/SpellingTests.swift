// Unicode calls some strings equivalent that have different bytes, and some signs belong to the sign before them. A store
// compares bytes, and so do statements and files.

import SynclineCore
import SynclineTesting
import Testing

@testable import Syncline
@testable import SynclineSQL

@Suite struct SpellingTests {
    private static let composed = "caf\u{e9}"
    private static let decomposed = "cafe\u{301}"
    /// A name in which an accent follows a quotation mark.
    private static let accented = "x\"\u{301} text, y"

    @Test func `a quotation mark with an accent ends no name`() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/mirror.sqlite"
        let database = try await SyncDatabase.open(MemoryStorage())
        let name = SpellingTests.accented
        try await database.rows(of: "item").insert(["id": "a", name: 1])
        let rows = try await database.sql("select * from item where \"x\"\"\u{301} text, y\" = 1")
        #expect(rows.map(\.columns) == [["id", name]] && rows.map(\.values) == [["a", 1]])
        try await database.declareIndex(table: "item", column: name)
        for n in 2...3 as ClosedRange<Int64> {
            try await database.rows(of: "item").update(["id": "a", name: .integer(n)])
            try await SQLMirror(database, at: path).update()
            #expect(try PlainSQLite(path).run("select * from item") == [["a", .integer(n)]])
        }
    }

    @Test func `a mirror has the index of a table whose name begins with an accent`() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/mirror.sqlite"
        let database = try await SyncDatabase.open(MemoryStorage())
        let name = "\u{301}x"
        try await database.rows(of: name).insert(["id": "b", "n": 1])
        try await database.declareIndex(table: name, column: "n")
        for n in 2...3 as ClosedRange<Int64> {
            try await database.rows(of: name).update(["id": "b", "n": .integer(n)])
            try await SQLMirror(database, at: path).update()
            #expect(try PlainSQLite(path).run("select n from \"\(name)\"") == [[.integer(n)]])
        }
    }

    @Test func `a mirror keeps ids, tables and columns apart that differ only in their spelling`() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/mirror.sqlite"
        let (one, two) = (SpellingTests.composed, SpellingTests.decomposed)
        let database = try await SyncDatabase.open(MemoryStorage())
        let mirror = SQLMirror(database, at: path)
        for round in 1...2 as ClosedRange<Int64> {
            for (place, id) in [one, two].enumerated() {
                let n = Value.integer(round * 10 + Int64(place))
                try await database.rows(of: "item").update(["id": .string(id), "n": n])
                try await database.rows(of: id).update(["id": "a", id: n])
            }
            try await mirror.update()
            let file = try PlainSQLite(path)
            #expect(
                try file.run("select hex(id), n from item order by n").map(\.[1])
                    == [.integer(round * 10), .integer(round * 10 + 1)])
            let tables = try file.run("select hex(\"table\"), sql_table from syncline_columns where \"column\" = 'id'")
            #expect(Set(tables.map { "\($0[1])".unicodeScalars.map(\.value) }).count == 3)
            for place in [0, 1] as [Int64] {
                // Their order is that of their bytes.
                let name = "\"\(place == 0 ? one : two)\""
                #expect(try file.run("select * from \(name)") == [["a", .integer(round * 10 + place)]])
            }
        }
    }

    @Test func `a statement keeps tables apart that differ only in their spelling`() async throws {
        let (one, two) = (SpellingTests.composed, SpellingTests.decomposed)
        let database = try await SyncDatabase.open(MemoryStorage())
        try await database.rows(of: one).insert(["id": "a", "n": 1])
        try await database.rows(of: two).insert(["id": "b", "other": 2])
        let tables = try await database.sql("select name, columns from syncline_tables order by columns")
        #expect(tables.map { $0[1] } == [#"["n"]"#, #"["other"]"#])
    }
}
