// Values computed from models, together and by groups, now and after each change.

import Foundation
import SegmentLog
import SynclineCore
import SynclineTesting
import Testing

@testable import Syncline

private struct Expense: SyncModel {
    enum Kind: String, Codable {
        case food, travel
    }

    var id: String
    var kind: Kind
    var trip: UUID?
    var price: Int
    var rate: Double?
    var paid: Date?
}

@Suite(.timeLimit(.minutes(10))) struct AggregateTests {
    private static func day(_ number: Double) -> Date { Date(timeIntervalSince1970: number * 86400) }

    private func expenses() async throws -> SyncTable<Expense> {
        try await SyncDatabase.open(MemoryStorage(), .test()).table(Expense.self)
    }

    private static let some = [
        Expense(id: "a", kind: .food, price: 12, rate: 0.5, paid: day(3)),
        Expense(id: "b", kind: .travel, price: 30, rate: 1),
        Expense(id: "c", kind: .food, price: 5, paid: day(1)),
    ]

    @Test func `several values are computed in one pass`() async throws {
        let expenses = try await expenses()
        for item in Self.some { try await expenses.insert(item) }
        let (count, total, rates, mean, first, last) = try await expenses.compute(
            .count, .sum(\.price), .sum(\.rate), .average(\.rate), .min(\.paid), .max(\.price))
        #expect(count == 3 && total == 47 && rates == 1.5 && mean == 0.75)
        #expect(first == Self.day(1) && last == 30)
        let food = try await expenses.where { $0.kind == .food }.order(by: \.price).limit(1).compute(.sum(\.price))
        #expect(food == 5)
    }

    @Test func `a plan tells whether counts and totals read rows or only an index`() async throws {
        let expenses = try await expenses()
        for item in Self.some { try await expenses.insert(item) }
        let food = expenses.where { $0.kind == .food }
        #expect(try await food.explainCount().description == "reads the whole table: 3 rows")
        #expect(try await food.explain(computing: .sum(\.price)).access == .table)
        try await expenses.untyped.database.declareIndex(table: "expense", columns: ["kind"], including: ["price"])
        #expect(try await food.explainCount().description == "uses the index on kind: 2 entries, no rows")
        for plan in [
            try await food.explain(computing: .count, .sum(\.price)),
            try await food.grouped(by: \.kind).explain(computing: .max(\.price)),
            try await expenses.untyped.explainCount(food.query.filter?.expression),
        ] {
            #expect(plan.entriesRead == 2 && plan.rowsRead == 0)
        }
        #expect(try await food.explain(computing: .sum(\.rate)).rowsRead == 2)
    }

    @Test func `of no rows, the sum is zero and other values are nil`() async throws {
        let (count, total, mean, last) = try await expenses().compute(
            .count, .sum(\.rate), .average(\.price), .max(\.paid))
        #expect(count == 0 && total == 0 && mean == nil && last == nil)
    }

    @Test func `rows are grouped by a property, and a missing value is a group`() async throws {
        let expenses = try await expenses()
        let trip = UUID()
        for var item in Self.some {
            item.trip = item.kind == .travel ? trip : nil
            try await expenses.insert(item)
        }
        let kinds = try await expenses.grouped(by: \.kind).compute(.count, .sum(\.price))
        #expect(kinds.mapValues(\.0) == [.food: 2, .travel: 1])
        #expect(kinds.mapValues(\.1) == [.food: 17, .travel: 30])
        let trips = try await expenses.where { $0.price > 5 }.grouped(by: \.trip).compute(.count)
        #expect(trips == [nil: 1, trip: 1])
    }

    @Test func `rows are grouped by two keys`() async throws {
        let expenses = try await expenses()
        let trip = UUID()
        for var item in Self.some {
            item.trip = item.id == "c" ? nil : trip
            try await expenses.insert(item)
        }
        let groups = try await expenses.grouped(by: \.kind, \.trip).compute(.sum(\.price))
        let expected: [KeyPair<Expense.Kind, UUID?>: Int] = [
            KeyPair(.food, trip): 12, KeyPair(.travel, trip): 30, KeyPair(.food, nil): 5,
        ]
        #expect(groups == expected)
        let counts = try await expenses.grouped(by: { $0.kind }, { $0.price > 10 }).compute(.count)
        #expect(counts == [KeyPair(.food, true): 1, KeyPair(.food, false): 1, KeyPair(.travel, true): 1])
        var live = try expenses.grouped(by: \.kind, \.id).observe(computing: .count).makeAsyncIterator()
        #expect(try await live.next()?.count == 3)
        try await expenses.delete(id: "a")
        #expect(try await live.next() == [KeyPair(.travel, "b"): 1, KeyPair(.food, "c"): 1])
    }

    @Test func `groups that a model can't tell apart are an error, not a sum of some`() async throws {
        let expenses = try await expenses()
        let trip = UUID()
        for (id, text) in [("a", trip.uuidString), ("b", trip.uuidString.lowercased())] {
            try await expenses.untyped.insert(["id": .string(id), "kind": "food", "trip": .string(text), "price": 1])
        }
        let error = await #expect(throws: SyncError.self) {
            try await expenses.grouped(by: \.trip).compute(.count)
        }
        #expect(error?.code == .invalidItem && error?.message.contains("expense") == true)
    }

    @Test func `computed values follow the changes`() async throws {
        let expenses = try await expenses()
        var totals = try expenses.grouped(by: \.kind).observe(computing: .sum(\.price)).makeAsyncIterator()
        var latest = try expenses.observe(computing: .count, .max(\.price)).outcomes.makeAsyncIterator()
        #expect(try await totals.next() == [:])
        #expect(try await #require(latest.next()).get() == (0, nil))
        // In one commit, so that no result between the inserts can be seen.
        try await expenses.untyped.database.transaction { transaction in
            for item in Self.some { try transaction.insert(item, in: expenses) }
        }
        #expect(try await totals.next() == [.food: 17, .travel: 30])
        #expect(try await #require(latest.next()).get() == (3, 30))
        try await expenses.delete(id: "b")
        #expect(try await totals.next() == [.food: 17])
        #expect(try await #require(latest.next()).get() == (2, 12))
        // What is not asked about does not change the answer.
        try await expenses.update(id: "a") { $0.rate = 2 }
        try await expenses.update(id: "c") { $0.kind = .travel }
        #expect(try await totals.next() == [.food: 12, .travel: 5])
    }

    @Test func `a sum that does not fit into 64 bits has all digits, and does not decode as an integer`() async throws {
        let expenses = try await expenses()
        for id in ["a", "b"] { try await expenses.untyped.insert(.item(id, ["price": .integer(.max)])) }
        let groups = try await expenses.untyped.compute(RowAggregate(table: "expense", functions: [.sum("price")]))
        #expect(groups.map(\.values) == [[try #require(Value(number: "18446744073709551614"))]])
        let sum = try await expenses.compute(.sum(\.price, as: Decimal.self))
        #expect(sum == Decimal(string: "18446744073709551614"))
        let error = await #expect(throws: SyncError.self) { _ = try await expenses.compute(.sum(\.price)) }
        #expect(error?.code == .invalidItem && error?.message == "the sum of price does not fit Int")
    }

    @Test func `a sum that fits is exact, whatever the order of its numbers`() async throws {
        let expenses = try await expenses()
        var totals = try expenses.observe(computing: .sum(\.price)).outcomes.makeAsyncIterator()
        #expect(try await #require(totals.next()).get() == 0)
        for (id, price, expected) in [("a", Int.max, Int.max), ("b", .max, nil), ("c", -.max, .max), ("d", -.max, 0)] {
            try await expenses.insert(Expense(id: id, kind: .food, price: price))
            let total = try await #require(totals.next())
            #expect(try expected == nil ? (try? total.get()) == nil : total.get() == expected)
        }
        #expect(try await expenses.compute(.sum(\.price)) == 0)
        try await expenses.delete(id: "a")
        #expect(try await #require(totals.next()).get() == -.max)
    }

    @Test func `doubles that add up to more than a double can hold are an error`() async throws {
        let expenses = try await expenses()
        for id in ["a", "b"] { try await expenses.insert(Expense(id: id, kind: .food, price: 0, rate: 1e308)) }
        let error = await #expect(throws: SyncError.self) { _ = try await expenses.compute(.sum(\.rate)) }
        #expect(error?.message == "the sum of rate does not fit Double")
    }

    @Test func `the least and the greatest of strings and dates are those of a sorted list, live too`() async throws {
        let expenses = try await expenses()
        for item in Self.some { try await expenses.insert(item) }
        var ends = try expenses.observe(computing: .min(\.id), .max(\.id), .min(\.paid), .max(\.paid))
            .makeAsyncIterator()
        #expect(try await #require(ends.next()) == ("a", "c", Self.day(1), Self.day(3)))
        // Strings sort by their Unicode scalars.
        try await expenses.insert(Expense(id: "Z", kind: .food, price: 0, paid: Self.day(9)))
        #expect(try await #require(ends.next()) == ("Z", "c", Self.day(1), Self.day(9)))
        try await expenses.delete(id: "c")
        #expect(try await #require(ends.next()) == ("Z", "b", Self.day(3), Self.day(9)))
        for id in ["Z", "a", "b"] { try await expenses.delete(id: id) }
        while let found = try await ends.next(), found.0 != nil {}
        #expect(try await expenses.compute(.min(\.id), .max(\.paid)) == (nil, nil))
    }

    @Test func `an average follows the changes, for all rows and for groups`() async throws {
        let expenses = try await expenses()
        for item in Self.some { try await expenses.insert(item) }
        var all = try expenses.observe(computing: .average(\.price)).makeAsyncIterator()
        var kinds = try expenses.where { $0.price > 5 }.grouped(by: \.kind)
            .observe(computing: .average(\.price), .min(\.paid)).makeAsyncIterator()
        #expect(try await #require(all.next()) == 47.0 / 3)
        var groups = try await #require(kinds.next())
        #expect(groups.mapValues(\.0) == [.food: 12, .travel: 30])
        #expect(groups.mapValues(\.1) == [.food: Self.day(3), .travel: nil])
        try await expenses.update(id: "c") { $0.price = 6 }
        #expect(try await #require(all.next()) == 16)
        groups = try await #require(kinds.next())
        #expect(groups.mapValues(\.0) == [.food: 9, .travel: 30])
        #expect(groups.mapValues(\.1) == [.food: Self.day(1), .travel: nil])
    }

    @Test func `an id that is an integer has no sum and no greatest value`() async throws {
        struct Counter: SyncModel {
            var id: Int
        }
        let counters = try await expenses().untyped.database.table(Counter.self)
        for id in [9, 10] { try await counters.insert(Counter(id: id)) }
        for body in [
            { _ = try await counters.compute(.sum(\.id)) }, { _ = try await counters.compute(.max(\.id)) },
        ] as [() async throws -> Void] {
            let error = await #expect(throws: SyncError.self) { try await body() }
            #expect(error?.code == .unsupportedPredicate)
        }
    }
}
