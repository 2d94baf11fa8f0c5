// SQL as an app writes it.

import Foundation
import Syncline
import SynclineCore
import Testing

@testable import SynclineSQL

@Suite(.timeLimit(.minutes(10))) struct SQLTests {
    private func shop() async throws -> SyncDatabase {
        let database = try await SyncDatabase.open(MemoryStorage())
        try await database.rows(of: "list").insert(["id": "l1", "name": "shop"])
        try await database.rows(of: "item").insert(["id": "a", "list": "l1", "n": 2, "text": "milk"])
        try await database.rows(of: "item").insert(["id": "b", "list": "l1", "n": 3, "done": true])
        return database
    }

    @Test func `tables are joined, grouped and ordered`() async throws {
        let rows = try await shop().sql(
            "select l.name, count(*) as c, sum(i.n) as s from item i join list l on l.id = i.list group by l.name")
        #expect(rows.map(\.columns) == [["name", "c", "s"]])
        #expect(rows.map(\.values) == [["shop", 2, 5]])
        #expect(rows.first?["s"] == 5 && rows.first?["none"] == nil)
    }

    @Test func `a star is the id and every column that a row has`() async throws {
        let rows = try await shop().sql("select * from item order by id")
        #expect(rows.map(\.columns).first == ["id", "list", "n", "text", "done"])
        #expect(rows.map(\.values) == [["a", "l1", 2, "milk", .null], ["b", "l1", 3, .null, 1]])
    }

    @Test func `a range of ids includes its ends`() async throws {
        let database = try await SyncDatabase.open(MemoryStorage())
        for id in ["a", "b", "c", "d", "e"] { try await database.rows(of: "item").insert(["id": .string(id)]) }
        for (range, ids) in [
            ("id between 'b' and 'd'", ["b", "c", "d"]), ("id >= 'b' and id < 'd'", ["b", "c"]),
            ("id > 'b' and id <= 'd'", ["c", "d"]), ("id <= 'c'", ["a", "b", "c"]), ("id > 'c'", ["d", "e"]),
        ] {
            let found = try await database.sql("select id from item where \(range) order by id", as: String.self)
            #expect(found == ids, "\(range)")
        }
    }

    @Test func `a column with several kinds of values is searched and sorted as SQL does`() async throws {
        let database = try await SyncDatabase.open(MemoryStorage())
        try await database.declareIndex(table: "item", column: "k")
        for (place, k) in ["a", true, 2, .null, 0.5].enumerated() as EnumeratedSequence<[Value]> {
            try await database.rows(of: "item").insert(["id": .string("\(place)"), "k": k])
        }
        let first = try await database.sql("select k from item order by k limit 4").map { $0[0] }
        #expect(first == [.null, 0.5, 1, 2])
        let last = try await database.sql("select k from item order by k desc limit 3").map { $0[0] }
        #expect(last == ["a", 2, 1])
        #expect(try await database.sql("select id from item where k = 1", as: String.self) == ["1"])
        #expect(try await database.sql("select id from item where k <= 1 order by id", as: String.self) == ["1", "4"])
    }

    @Test func `values are bound, with names and without`() async throws {
        let database = try await shop()
        #expect(
            try await database.sql("select id from item where n > ? and id <> ?", [1, "a"]).map(\.values) == [["b"]])
        #expect(try await database.sql("select id from item where n = :n", ["n": 2]).map(\.values) == [["a"]])
        let text = "'; drop table item"
        #expect(try await database.sql("select ?", [.string(text)]).map(\.values) == [[.string(text)]])
        for (arguments, words) in [
            ([1, 2], "1 parameters without a name, and 2 values"), ([:], "1 parameters without a name, and 0 values"),
        ] as [(SQLArguments, String)] {
            await expect(database, "select ?", .invalidQuery, words, with: arguments)
        }
        await expect(database, "select :text", .invalidQuery, "Did you mean \"txt\"?", with: ["txt": 1])
        await expect(database, "select 1", .invalidQuery, "no parameter :a", with: ["a": 1])
    }

    private struct Item: Decodable, Hashable {
        struct Size: Decodable, Hashable { var width: Int }
        var id: String
        var done: Bool?
        var due: Date?
        var tags: [String]?
        var size: Size?
        var data: Data?
    }

    @Test func `rows are decoded, and so is a single column`() async throws {
        let database = try await SyncDatabase.open(MemoryStorage())
        let moment = Timestamp("2026-05-19T21:30:00+02:00")
        try await database.declareColumns(table: "item", ["due": .date, "data": .bytes])
        try await database.rows(of: "item").insert([
            "id": "a", "done": true, "due": moment.map { .date($0) } ?? .null, "tags": ["x", "y"],
            "size": ["width": 3], "data": .bytes([1, 2]),
        ])
        let items = try await database.sql("select * from item", as: Item.self)
        #expect(
            items == [
                Item(
                    id: "a", done: true, due: Date(timeIntervalSince1970: 1_779_219_000), tags: ["x", "y"],
                    size: .init(width: 3), data: Data([1, 2]))
            ])
        #expect(try await database.sql("select count(*) from item", as: Int.self) == [1])
        // Dates are UTC with three decimals, so that they sort, and SQLite's functions read them.
        let values = try await database.sql("select due, strftime('%H', due), json_extract(size, '$.width') from item")
        #expect(values.map(\.values) == [["2026-05-19T19:30:00.000Z", "19", 3]])
    }

    @Test func `past states are queried, and compared with the present`() async throws {
        let database = try await shop()
        let before = database.lastEvent
        try await database.rows(of: "item").update(["id": "a", "text": "oat milk"])
        try await database.rows(of: "item").insert(["id": "c"])
        try await database.rows(of: "item").delete(id: "b")
        #expect(
            try await database.history(at: before).sql("select text from item").map(\.values) == [["milk"], [.null]])
        let changed = try await database.sql(
            """
            select coalesce(o.id, n.id) as i, o.text, n.text from "item@\(before)" o full join item n on n.id = o.id \
            where o.id is null or n.id is null or o.text is not n.text order by i
            """)
        #expect(
            changed.map(\.values) == [
                ["a", "milk", "oat milk"], ["b", .null, .null], ["c", .null, .null],
            ])
        await expect(database, "select * from \"item@900\"", .invalidQuery, "no event @900")
        await expect(database, "select * from \"itm@\(before)\"", .unknownTable, "Did you mean \"item\"?")
    }

    @Test func `the store itself is in tables`() async throws {
        let database = try await shop()
        try await database.rows(of: "item").delete(id: "b")
        #expect(
            try await database.sql("select \"table\", id, operation, state from syncline_outbox").map(\.values)
                == [["list", "l1", "insert", "pending"], ["item", "a", "insert", "pending"]])
        let events = try await database.sql(
            "select event, cause, operation from syncline_events where \"table\" = 'item' and id = 'b'")
        #expect(events.map { $0["operation"] } == ["insert", "delete"])
        let newest = try await database.sql("select max(event), count(*) from syncline_events where event >= 4")
        #expect(newest.first?[0] == .integer(Int64(database.lastEvent.rawValue)))
        #expect(try await database.sql("select event from syncline_events where event = 3").count == 1)
        #expect(
            try await database.sql("select name, columns, rows from syncline_tables").map(\.values)
                == [["item", #"["list","n","text"]"#, 1], ["list", #"["name"]"#, 1]])
        #expect(try await database.sql("select * from syncline_conflicts").isEmpty)
        #expect(try await database.sql("select * from syncline_cursors").isEmpty)
    }

    @Test func `an event has a row for each row that it names`() async throws {
        let database = try await shop()
        try await database.transaction { transaction in
            for id in ["z", "y", "x"] { _ = try transaction.insert("item", ["id": .string(id)]) }
        }
        let event = SQLArguments([.integer(Int64(database.lastEvent.rawValue))])
        #expect(
            try await database.sql("select id from syncline_events where event = ? order by id", event).map(\.values)
                == [["x"], ["y"], ["z"]])
        #expect(
            try await database.sql("select distinct \"table\" from syncline_events where event = ?", event)
                .map(\.values) == [["item"]])
        let last = database.lastEvent
        let listed = "select id from syncline_events where event in (\(last), \(last - 2), 'x', null) order by id"
        #expect(try await database.sql(listed, as: String.self) == ["a", "x", "y", "z"])
        try await database.rows(of: "list").update(["id": "l1", "n": .integer(Int64(last.rawValue))])
        let joined = "select list.id from list left join syncline_events e on e.event = list.n"
        #expect(try await database.sql(joined, as: String.self) == ["l1", "l1", "l1"])
        #expect(
            try await database.sql(
                "select id from syncline_events where event = \(last - 1) or event between \(last) and \(last) or event = \(last - 2)",
                as: String.self
            ).sorted() == ["a", "b", "x", "y", "z"])
    }

    @Test func `names that differ only in case are told apart`() async throws {
        let database = try await SyncDatabase.open(MemoryStorage())
        try await database.rows(of: "Item").insert(["id": "a", "Text": 1, "text": 2])
        try await database.rows(of: "item").insert(["id": "b"])
        try await database.rows(of: "syncline_events").insert(["id": "c"])
        #expect(
            try await database.sql("select name, in_store from syncline_tables").map(\.values)
                == [["Item", "Item"], ["item_", "item"], ["syncline_events_", "syncline_events"]])
        #expect(try await database.sql("select Text, text_ from item").map(\.values) == [[1, 2]])
        #expect(try await database.sql("select id from item_").map(\.values) == [["b"]])
    }

    @Test func `SQLite's own tables and functions can be used`() async throws {
        let database = try await shop()
        #expect(try await database.sql("select value from json_each('[1,2]')", as: Int.self) == [1, 2])
    }

    @Test func `a table whose name looks like one of another moment is a table`() async throws {
        let database = try await shop()
        try await database.rows(of: "item@3").insert(["id": "z"])
        #expect(try await database.sql("select id from \"item@3\"").map(\.values) == [["z"]])
    }

    @Test func `a statement sees one moment while the store changes`() async throws {
        let database = try await shop()
        let present = try database.present
        try await database.rows(of: "item").insert(["id": "c"])
        #expect(try await present.sql("select count(*) from item", as: Int.self) == [2])
        #expect(try await database.sql("select count(*) from item", as: Int.self) == [3])
    }

    @Test func `results are observed`() async throws {
        let database = try await shop()
        var results = database.observeSQL("select count(*) from item", as: Int.self).makeAsyncIterator()
        #expect(try await results.next() == [2])
        // Neither commit changes the result.
        try await database.rows(of: "list").insert(["id": "l2"])
        try await database.rows(of: "item").update(["id": "a", "n": 9])
        try await database.rows(of: "item").insert(["id": "c"])
        #expect(try await results.next() == [3])
        try await database.close()
        #expect(try await results.next() == nil)
    }

    @Test func `a result that is equal to the last one is not delivered`() async throws {
        let database = try await shop()
        let (runs, continuation) = AsyncStream.makeStream(of: Void.self)
        let results = SQLResults<Int>(database: database, tables: { _ in ["item"] }) { source throws(SyncError) in
            defer { continuation.yield() }
            return try await source.models("select count(*) from item", [], Int.self)
        }
        let task = Task {
            var delivered: [[Int]] = []
            for try await result in results { delivered.append(result) }
            return delivered
        }
        var ran = runs.makeAsyncIterator()
        _ = await ran.next()
        // The statement runs again, and its result is the same.
        try await database.rows(of: "item").update(["id": "a", "n": 9])
        _ = await ran.next()
        try await database.rows(of: "item").insert(["id": "c"])
        _ = await ran.next()
        try await database.close()
        #expect(try await task.value == [[2], [3]])
    }

    @Test func `an observed statement waits for its table`() async throws {
        let database = try await shop()
        var results = database.observeSQL("select count(*) from later", as: Int.self).makeAsyncIterator()
        await #expect(throws: SyncError.self) { _ = try await results.next() }
        try await database.rows(of: "later").insert(["id": "a"])
        #expect(try await results.next() == [1])
        try await database.close()
    }

    @Test func `what is pending is observed, too`() async throws {
        let database = try await shop()
        var results = database.observeSQL("select count(*) from syncline_outbox", as: Int.self).makeAsyncIterator()
        #expect(try await results.next() == [3])
        try await database.undo()
        #expect(try await results.next() == [2])
        try await database.close()
    }
}

/// Expects an error with a code and some words.
func expect(
    _ database: SyncDatabase, _ statement: String, _ code: SyncError.Code, _ words: String,
    with arguments: SQLArguments = [], _ location: SourceLocation = #_sourceLocation
) async {
    do throws(SyncError) {
        let rows = try await database.sql(statement, arguments)
        Issue.record("\(statement) gave \(rows)", sourceLocation: location)
    } catch {
        #expect(error.code == code, "\(error)", sourceLocation: location)
        #expect(error.description.contains(words), "\(error)", sourceLocation: location)
    }
}
