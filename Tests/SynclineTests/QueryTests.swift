// Queries compared with a naive evaluator, over random rows partly in memory and partly in checkpoints, some of them
// with pending changes.

import SegmentLog
import SynclineCore
import SynclineTesting
import Testing

@testable import Syncline

extension Chance {
    fileprivate mutating func number() -> Value {
        if once(in: 5) { return Value(number: "\(below(13) - 6)e0") ?? .null }
        return once(in: 2) ? .integer(Int64(below(7)) - 3) : .double(Double(below(13)) / 2 - 3)
    }

    fileprivate mutating func moment() -> Timestamp {
        Timestamp(
            .init(seconds: Int64(below(4)) * 3600), decimals: UInt8(below(4)), zone: pick([.utc, .offset(60), .none]))
    }

    fileprivate mutating func value(of column: String) -> Value {
        if once(in: 7) { return .null }
        switch column {
        case "n", "m": return number()
        case "s": return .string(pick(["", "a", "b", "ab", "é", "e\u{301}", "\u{1f600}", "\u{ffff}"]))
        case "f": return .bool(once(in: 2))
        case "d": return once(in: 2) ? .date(moment()) : .string(once(in: 3) ? "no date" : moment().description)
        default: return pick([number(), .bool(true), .string("a"), .date(moment())])
        }
    }

    fileprivate mutating func columns() -> [String: Value] {
        var columns: [String: Value] = [:]
        // Rows have dates as strings.
        for name in ["n", "m", "s", "f", "d", "x"] where !once(in: 5) { columns[name] = value(of: name).asStored }
        return columns
    }

    fileprivate mutating func condition(_ depth: Int = 0) -> NaiveCondition {
        let name = pick(["n", "m", "s", "f", "d", "x", "none"])
        let comparison = pick(FilterExpression.Comparison.allCases)
        switch below(depth < 3 ? 8 : 4) {
        case 0: return .columns(name, comparison, pick(["n", "m", "s", "d", "x"]))
        case 1: return .oneOf(name, (0..<below(4)).map { _ in value(of: name) })
        case 2, 3: return .compare(name, comparison, value(of: once(in: 4) ? "x" : name))
        case 4: return .not(condition(depth + 1))
        case 5: return .either(condition(depth + 1), condition(depth + 1))
        default: return .both(condition(depth + 1), condition(depth + 1))
        }
    }

    fileprivate mutating func query() -> NaiveQuery {
        var query = NaiveQuery(condition: once(in: 6) ? nil : condition())
        for _ in 0..<below(3) {
            query.order.append(RowQuery.Key(pick(["n", "m", "s", "f", "d", "x", "id"]), descending: once(in: 2)))
        }
        if once(in: 2) { query.top = below(12) }
        if once(in: 2) { query.skip = below(12) }
        if once(in: 3) { query.select = ["m", "s", "none", "id"] }
        return query
    }

    fileprivate mutating func aggregate() -> NaiveAggregate {
        let names = ["n", "m", "s", "f", "d", "x", "none", "id"]
        var functions: [RowAggregate.Function] = []
        for _ in 0..<below(5) {
            functions.append(
                pick([.count, .sum(pick(names)), .average(pick(names)), .min(pick(names)), .max(pick(names))]))
        }
        return NaiveAggregate(
            condition: once(in: 3) ? nil : condition(), groups: (0..<below(3)).map { _ in pick(names) },
            functions: functions)
    }

    /// Indexes on some columns.
    fileprivate mutating func indexes() -> [IndexChange] {
        (0..<1 + below(4)).map { _ in
            let names = ["n", "m", "s", "f", "d", "x"]
            let start = below(names.count)
            let columns = (0..<1 + below(3)).map { names[(start + $0) % names.count] }
            let including = once(in: 2) ? ["m", "s", "none"].filter { !columns.contains($0) } : []
            return IndexChange(table: "t", columns: columns, including: including, isOn: true)
        }
    }

    fileprivate mutating func id(_ number: Int) -> String {
        func uuid(_ digits: String) -> String {
            var text = ""
            for (index, length) in [8, 4, 4, 4, 12].enumerated() {
                text += (index == 0 ? "" : "-") + String((0..<length).map { _ in pick(Array(digits)) })
            }
            return text
        }
        return pick(["\(number)", "é\(number)", uuid("0123456789abcdef"), uuid("0123456789ABCDEF")])
    }
}

@Suite struct QueryTests {
    #if DEBUG
        static let seeds = UInt64(1)...12
    #else
        static let seeds = UInt64(1)...25
    #endif

    @Test func `queries return what a naive evaluation returns`() async throws {
        for seed in Self.seeds {
            var chance = Chance(seed: seed)
            let database = try await SyncDatabase.open(MemoryStorage(), .test())
            // Some of the columns have indexes, declared before or after the rows; they must change nothing.
            let indexes = seed % 3 == 0 ? [] : chance.indexes()
            let early = chance.below(indexes.count + 1)
            try await declare(indexes.prefix(early), database)
            let rows = try await fill(database, &chance)
            try await declare(indexes.dropFirst(early), database)
            if let dropped = indexes.first, seed % 4 == 0 {
                try await database.dropIndex(table: "t", columns: dropped.columns)
            }
            for _ in 0..<100 {
                var naive = chance.query()
                if chance.once(in: 4) { naive.after = chance.pick(rows) }
                let query = RowQuery(
                    table: "t", filter: naive.condition?.expression, order: naive.order, top: naive.top,
                    skip: naive.skip, select: naive.select, countsAll: chance.once(in: 2), after: naive.place)
                let expected = naive.run(rows)
                let found = try await database.rows(of: "t").query(query)
                let images = found.rows.map { StoredImage(id: $0.id, columns: $0.columns.dictionary) }
                try #require(images == expected.rows, "seed \(seed): \(query)")
                try #require(found.count == (query.countsAll ? expected.count : nil), "seed \(seed): \(query)")
                let count = try await database.rows(of: "t").count(query.filter)
                try #require(count == expected.count, "seed \(seed): \(query)")
            }
        }
    }

    private func declare(_ indexes: some Sequence<IndexChange>, _ database: SyncDatabase) async throws {
        for index in indexes {
            try await database.declareIndex(table: "t", columns: index.columns, including: index.including)
        }
    }

    @Test func `pages put together are the whole list, with and without indexes`() async throws {
        for seed in Self.seeds {
            var chance = Chance(seed: seed)
            let database = try await SyncDatabase.open(MemoryStorage(), .test())
            let rows = try await fill(database, &chance)
            if seed % 2 == 0 { try await declare(chance.indexes(), database) }
            for _ in 0..<20 {
                var naive = chance.query()
                (naive.top, naive.skip, naive.select) = (nil, 0, nil)
                var query = RowQuery(table: "t", filter: naive.condition?.expression, order: naive.order)
                query.top = 1 + chance.below(9)
                var found: [StoredRow] = []
                while true {
                    let page = try await database.rows(of: "t").query(query)
                    found += page.rows
                    guard let end = page.end else { break }
                    query.after = end
                }
                #expect(found.map(\.id) == naive.run(rows).rows.map(\.id), "seed \(seed): \(query)")
            }
        }
    }

    @Test func `values computed from rows are those of a naive evaluation, with and without indexes`() async throws {
        for seed in Self.seeds {
            var chance = Chance(seed: seed)
            let database = try await SyncDatabase.open(MemoryStorage(), .test())
            let rows = try await fill(database, &chance)
            if seed % 3 > 0 { try await declare(chance.indexes(), database) }
            for _ in 0..<50 {
                let naive = chance.aggregate()
                let aggregate = RowAggregate(
                    table: "t", filter: naive.condition?.expression, groups: naive.groups, functions: naive.functions)
                let found = try await database.rows(of: "t").compute(aggregate)
                try #require(NaiveAggregate.areEqual(found, naive.run(rows)), "seed \(seed): \(aggregate)")
            }
        }
    }

    /// Rows from a server, rows of the app, and both.
    private func fill(_ database: SyncDatabase, _ chance: inout Chance) async throws -> [NaiveRow] {
        var rows: [String: [String: Value]] = [:]
        for number in 0..<60 {
            let id = chance.id(number)
            if chance.once(in: 2) {
                let columns = chance.columns()
                let row = Row(columns.sorted { $0.key < $1.key }.map { .init($0.key, $0.value) })
                try await database.pull(
                    PulledPage(table: "t", queryID: nil, rows: [.init(id: id, row: row)], cursor: nil))
                rows[id] = columns
                if chance.once(in: 3) { continue }
                let changes = chance.columns()
                try await database.rows(of: "t").update(.item(id, changes))
                // Null where the row does not have this column changes nothing.
                rows[id]?.merge(changes.filter { !($0.value.isNull && columns[$0.key] == nil) }) { old, new in
                    old.stays(under: new) ? old : new
                }
                if chance.once(in: 4) {
                    try await database.rows(of: "t").delete(id: id)
                    rows[id] = nil
                }
            } else {
                rows[id] = chance.columns()
                try await database.rows(of: "t").insert(.item(id, rows[id] ?? [:]))
            }
            if chance.once(in: 15) { try await database.checkpoint() }
        }
        return rows.map { NaiveRow(id: $0.key, columns: $0.value) }
    }

    @Test func `ids that ignore case come in the order of their spelling, whatever the window`() async throws {
        var configuration = SyncConfiguration.test()
        configuration.ids = .ignoreCase
        let database = try await SyncDatabase.open(MemoryStorage(), configuration)
        for id in ["b", "A", "C", "a1", "B2"] { try await database.rows(of: "t").insert(.item(id, [:])) }
        let all = try await database.rows(of: "t").query(RowQuery(table: "t")).rows.map(\.id)
        #expect(all == ["A", "B2", "C", "a1", "b"])
        let some = try await database.rows(of: "t").query(RowQuery(table: "t", top: 2, skip: 1)).rows.map(\.id)
        #expect(some == ["B2", "C"])
        #expect(try await database.rows(of: "t").get(id: "c")?.id == "C")
        // A filter compares spellings.
        let named = RowQuery(table: "t", filter: try FilterExpression(parsing: "id in ('a', 'A', 'c', 'b')"))
        #expect(try await database.rows(of: "t").query(named).rows.map(\.id) == ["A", "b"])
        #expect(try await database.rows(of: "t").count(named) == 2)
    }

    @Test func `a window that makes no sense is refused`() async throws {
        let database = try await SyncDatabase.open(MemoryStorage(), .test())
        try await database.rows(of: "t").insert(.item("1", [:]))
        for query in [RowQuery(table: "t", top: -1), RowQuery(table: "t", skip: -1)] {
            let error = await #expect(throws: SyncError.self) { try await database.rows(of: "t").query(query) }
            #expect(error?.code == .invalidQuery)
        }
        #expect(try await database.rows(of: "t").query(RowQuery(table: "t", top: .max, skip: 1)).rows.isEmpty)
    }
}
