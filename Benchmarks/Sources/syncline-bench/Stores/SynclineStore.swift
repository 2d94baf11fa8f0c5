// Syncline under test, with its defaults or with as large a cache as the tuned SQLite has. A transaction's operations need
// no writing of their own: the outbox is a part of the state.

import SegmentLog
import Syncline
import SynclineCore

final class SynclineStore: Store {
    private let database: SyncDatabase
    private let table: RowTable
    private let durability: SegmentLog.Durability

    init(_ directory: String, _ durability: Durability, tuned: Bool = false) async throws {
        let settings = SyncConfiguration(cacheSize: tuned ? .mebibytes(256) : nil)
        database = try await SyncDatabase.open(at: directory, settings)
        table = database.rows(of: "todos")
        self.durability = durability == .durable ? .durable : .buffered
    }

    func insert(_ rows: TodoRows, _ range: Range<Int>) async throws {
        if range.count == 1 {
            let index = range.lowerBound
            let columns = SynclineCore.Row(Todo.shape, rows[index].values)
            return try await table.insert(id: rows.ids[index], columns: columns, durability: durability)
        }
        try await database.transaction(durability: durability) { transaction in
            for index in range {
                let columns = SynclineCore.Row(Todo.shape, rows[index].values)
                try transaction.insert("todos", id: rows.ids[index], columns: columns)
            }
        }
    }

    func get(_ rows: TodoRows, _ index: Int) async throws -> Int {
        guard let row = try await table.get(id: rows.ids[index]) else { throw BenchError("a row is missing") }
        return row.columns.columns.count
    }

    func filter() async throws -> Int {
        try await table.query(RowQuery(table: "todos", filter: try SynclineStore.ofThree)).rows.count
    }

    private static var ofThree: FilterExpression {
        get throws { try FilterExpression(parsing: "done eq false and priority eq 3 and project eq 'travel'") }
    }

    private func groups(of groups: [String], _ functions: [RowAggregate.Function]) async throws -> Int {
        let aggregate = RowAggregate(table: "todos", groups: groups, functions: functions)
        return try await table.compute(aggregate).count
    }

    func index() async throws { try await database.declareIndex(table: "todos", column: "tag") }

    func find(tag: String) async throws -> Int {
        let filter = FilterExpression.compare(.equal, .column(["tag"]), .literal(.string(tag)))
        return try await table.query(RowQuery(table: "todos", filter: filter)).rows.count
    }

    func indexLists() async throws {
        try await database.declareIndex(table: "todos", column: "due")
        try await database.declareIndex(table: "todos", columns: ["tag"], including: ["title"])
        // As after a start of the app: what the indexes consist of is on the disk.
        try await database.checkpoint()
    }

    func ask(_ question: ListQuestion, _ place: ListPlace) async throws -> Int {
        var query = RowQuery(table: "todos")
        switch question {
        case .top: (query.order, query.top) = ([.init("due", descending: true)], 10)
        case .topText: (query.order, query.top) = ([.init("title")], 10)
        case .counted: return try await table.count(try SynclineStore.ofThree)
        case .done: return try await table.count(try FilterExpression(parsing: "done eq true"))
        case .sums: return try await groups(of: [], [.sum("priority"), .min("priority"), .max("priority")])
        case .groups: return try await groups(of: ["project"], [.count, .sum("priority")])
        case .substring: return try await table.count(try FilterExpression(parsing: "contains(title, 'bicycle')"))
        case .newest: (query.order, query.top) = ([.init("due", descending: true)], 50)
        case .page:
            (query.order, query.top) = ([.init("due")], 50)
            query.after = RowQuery.Place(values: [.string(place.due)], id: place.id)
        case .count:
            let tags = place.tags(1)
            return try await table.count(SynclineStore.range(tags.from, tags.to))
        case .range:
            let tags = place.tags(3)
            query.filter = SynclineStore.range(tags.from, tags.to)
        case .prefix:
            query.filter = .call(.startswith, [.column("tag"), .literal(.string(place.tags(3).from))])
        case .covered:
            query.filter = .compare(.equal, .column("tag"), .literal(.string(place.tag)))
            query.select = ["title"]
        }
        return try await table.query(query).rows.count
    }

    private static func range(_ from: String, _ to: String) -> FilterExpression {
        .and(
            .compare(.greaterOrEqual, .column("tag"), .literal(.string(from))),
            .compare(.less, .column("tag"), .literal(.string(to))))
    }

    /// Observes lists until the process ends. Returns when each of them has its first result.
    func observe(lists count: Int) async throws {
        let (firsts, ready) = AsyncStream.makeStream(of: Void.self)
        for number in 0..<count {
            let filter = FilterExpression.compare(.equal, .column("priority"), .literal(.integer(Int64(number % 5))))
            let query = RowQuery(
                table: "todos", filter: filter, order: [.init("due", descending: number % 2 == 0)], top: 20 + number)
            let results = table.observe(query)
            Task {
                var isFirst = true
                for try await _ in results {
                    if isFirst { ready.yield() }
                    isFirst = false
                }
            }
        }
        var waiting = firsts.makeAsyncIterator()
        for _ in 0..<count { await waiting.next() }
    }

    func plan() async throws -> Int { try await database.present.pending().count }

    func close() async throws { try await database.close() }
}
