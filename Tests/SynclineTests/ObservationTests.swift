// An observed query yields its newest result after changes, and its last one always.

import Dispatch
import SegmentLog
import SynclineGround
import SynclineTesting
import Testing

@testable import Syncline
@testable import SynclineCore

@Suite(.timeLimit(.minutes(10))) struct ObservationTests {
    @Test(arguments: [Durability.durable, .buffered])
    func `results of concurrent changes come in order, and the last one comes`(_ durability: Durability) async throws {
        var configuration = SyncConfiguration.test(memory: 300_000)
        configuration.durability = durability
        let database = try await SyncDatabase.open(MemoryStorage(), configuration)
        let results = database.rows(of: "t").observe(RowQuery(table: "t"))
        let writers = 150
        async let seen = Self.collect(results, until: writers)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<writers {
                group.addTask {
                    let text = String(repeating: "\(number)", count: 2000)
                    try await database.rows(of: "other").insert(.item("\(number)", ["a": .string(text)]))
                    try await database.rows(of: "t").insert(.item("\(number)", ["a": .integer(Int64(number))]))
                }
            }
            try await group.waitForAll()
        }
        let counts = try await seen
        #expect(counts == counts.sorted() && Set(counts).count == counts.count)
        #expect(counts.last == writers)
    }

    /// Blocks the queue that passes changes on until it is told to continue.
    private final class Blocker: LiveFollower {
        let tables: [[UInt8]]? = [Array("t".utf8)]
        private let isReached = DispatchSemaphore(value: 0)
        private let isToContinue = DispatchSemaphore(value: 0)

        func waitUntilReached() { isReached.wait() }
        func proceed() { isToContinue.signal() }

        func update(_ update: LiveUpdate) -> Bool {
            isReached.signal()
            isToContinue.wait()
            return true
        }
    }

    @Test func `a query that begins while changes of an ended one are passed on misses no commit`() async throws {
        let database = try await SyncDatabase.open(MemoryStorage(), .test())
        let (table, observers) = (database.rows(of: "t"), database.writer.observers)
        let blocker = Blocker()
        do {
            let reader = try database.reader
            let signals = observers.signals(for: blocker) { reader }
            try await table.insert(.item("1", ["a": .integer(1)]))
            blocker.waitUntilReached()
            withExtendedLifetime(signals) {}
        }
        #expect(!observers.followsRows)
        try await table.insert(.item("2", ["a": .integer(2)]))
        var results = table.observe(RowQuery(table: "t")).makeAsyncIterator()
        blocker.proceed()
        observers.wait()
        #expect(try await results.next()?.rows.map(\.id) == ["1", "2"])
        try await database.close()
    }

    /// Notes how many tables' changes come in each call.
    private final class Recorder: LiveFollower {
        let tables: [[UInt8]]?
        private let noted = Mutex<[Int?]>([])

        init(_ tables: [String]?) { self.tables = tables?.map { Array($0.utf8) } }

        var calls: [Int?] { noted.withLock { $0 } }

        func update(_ update: LiveUpdate) -> Bool {
            noted.withLock { $0.append(update.changes?.count) }
            return true
        }
    }

    @Test func `a live query of two tables is told of a commit once, so it never mixes two commits`() async throws {
        let database = try await SyncDatabase.open(MemoryStorage(), .test())
        let (recorder, everything, observers) = (Recorder(["t", "u"]), Recorder(nil), database.writer.observers)
        let reader = try database.reader
        let signals = [recorder, everything].map { observers.signals(for: $0) { reader } }
        for tables in [["t", "u", "v"], ["u"], ["v"]] {
            try await database.transaction { transaction in
                for table in tables { try transaction.insert(table, .item("\(tables.count)", [:])) }
            }
            observers.wait()
        }
        #expect(recorder.calls == [2, 1])
        #expect(everything.calls == [3, 1, 1])
        withExtendedLifetime(signals) {}
        try await database.close()
    }

    private static func collect(_ results: LiveResults<QueryResult, SyncError>, until last: Int) async throws -> [Int] {
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
        var results = database.rows(of: "t").observe(query).makeAsyncIterator()
        #expect(try await results.next()?.rows.isEmpty == true)
        try await database.rows(of: "t").insert(.item("1", ["a": .integer(1)]))
        try await database.transaction { transaction in
            for number in 2..<10 { try transaction.insert("t", .item("\(number)", ["a": .integer(Int64(number))])) }
        }
        #expect(try await results.next()?.rows.map(\.id) == ["6", "7", "8", "9"])
        try await database.undo()
        #expect(try await results.next()?.rows.isEmpty == true)
        try await database.rows(of: "t").update(.item("1", ["a": .integer(7)]))
        #expect(try await results.next()?.rows.map(\.id) == ["1"])
        try await database.close()
        #expect(try await results.next() == nil)
    }

    /// The number of the row `1`, or an error if it is odd. Tells its observer of every change.
    private struct Number: LiveContent {
        let tables: [String]? = ["t"]
        private(set) var result: Int64 = 0

        mutating func load(_ reader: StateReader) throws(SyncError) {
            guard case .integer(let number)? = try reader.row("t", "1")?.columns["a"] else { return }
            if number % 2 == 1 { throw SyncError(.invalidItem, "odd") }
            result = number
        }

        mutating func update(_ changes: TableChanges) throws(SyncError) -> Bool {
            try load(changes.after)
            return true
        }
    }

    @Test func `a result that equals the one before is dropped, and so is an error`() async throws {
        let database = try await SyncDatabase.open(MemoryStorage(), .test())
        let results = database.writer.observe { Number() }.begin()
        var seen: [Result<Int64, SyncError>?] = []
        for number in [0, 0, 1, 3, 4, 4, 0] {
            let columns: [String: Value] = ["a": .integer(Int64(number)), "b": .string(SyncID.make())]
            try await database.rows(of: "t").update(.item("1", columns))
            database.writer.observers.wait()
            seen.append(results.take())
        }
        let failure = Result<Int64, SyncError>.failure(SyncError(.invalidItem, "odd"))
        #expect(seen == [.success(0), nil, failure, nil, .success(4), nil, .success(0)])
        try await database.close()
        #expect(results.take() == nil)
    }

    @Test func `each loop over a sequence begins with the current result`() async throws {
        let database = try await SyncDatabase.open(MemoryStorage(), .test())
        let results = database.rows(of: "t").observe(RowQuery(table: "t"))
        for count in 0..<3 {
            for try await result in results {
                #expect(result.rows.count == count)
                break
            }
            try await database.rows(of: "t").insert(.item("\(count)", [:]))
        }
        #expect(!database.writer.observers.followsRows)
    }

    /// What a reader sees of a live query if it is always ready for the next result.
    private final class Reader: Sendable {
        private let values = Mutex<[Value?]>([])

        var seen: [Value?] { values.withLock { $0 } }

        func follow<Element: Sendable>(
            _ results: LiveResults<Element, SyncError>, _ value: @escaping @Sendable (Element) -> Value?
        ) -> Task<Void, any Error> {
            Task { for try await result in results { values.withLock { $0.append(value(result)) } } }
        }
    }

    @Test func `a commit after which a row is as it was delivers nothing`() async throws {
        let database = try await SyncDatabase.open(MemoryStorage(), .test())
        let (table, observers) = (database.rows(of: "t"), database.writer.observers)
        try await table.insert(.item("1", ["a": .integer(0)]))
        let (rows, sums) = (Reader(), Reader())
        let tasks = [
            rows.follow(table.observe(RowQuery(table: "t"))) { $0.rows.first?.columns["a"] },
            sums.follow(table.observe(RowAggregate(table: "t", functions: [.sum("a")]))) { $0[0].values[0] },
        ]
        while rows.seen.isEmpty || sums.seen.isEmpty { await Task.yield() }
        for number in 1...20 {
            try await database.transaction { transaction in
                for value in [number, 0] {
                    try transaction.update("t", .item("1", ["a": .integer(Int64(value))]))
                }
            }
            observers.wait()
            for _ in 0..<20 { await Task.yield() }
        }
        try await table.update(.item("1", ["a": .integer(30)]))
        while rows.seen.last != .integer(30) || sums.seen.last != .integer(30) { await Task.yield() }
        try await database.close()
        for task in tasks { try await task.value }
        #expect(rows.seen == [.integer(0), .integer(30)])
        #expect(sums.seen == [.integer(0), .integer(30)])
    }

    @Test func `a reader that is slow gets the newest result, and the difference from what it has`() async throws {
        let database = try await SyncDatabase.open(MemoryStorage(), .test())
        let query = RowQuery(table: "t", order: [.init("a", descending: true)], top: 3)
        var changes = database.rows(of: "t").observe(query).differences.makeAsyncIterator()
        var rows: [StoredRow] = []
        for round in 0..<20 {
            for number in 0..<5 {
                let value = Int64((round * 7 + number * 3) % 11)
                try await database.rows(of: "t").update(.item("\(number)", ["a": .integer(value)]))
            }
            let expected = try await database.rows(of: "t").query(query)
            while rows != expected.rows {
                let change = try #require(try await changes.next())
                change.difference.apply(to: &rows)
                #expect(rows == change.result.rows)
            }
        }
    }

    @Test func `live queries on several tables start and end during commits, and each ends with the right result`()
        async throws
    {
        let database = try await SyncDatabase.open(MemoryStorage(), .test())
        let tables = ["t", "u", "caf\u{e9}", "cafe\u{301}"]
        try await withThrowingTaskGroup(of: Void.self) { group in
            for table in tables {
                group.addTask {
                    for number in 0..<60 {
                        try await database.rows(of: table).update(
                            .item("\(number % 20)", ["a": .integer(Int64(number * 13 % 17))]))
                    }
                    try await database.rows(of: table).insert(.item("last", ["a": .integer(100)]))
                }
                for top in [1, 4, 30] {
                    group.addTask {
                        let query = RowQuery(table: table, order: [.init("a", descending: true)], top: top)
                        // Some are given up early.
                        for try await _ in database.rows(of: table).observe(query) { break }
                        for try await result in database.rows(of: table).observe(query) {
                            if result.rows.first?.id == "last" { break }
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        for table in tables {
            let query = RowQuery(table: table, order: [.init("a")], top: 5)
            var results = database.rows(of: table).observe(query).makeAsyncIterator()
            #expect(try await results.next() == database.rows(of: table).query(query))
        }
    }

    @Test(arguments: UInt64(1)...20)
    func `a live result is the query run again after every commit`(_ seed: UInt64) async throws {
        var chance = Chance(seed: seed)
        let database = try await SyncDatabase.open(MemoryStorage(), .test(memory: 20_000))
        let table = database.rows(of: "t")
        let query = RowQuery(
            table: "t", filter: try FilterExpression(parsing: "a gt 3"), order: [.init("b", descending: seed % 2 == 0)],
            top: 2 + chance.below(4), countsAll: seed % 3 == 0)
        var changes = table.observe(query).differences.makeAsyncIterator()
        var shown = try #require(try await changes.next()).result
        for _ in 0..<60 {
            let id = "\(chance.below(12))"
            switch chance.below(8) {
            case 0: _ = try? await table.delete(id: id)
            case 1: _ = try? await database.undo()
            case 2:
                try await database.purge(
                    table: "t", filter: try FilterExpression(parsing: "id eq '\(id)'"), force: true)
            case 3: try await database.checkpoint()
            default:
                let row: [String: Value] = [
                    "a": .integer(Int64(chance.below(8))), "b": .integer(Int64(chance.below(5))),
                ]
                _ = try? await table.update(.item(id, row))
            }
            let expected = try await table.query(query)
            guard expected != shown else { continue }
            var rows = shown.rows
            let change = try #require(try await changes.next())
            change.difference.apply(to: &rows)
            #expect(change.result == expected && rows == expected.rows)
            shown = change.result
        }
    }
}
