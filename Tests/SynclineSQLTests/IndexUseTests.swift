// How SQLite uses the indexes of a store, as `explain query plan` shows it.

import SynclineCore
import SynclineSQL
import Testing

@testable import Syncline

@Suite struct IndexUseTests {
    /// 400 rows: the list is a string, done is a Boolean, due a date, n a number, and k has values of all kinds.
    private func store() async throws -> SyncDatabase {
        let database = try await SyncDatabase.open(MemoryStorage())
        try await database.declareIndex(table: "item", columns: ["list", "due"])
        try await database.declareIndex(table: "item", columns: ["done", "n"], including: ["size"])
        try await database.declareIndex(table: "item", columns: ["n"])
        try await database.declareIndex(table: "item", columns: ["list", "k"])
        try await database.transaction { transaction in
            for number in 0..<400 {
                let due = Timestamp(.init(seconds: 1_767_225_600 + Int64(number % 7) * 86_400))
                let k: [Value] = [.integer(Int64(number % 9)), .bool(true), .string("5"), .null, .date(due)]
                _ = try transaction.insert(
                    "item",
                    [
                        "id": .string("r\(number)"), "list": .string("list \(number % 4)"),
                        "done": .bool(number % 3 == 0), "due": number % 5 == 0 ? .null : .date(due),
                        "n": .integer(Int64(number % 11)), "size": .double(0.5), "k": k[number % 5],
                    ])
            }
        }
        return database
    }

    @Test(arguments: [
        (
            "select k from item where list = 'list 1' and due >= '2026-01-03'",
            "the index on list, due: list = ? and due > ?"
        ),
        (
            "select k from item where list = 'list 1' and due < '2026-01-03'",
            "the index on list, due: list = ? and due < ?"
        ),
        (
            "select k from item where list = 'list 1' and due between '2026-01-03' and '2026-01-05'",
            "the index on list, due: list = ? and due > ? and due < ?"
        ),
        (
            "select due from item where list = 'list 1' order by due desc limit 5",
            "entries of the index on list, due: list = ?, in order from the end"
        ),
        (
            "select due from item where list = 'list 1' and due > '2026-01-03' order by due limit 5",
            "entries of the index on list, due: list = ? and due > ?, in order"
        ),
        (
            "select due, id from item where list = 'list 1' order by due, id limit 5",
            "entries of the index on list, due: list = ?, in order"
        ),
        (
            "select n, due from item where list = 'list 1' order by due, id limit 5",
            "the index on list, due: list = ?, in order"
        ),
        ("select list, due from item order by list, due limit 5", "entries of the index on list, due, in order"),
        (
            "select list, due from item order by list desc, due desc, id desc limit 5",
            "entries of the index on list, due, in order from the end"
        ),
        ("select sum(size) from item where done = 1", "entries of the index on done, n: done = ?"),
        ("select done, n, count(*), sum(size) from item group by done, n", "entries of the index on done, n, in order"),
        (
            "select size, n, id from item where done = 1 and n > 3 order by n",
            "entries of the index on done, n: done = ? and n > ?, in order"
        ),
        ("select k from item where n > 8", "the index on n: n > ?"),
        ("select n from item where n > 8 order by n limit 5", "entries of the index on n: n > ?, in order"),
        ("select k from item where n > 8 order by n, id limit 5", "the index on n: n > ?, in order"),
        ("select id, n from item order by n, id", "entries of the index on n, in order"),
        ("select max(n) from item", "entries of the index on n, in order from the end"),
        ("select sum(n), count(*) from item", "entries of the index on done, n"),
        // Values of the index that only the rows have.
        ("select count(k) from item where list = 'list 1'", "entries of the index on list, k: list = ?"),
        ("select sum(k) from item", "all rows"),
        ("select k from item where id = 'r1'", "id = ?"),
        ("select k from item where n in (1, 2)", "the index on n: n in ?"),
    ])
    func `a statement reads only what it needs, and SQLite sorts nothing`(text: String, way: String) async throws {
        let plan = try await plan(text)
        #expect(plan.count == 1 && plan.first?.hasSuffix(":" + way) == true, "\(plan)")
        try await compare(text, try await store())
    }

    @Test(arguments: [
        // Values of all kinds, two directions, or a column that is not in the index.
        "select k from item where list = 'list 1' order by k limit 5",
        "select list, due from item order by list, due desc limit 5",
        "select due, n from item where list = 'list 1' order by due, n limit 5",
    ])
    func `SQLite sorts what no index has in order`(text: String) async throws {
        let plan = try await plan(text)
        #expect(plan.contains("USE TEMP B-TREE FOR ORDER BY"), "\(plan)")
        try await compare(text, try await store())
    }

    private func plan(_ text: String) async throws -> [String] {
        try await store().sql("explain query plan " + text).map {
            if case .string(let detail)? = $0["detail"] { detail } else { "" }
        }
    }

    /// Columns, and a value of each that is at several places.
    static let severalPlaces = [
        ("code", "cast('5' as integer)"), ("moment", "'2026-01-01T00:00:00.000Z'"), ("flag", "1"),
        ("long", "'\(long)a'"),
    ]

    @Test(arguments: severalPlaces)
    func `rows are in order if one value has several places in an index`(column: String, value: String) async throws {
        let database = try await SyncDatabase.open(MemoryStorage())
        let moment = Timestamp.Instant(seconds: 1_767_225_600)
        let kinds: [(String, [Value])] = [
            ("code", ["5", "05", "5.0"]), ("flag", [true, 1, 2]),
            (
                "moment",
                [0, 400_000, 800_000].map { .date(Timestamp(.init(seconds: moment.seconds, nanoseconds: $0))) }
            ),
            ("long", ["a", "b", "a"].map { .string(IndexUseTests.long + $0) }),
        ]
        for (name, values) in kinds {
            try await database.declareIndex(table: "item", columns: [name, "n"])
            for number in 0..<30 {
                try await database.rows(of: "item").insert([
                    "id": .string("\(name) \(number)"), name: values[number % 3],
                    "n": .integer(Int64((number * 7) % 30)),
                ])
            }
        }
        for rest in ["= \(value) order by n", "= \(value) order by n desc", ">= \(value) order by \(column), n"] {
            let text = "select n from item where \(column) \(rest) limit 12"
            try await compare(text, database, ["id", "code", "moment", "flag", "long", "n"])
        }
    }

    @Test func `a column that an index has twice is used once`() async throws {
        let database = try await SyncDatabase.open(MemoryStorage())
        let index = IndexChange(table: "item", columns: ["n", "n"], isOn: true)
        try await database.perform { engine throws(SyncError) in _ = try engine.record(.indexed(index)) }
        for number in 0..<9 {
            try await database.rows(of: "item").insert([
                "id": .string("r\(number)"), "n": .integer(Int64(number % 3)),
            ])
        }
        for text in ["select n, id from item where n = 2", "select id from item where n > 0 order by n, id"] {
            try await compare(text, database, ["id", "n"])
        }
    }

    private static let long = String(repeating: "long ", count: 20)

    /// Compares with SQLite's own tables.
    private func compare(
        _ text: String, _ database: SyncDatabase,
        _ columns: [String] = ["id", "list", "done", "due", "n", "size", "k"]
    ) async throws {
        let plain = try PlainSQLite()
        try plain.add(
            "item", columns: columns,
            rows: try await database.present.query(RowQuery(table: "item")).rows.map { row in
                columns.map { $0 == "id" ? .string(row.id) : row.columns[$0] ?? .null }
            })
        let (found, expected) = (try await database.sql(text).map(\.values), try plain.run(text))
        let isSorted = text.contains("order by")
        #expect(isSorted ? found == expected : Set(found) == Set(expected), "\(text)")
    }
}
