// What a row of a result may hold, and what its columns are called.

import Syncline
import SynclineCore
import Testing

@testable import SynclineSQL

@Suite struct ResultTests {
    @Test func `an infinite number is null`() async throws {
        let database = try await SyncDatabase.open(MemoryStorage())
        let rows = try await database.sql("select 9e999 a, -9e999 b, 9e999 > 1 c, 1e308 d")
        #expect(rows.map(\.values) == [[.null, .null, 1, 1e308]])
        #expect(rows.first?.description == #"{"a":null,"b":null,"c":1,"d":1e+308}"#)
        #expect(try await database.sql("select 9e999", as: Double?.self) == [nil])
        #expect(try await database.sql("select ?", [.double(.infinity)]).map(\.values) == [[.null]])
    }

    @Test func `each column of a result has a name of its own`() async throws {
        let database = try await SyncDatabase.open(MemoryStorage())
        func columns(_ statement: String) async throws -> [String] {
            try await database.sql(statement).first?.columns ?? []
        }
        #expect(try await columns("select 1 a, 2 a, 3 A, 4 a") == ["a", "a:2", "A", "a:3"])
        #expect(try await columns("select 1 a, 2 a, 3 \"a:2\"") == ["a", "a:3", "a:2"])
        #expect(try await columns("select 1 \"a:2\", 2 a, 3 a, 4 \"a:2\"") == ["a:2", "a", "a:3", "a:2:2"])
        #expect(try await columns("select 1 '', 2 ''") == ["", ":2"])
        // Two spellings of an accent are two names.
        let spellings = try await columns("select 1 \"e\u{301}\", 2 \"\u{e9}\"")
        #expect(spellings.map { $0.unicodeScalars.count } == [2, 1])
        let row = try #require(try await database.sql("select 1 a, 2 a").first)
        #expect(row["a"] == 1 && row["a:2"] == 2 && row.description == #"{"a":1,"a:2":2}"#)
    }

    @Test func `a row is its own values, wherever it is in the result`() async throws {
        let database = try await SyncDatabase.open(MemoryStorage())
        for count in [0, 1, 2, 16, 17, 18, 100] {
            let numbers = "with recursive n(i) as (select 1 union all select i + 1 from n where i < \(count)) "
            let rows = try await database.sql(numbers + "select i, 'v' || i v from n where i <= \(count)")
            #expect(rows.map(\.values) == (0..<count).map { [.integer(Int64($0 + 1)), .string("v\($0 + 1)")] })
            #expect(rows.map { [$0[0], $0[1]] } == rows.map(\.values))
            #expect(rows.allSatisfy { $0["v"] == $0[1] && $0["w"] == nil })
            #expect(Set(rows).count == count)
            guard let last = rows.last else { continue }
            let same = try await database.sql("select \(count) i, 'v\(count)' v")
            #expect(same == [last] && same[0].hashValue == last.hashValue)
            #expect(try await database.sql("select \(count) i, 'v\(count)' w") != [last])
            let decoded = try await database.sql(numbers + "select i from n where i <= \(count)", as: Int.self)
            #expect(decoded == Array(1...count))
        }
    }
}
