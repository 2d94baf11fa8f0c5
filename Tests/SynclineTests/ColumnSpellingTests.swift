// Names of columns that Unicode calls equivalent and that have different scalars are different columns, from the server's
// JSON to filters, indexes, types, migrations and requests.

import SegmentLog
import SynclineCore
import SynclineGround
import SynclineTesting
import SynclineWire
import Testing

@testable import Syncline

@Suite struct ColumnSpellingTests {
    private static let one = "caf\u{e9}"
    private static let two = "cafe\u{301}"
    /// Rows with many columns find theirs in another way.
    private static let others = (0..<9).map { Value.Member("c\($0)", .integer(Int64($0))) }

    private static func item(_ id: String, _ first: Value?, _ second: Value?, isWide: Bool = false) -> Value {
        let named = [first.map { Value.Member(one, $0) }, second.map { Value.Member(two, $0) }].compactMap(\.self)
        return .object([.init("id", .string(id))] + named + (isWide ? others : []))
    }

    private static func values(_ row: Row?) -> [Value?] { [row?[one], row?[two]] }

    private static func rows(
        _ database: SyncDatabase, _ filter: FilterExpression? = nil, order: [RowQuery.Key] = []
    ) async throws -> [String] {
        try await database.rows(of: "t").query(RowQuery(table: "t", filter: filter, order: order)).rows.map(\.id)
    }

    @Test(arguments: [false, true])
    func `two spellings of a name are two columns of a row`(_ isWide: Bool) async throws {
        let database = try await SyncDatabase.open(MemoryStorage(), .test())
        let table = database.rows(of: "t")
        let made = try await table.insert(Self.item("a", 1, 2, isWide: isWide))
        #expect(Self.values(made.columns) == [1, 2])
        try await table.update(Self.item("a", nil, 3))
        #expect(Self.values(try await table.get(id: "a")?.columns) == [1, 3])
        let selected = try await table.query(RowQuery(table: "t", select: [Self.two, Self.one]))
        #expect(selected.rows.map { Self.values($0.columns) } == [[1, 3]])
        let json = #"{"\#(Self.one)":{"\#(Self.one)":1,"\#(Self.two)":2},"\#(Self.two)":4}"#
        let parsed = try Value(json: json.utf8)
        #expect(
            parsed
                == .object([.init(Self.one, .object([.init(Self.one, 1), .init(Self.two, 2)])), .init(Self.two, 4)]))
        #expect(
            parsed
                != .object([.init(Self.two, .object([.init(Self.one, 1), .init(Self.two, 2)])), .init(Self.one, 4)]))
    }

    @Test func `a string in another spelling is another value`() async throws {
        let database = try await SyncDatabase.open(MemoryStorage(), .test())
        let table = database.rows(of: "t")
        try await table.insert(["id": "a", "s": .string(Self.one)])
        let before = try await table.get(id: "a")?.columns
        try await table.update(["id": "a", "s": .string(Self.two)])
        let after = try await table.get(id: "a")?.columns
        #expect(before != after)
        guard case .string(let text)? = after?["s"] else { return #expect(Bool(false)) }
        #expect(text.hasSameBytes(as: Self.two))
        #expect(
            Value.string(Self.one) != .string(Self.two)
                && Set<Value>([.string(Self.one), .string(Self.two)]).count == 2)
    }

    @Test func `filters, orders, counts and indexes tell them apart`() async throws {
        for index in [[], [Self.one], [Self.two], [Self.two, Self.one]] {
            let database = try await SyncDatabase.open(MemoryStorage(), .test())
            for (id, first, second) in [("a", 1, 9), ("b", 2, 8), ("c", 3, 7)] as [(String, Int64, Int64)] {
                try await database.rows(of: "t").insert(Self.item(id, .integer(first), .integer(second)))
            }
            if !index.isEmpty {
                try await database.declareIndex(table: "t", columns: index, including: index.count == 2 ? ["x"] : [])
            }
            let filter = { (name: String) in try FilterExpression(parsing: "\(name) gt 2") }
            #expect(try await Self.rows(database, filter(Self.one)) == ["c"])
            #expect(try await Self.rows(database, filter(Self.two)).sorted() == ["a", "b", "c"])
            #expect(try await database.rows(of: "t").count(filter(Self.one)) == 1)
            #expect(try await Self.rows(database, order: [.init(Self.one)]) == ["a", "b", "c"])
            #expect(try await Self.rows(database, order: [.init(Self.two)]) == ["c", "b", "a"])
            let both = try FilterExpression(parsing: "\(Self.one) gt 1 and \(Self.two) gt 7")
            #expect(try await Self.rows(database, both) == ["b"])
            #expect(both.columns.count == 2)
        }
    }

    @Test func `each has its own type, default and place on the server`() async throws {
        let disk = MemoryStorage(granularity: .sector)
        var configuration = SyncConfiguration.test()
        configuration.schema = SyncSchema(
            version: 1,
            tables: [
                TableSchema(
                    "t",
                    columns: [
                        .column(Self.one, .integer, default: 5), .column(Self.two, .string, onServer: "other"),
                    ])
            ])
        let database = try await SyncDatabase.open(disk, configuration)
        try await database.rows(of: "t").insert(Self.item("a", 1, "x"))
        try await database.rows(of: "t").insert(Self.item("b", nil, "y"))
        #expect(Self.values(try await database.rows(of: "t").get(id: "b")?.columns) == [5, "y"])
        #expect(try database.reader.types(of: "t").columns.map(\.type) == [.string, .integer])
        try await database.close()

        configuration.schema = SyncSchema(
            version: 2, tables: [TableSchema("t", columns: [.column(Self.one, .integer)])],
            migrations: [Migration(to: 2, steps: [.dropColumn(table: "t", column: Self.two)])])
        let next = try await SyncDatabase.open(disk, configuration)
        #expect(Self.values(try await next.rows(of: "t").get(id: "a")?.columns) == [1, nil])
        try await next.close()

        configuration.schema = SyncSchema(
            version: 3, tables: [TableSchema("t", columns: [.column(Self.two, .integer)])],
            migrations: [
                Migration(to: 2, steps: []),
                Migration(to: 3, steps: [.renameColumn(table: "t", from: Self.one, to: Self.two)]),
            ])
        let last = try await SyncDatabase.open(disk, configuration)
        #expect(Self.values(try await last.rows(of: "t").get(id: "a")?.columns) == [nil, 1])
    }

    @Test func `a column that never leaves the device has no twin on the server`() async throws {
        let schema = SyncSchema(version: 1, tables: [TableSchema("t", localColumns: [Self.two])])
        let pair = try await SyncPair(rows: [Self.item("p", 1, 2)], schema: schema)
        #expect(try await pair.database.sync(["t"]).reason == nil)
        #expect(Self.values(try await pair.database.rows(of: "t").get(id: "p")?.columns) == [1, nil])
        try await pair.database.rows(of: "t").insert(Self.item("a", 3, 4))
        #expect(try await pair.database.push().reason == nil)
        #expect(Self.values(try await pair.database.rows(of: "t").get(id: "a")?.columns) == [3, 4])
        let stored = pair.server.rows(of: "t").first { $0[member: "id"] == "a" }
        #expect([stored?[member: Self.one], stored?[member: Self.two]] == [3, nil])
    }

    @Test func `both arrive at the server and come back`() async throws {
        for serverProtocol in ServerProtocol.allCases {
            for isWide in [false, true] {
                let pair = try await SyncPair(serverProtocol, rows: [Self.item("p", 5, 6, isWide: isWide)])
                let table = pair.database.rows(of: "t")
                #expect(try await pair.database.sync(["t"]).reason == nil)
                #expect(Self.values(try await table.get(id: "p")?.columns) == [5, 6])
                try await table.insert(Self.item("a", 1, 2, isWide: isWide))
                try await table.update(Self.item("p", 7, nil))
                let before = try await table.get(id: "p")
                #expect(try await pair.database.push().reason == nil)
                #expect(try await pair.database.sync(["t"]).reason == nil)
                #expect(Self.values(try await table.get(id: "p")?.columns) == [7, 6] && before != nil)
                for (id, values) in [("a", [1, 2]), ("p", [7, 6])] as [(Value, [Value])] {
                    let stored = pair.server.rows(of: "t").first { $0[member: "id"] == id }
                    #expect([stored?[member: Self.one], stored?[member: Self.two]] == values)
                }
            }
        }
    }
}
