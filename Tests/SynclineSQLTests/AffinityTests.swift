// Strings that look like numbers. SQL compares a string with an expression such as `cast(? as integer)` as a number if it
// looks like one, so a scan that searches for the number must find the string, too.

import Syncline
import SynclineCore
import SynclineSQL
import Testing

@Suite struct AffinityTests {
    private func store() async throws -> SyncDatabase {
        let database = try await SyncDatabase.open(MemoryStorage())
        try await database.declareIndex(table: "item", column: "k")
        let values: [(String, Value)] = [
            ("1", "5"), ("01", 5), ("1.0", " 5 "), ("2", "+5"), ("30", "5e0"), ("abc", "5x"), ("r1", .double(5)),
        ]
        for (id, value) in values {
            try await database.rows(of: "item").insert(["id": .string(id), "k": value, "n": value])
        }
        try await database.rows(of: "list").insert(["id": "l", "text": "1"])
        try await database.rows(of: "list").insert(["id": "m", "text": "5"])
        return database
    }

    private func ids(
        _ statement: String, _ arguments: SQLArguments = [], _ database: SyncDatabase
    ) async throws -> [String] {
        try await database.sql(statement, arguments, as: String.self)
    }

    @Test func `an id is compared with a number`() async throws {
        let database = try await store()
        let all = "select id from item where"
        #expect(try await ids("\(all) id = cast(? as integer) order by id", ["1"], database) == ["01", "1", "1.0"])
        #expect(try await ids("\(all) cast(? as real) = id order by id", ["1"], database) == ["01", "1", "1.0"])
        #expect(
            try await ids("\(all) id < cast(? as integer) order by id", ["3"], database) == ["01", "1", "1.0", "2"])
        #expect(
            try await ids("\(all) id between cast(2 as integer) and cast(30 as integer) order by id", [], database)
                == ["2", "30"])
        #expect(
            try await ids("\(all) id in (select cast(text as integer) from list) order by id", [], database)
                == ["01", "1", "1.0"])
        for list in ["'1', '01', 'R1', 'r1', 'x', null, '1'", "select id from item where id in ('1', '01', 'r1')"] {
            #expect(try await ids("\(all) id in (\(list)) order by id", [], database) == ["01", "1", "r1"])
        }
        // A number becomes text if the other side has no type.
        #expect(try await ids("\(all) id = 1", [], database) == ["1"])
        #expect(try await ids("\(all) id = 1.0", [], database) == ["1.0"])
        #expect(try await ids("\(all) id < 2 order by id", [], database) == ["01", "1", "1.0"])
    }

    @Test func `a typed column is compared as one of SQLite's own`() async throws {
        for isIndexed in [false, true] {
            let database = try await SyncDatabase.open(MemoryStorage())
            let types: [String: ColumnType] = [
                "s": .string, "n": .integer, "x": .number, "b": .boolean, "d": .date, "u": .uuid, "m": .decimal,
            ]
            try await database.declareColumns(table: "item", types)
            if isIndexed {
                for column in types.keys { try await database.declareIndex(table: "item", column: column) }
            }
            let uuid = "12345678-1234-4123-8123-412341234123"
            try await database.rows(of: "item").insert([
                "id": "a", "s": "05", "n": 5, "x": 0.5, "b": true, "d": "2026-05-01T00:00:00Z", "u": .string(uuid),
                "m": 0.1,
            ])
            // Only a server sends what does not fit.
            let unfit = Row([.init("version", "1"), .init("s", "!"), .init("n", "7"), .init("x", "1e1")])
            try await database.pull(
                PulledPage(table: "item", queryID: "all", rows: [PulledRow(id: "b", row: unfit)], cursor: nil))
            func count(_ condition: String, _ values: SQLArguments = []) async throws -> Int? {
                try await database.sql("select count(*) from item where \(condition)", values, as: Int.self).first
            }
            for condition in [
                "s = '05'", "s < 6 and s > 0", "s = cast('5' as integer)", "n = '5'", "n = 5.0", "n in ('5', 'x')",
                "n < '6'", "n = ' 7 '", "n = 7", "x = '0.50'", "x = 10", "b = '1'", "d = '2026-05-01T00:00:00.000Z'",
                "d < 3 and d > 1", "u = '\(uuid.lowercased())'", "u < 2", "m = 0.1", "s < 0", "id = 'a'",
            ] {
                #expect(try await count(condition) == 1, "\(condition), indexed: \(isIndexed)")
            }
            for condition in ["s = 5", "n = 'x'", "d > 3", "d = 2026", "u = 12345678", "m = '0.10'"] {
                #expect(try await count(condition) == 0, "\(condition), indexed: \(isIndexed)")
            }
            #expect(try await count("n = ?", ["5"]) == 1)
            #expect(try await count("s = ?", [5]) == 0)
            #expect(try await count("n between ? and ?", ["4", "6"]) == 1)
        }
    }

    @Test func `a table is joined with numbers`() async throws {
        let database = try await store()
        let join = "select item.id from item join list on item.id = cast(list.text as integer) order by item.id"
        #expect(try await ids(join, [], database) == ["01", "1", "1.0"])
        let unused = "select list.id from list left join item on item.id = cast(list.text as integer) order by list.id"
        #expect(try await ids(unused, [], database) == ["l", "l", "l", "m"])
        let values =
            "select item.id from list cross join item on item.COLUMN = cast(list.text as integer) order by item.id"
        for column in ["k", "n"] {
            let statement = values.replacing("COLUMN", with: column)
            #expect(try await ids(statement, [], database) == ["01", "1", "1.0", "2", "30", "r1"], "\(column)")
        }
    }

    @Test func `an index that is made for a join finds strings by their numbers`() async throws {
        let database = try await SyncDatabase.open(MemoryStorage())
        for number in 0..<200 {
            try await database.rows(of: "item").insert([
                "id": .string("i\(number)"), "n": .string("\(number % 20)"),
            ])
        }
        for number in 0..<20 {
            try await database.rows(of: "list").insert(["id": .string("l\(number)"), "text": .string("\(number)")])
        }
        let join = "from list cross join item on item.n = cast(list.text as integer)"
        let plan = try await database.sql("explain query plan select count(*) \(join)").map(\.description)
        #expect(plan.contains { $0.contains("an index made for n = ?") }, "\(plan)")
        #expect(try await database.sql("select count(*) \(join)", as: Int.self) == [200])
    }

    @Test func `a column is compared with a number`() async throws {
        let database = try await store()
        for column in ["k", "n"] {
            let all = "select id from item where \(column)"
            let fives = ["01", "1", "1.0", "2", "30", "r1"]
            #expect(try await ids("\(all) = cast('5' as integer) order by id", [], database) == fives, "\(column)")
            #expect(
                try await ids("\(all) between cast(4 as integer) and cast(6 as integer) order by id", [], database)
                    == fives, "\(column)")
            #expect(try await ids("\(all) <= cast(5 as numeric) order by id", [], database) == fives, "\(column)")
            #expect(try await ids("\(all) = 5 order by id", [], database) == ["01", "r1"], "\(column)")
        }
    }
}
