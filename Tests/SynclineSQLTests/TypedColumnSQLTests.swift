// SQL over columns with types: a declared table without rows, joins of UUIDs in both cases, and exact sums. The oracle is a
// query of the store, or decimal arithmetic.

import Foundation
import SegmentLog
import Syncline
import SynclineCore
import SynclineSQL
import SynclineTesting
import Testing

@Suite struct TypedColumnSQLTests {
    private static let types: [String: ColumnType] = ["amount": .decimal, "at": .date, "owner": .uuid, "n": .integer]

    private func database() async throws -> SyncDatabase {
        let database = try await SyncDatabase.open(MemoryStorage())
        try await database.declareColumns(table: "entry", Self.types)
        return database
    }

    @Test func `a declared table has its columns before it has a row`() async throws {
        let database = try await database()
        let rows = try await database.sql("select id, amount, at, owner, n from entry")
        #expect(rows.isEmpty)
        let sums = try await database.sql("select count(*), sum(amount) from entry where at > '2026'")
        #expect(sums.map(\.values) == [[0, .null]])
        var results = database.observeSQL("select sum(amount) from entry").makeAsyncIterator()
        #expect(try await results.next()?.map(\.values) == [[.null]])
        try await database.rows(of: "entry").insert(["id": "a", "amount": 0.1])
        #expect(try await results.next()?.map(\.values) == [[0.1]])
    }

    @Test func `UUIDs in both cases are one value, with an index and without`() async throws {
        let id = "A1B2C3D4-0000-4000-8000-00000000000A"
        for isIndexed in [false, true] {
            let database = try await database()
            if isIndexed { try await database.declareIndex(table: "entry", column: "owner") }
            try await database.rows(of: "entry").insert(["id": "a", "owner": .string(id)])
            try await database.rows(of: "entry").insert(["id": "b", "owner": .string(id.lowercased())])
            try await database.rows(of: "entry").insert([
                "id": "c", "owner": "0f000000-0000-4000-8000-00000000000b",
            ])
            let groups = try await database.sql("select owner, count(*) from entry group by owner order by owner")
            #expect(groups.map { $0.values[1] } == [1, 2])
            for text in [id, id.lowercased(), id.capitalized] {
                let found = try await database.sql("select id from entry where owner = ? order by id", [.string(text)])
                #expect(found.map(\.values) == [["a"], ["b"]])
            }
            let pairs = try await database.sql(
                "select count(*) from entry one join entry other on one.owner = other.owner")
            #expect(pairs.map(\.values) == [[5]])
        }
    }

    @Test(arguments: UInt64(1)...20)
    func `sums of decimals are exact, in groups, windows and with many digits`(_ seed: UInt64) async throws {
        var chance = Chance(seed: seed)
        let database = try await database()
        var (sums, all): ([Int64: Decimal], Decimal) = ([:], 0)
        for number in 0..<60 {
            let group = Int64(chance.below(4))
            let digits = chance.once(in: 6) ? "1234567890123456789\(chance.below(10)).\(10 + chance.below(89))" : nil
            let text = digits ?? "\(Decimal(chance.below(100_000) - 50_000) / 100)"
            let amount = try #require(Decimal(string: text))
            sums[group, default: 0] += amount
            all += amount
            let value = try #require(Value(number: text))
            try await database.rows(of: "entry").insert([
                "id": .string("\(number)"), "amount": value, "n": .integer(group),
            ])
        }
        func decimal(_ value: Value) -> Decimal? {
            NumberDigits(number: value).flatMap { Decimal(string: $0.text) }
        }
        for function in ["sum", "decimal_sum"] {
            let groups = try await database.sql("select n, \(function)(amount) from entry group by n order by n")
            #expect(groups.map { decimal($0.values[1]) } == sums.sorted { $0.key < $1.key }.map(\.value))
            let whole = try await database.sql("select \(function)(amount) from entry")
            #expect(whole.map { decimal($0.values[0]) } == [all])
            let last = try await database.sql(
                "select \(function)(amount) over (order by id) as s, id from entry order by id desc limit 1")
            #expect(last.map { decimal($0.values[0]) } == [all])
        }
    }

    @Test func `a sum has all its digits, also if a decimal could not have them`() async throws {
        let database = try await database()
        for (id, amount) in [("a", "8310827623934524.85"), ("b", "0.026666666666666666666666666667")] {
            let value = try #require(Value(number: amount))
            try await database.rows(of: "entry").insert(["id": .string(id), "amount": value])
        }
        let sums = try await database.sql("select sum(amount), decimal_sum(amount) from entry")
        let exact = Value.string("8310827623934524.876666666666666666666666666667")
        #expect(sums.map(\.values) == [[exact, exact]])
    }

    @Test func `an order by a typed column is that of the store, whatever its index has`() async throws {
        for seed in UInt64(1)...10 {
            var chance = Chance(seed: seed)
            let database = try await database()
            if chance.once(in: 2) { try await database.declareIndex(table: "entry", columns: ["at", "n"]) }
            for number in 0..<50 {
                let hour = String(format: "%02d", chance.below(20))
                let zone = chance.pick(["Z", "+02:00", "-01:30"])
                try await database.rows(of: "entry").insert([
                    "id": .string(String(format: "%02d", number)), "at": .string("2026-03-01T\(hour):30:00\(zone)"),
                    "n": .integer(Int64(chance.below(3))),
                ])
            }
            let rows = try await database.sql("select id from entry order by at, n, id")
            let query = RowQuery(table: "entry", order: [.init("at"), .init("n")])
            let expected = try await database.rows(of: "entry").query(query).rows.map(\.id)
            #expect(rows.map { $0.values[0] } == expected.map { .string($0) }, "seed \(seed)")
            let from = "2026-03-01T10:00:00.000Z"
            let later = try await database.sql("select count(*) from entry where at >= ?", [.string(from)])
            let count = try await database.rows(of: "entry").count(
                .compare(.greaterOrEqual, .column("at"), .literal(.string(from))))
            #expect(later.map(\.values) == [[.integer(Int64(count))]])
        }
    }
}
