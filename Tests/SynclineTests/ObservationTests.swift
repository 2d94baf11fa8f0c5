// An observed query yields a value for each change of its result, in order, and none is missed.

import SegmentLog
import SynclineCore
import Testing

@testable import Syncline

@Suite struct ObservationTests {
    @Test(arguments: [Durability.durable, .buffered])
    func `concurrent changes come one by one, in order`(_ durability: Durability) async throws {
        var configuration = SyncConfiguration.test(memory: 300_000)
        configuration.durability = durability
        let database = try await SyncDatabase.open(MemoryStorage(), configuration)
        let results = database.table("t").observe(RowQuery(table: "t"))
        let writers = 150
        async let seen = Self.collect(results, until: writers)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<writers {
                group.addTask {
                    let text = String(repeating: "\(number)", count: 2000)
                    try await database.table("other").insert(.item("\(number)", ["a": .string(text)]))
                    try await database.table("t").insert(.item("\(number)", ["a": .integer(Int64(number))]))
                }
            }
            try await group.waitForAll()
        }
        let counts = try await seen
        // The observation may begin in the middle, but then misses nothing.
        #expect(counts == Array((counts.first ?? 0)...writers))
    }

    private static func collect(_ results: QueryResults<QueryResult>, until last: Int) async throws -> [Int] {
        var counts: [Int] = []
        for try await result in results {
            counts.append(result.rows.count)
            if result.rows.count == last { break }
        }
        return counts
    }

    @Test func `only a changed result is delivered, and a transaction delivers one`() async throws {
        let database = try await SyncDatabase.open(MemoryStorage(), .test())
        let query = RowQuery(table: "t", filter: .compare(.greater, .column("a"), .literal(.integer(5))))
        var results = database.table("t").observe(query).makeAsyncIterator()
        #expect(try await results.next()?.rows.isEmpty == true)
        try await database.table("t").insert(.item("1", ["a": .integer(1)]))
        try await database.transaction { transaction in
            for number in 2..<10 { try transaction.insert("t", .item("\(number)", ["a": .integer(Int64(number))])) }
        }
        #expect(try await results.next()?.rows.map(\.id) == ["6", "7", "8", "9"])
        try await database.undo()
        try await database.table("t").update(.item("1", ["a": .integer(7)]))
        #expect(try await results.next()?.rows.isEmpty == true)
        #expect(try await results.next()?.rows.map(\.id) == ["1"])
        try await database.close()
        #expect(try await results.next() == nil)
    }
}
