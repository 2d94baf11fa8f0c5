// What work costs: room on the disk, bytes written, calls of files. Counts, which are the same on every machine; a change that
// makes one larger has to say so here.

import Foundation
import SegmentLog
import SynclineTesting
import Testing

@testable import Syncline
@testable import SynclineCore

@Suite struct CostTests {
    private let disk = MemoryStorage(granularity: .sector)
    private let watch = CallWatch()

    private func open(_ configure: (inout SyncConfiguration) -> Void = { _ in }) async throws -> SyncDatabase {
        var configuration = SyncConfiguration()
        configuration.environment = CountedEnvironment()
        configuration.log.zeroAhead = .kibibytes(0)
        configuration.log.syncsWhenIdle = false
        configure(&configuration)
        return try await SyncDatabase.open(WatchedStorage(inner: disk, watch: watch), configuration)
    }

    /// Rows as an app has them.
    private struct Items {
        private var chance = Chance(seed: 46)

        mutating func next() -> (id: String, columns: Row) {
            let words = ["call", "mail", "garden", "invoice", "the", "doctor", "before", "holiday", "ticket", "with"]
            let title = (0..<3 + chance.below(5)).map { _ in chance.pick(words) }.joined(separator: " ")
            let b = chance.bytes(16)
            let (month, day) = (10 + chance.below(3), 10 + chance.below(18))
            return (
                UUID(
                    uuid: (
                        b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13], b[14],
                        b[15]
                    )
                ).uuidString.lowercased(),
                Row([
                    .init("title", .string(title)), .init("done", .bool(chance.once(in: 4))),
                    .init("priority", .integer(Int64(chance.below(5)))),
                    .init("project", .string(chance.pick(["home", "work", "travel", "health"]))),
                    .init("due", .string("2026-\(month)-\(day)T21:30:0\(chance.below(9)).\(100 + chance.below(900))Z")),
                    .init("tag", .string(chance.bytes(8).map { String($0, radix: 16) }.joined())),
                ])
            )
        }
    }

    private func insert(_ count: Int, batch: Int, _ database: SyncDatabase) async throws {
        var items = Items()
        for start in stride(from: 0, to: count, by: batch) {
            let rows = (start..<min(count, start + batch)).map { _ in items.next() }
            try await database.transaction { transaction in
                for (id, columns) in rows { try transaction.insert("todos", id: id, columns: columns) }
            }
        }
    }

    /// The size of all files, for each of some rows.
    private func size(for rows: Int) throws -> Int {
        try disk.names(in: "").reduce(0) { $0 + (disk.contents(of: $1)?.count ?? 0) } / rows
    }

    @Test func `a row and its operation take this much room after batches`() async throws {
        let database = try await open()
        try await insert(8000, batch: 1000, database)
        try await database.close()
        let bytes = try size(for: 8000)
        #expect(bytes <= 140)
    }

    @Test func `a row and its operation take this much room after single commits`() async throws {
        let database = try await open()
        try await insert(4000, batch: 1, database)
        try await database.close()
        let bytes = try size(for: 4000)
        #expect(bytes <= 270)
    }

    @Test func `a single commit is one write and one sync`() async throws {
        let database = try await open()
        try await insert(500, batch: 1, database)
        watch.take()
        var items = Items()
        for _ in 0..<100 { _ = items.next() }
        for number in 0..<100 {
            try await database.rows(of: "todos").insert(id: "\(number)", columns: items.next().columns)
        }
        let notes = watch.take()
        #expect(notes.counts == ["write": 100, "sync": 100])
        let bytes = notes.bytes["write"] ?? 0
        #expect(bytes <= 17_500)
        try await database.close()
    }

    @Test func `a row, a count and a page read few blocks`() async throws {
        let database = try await open()
        try await insert(8000, batch: 1000, database)
        try await database.close()
        let again = try await open { $0.cacheSize = .kibibytes(64) }
        func reads(_ ask: () async throws -> Void) async throws -> Int {
            watch.take()
            try await ask()
            return watch.take().counts["read"] ?? 0
        }
        let table = again.rows(of: "todos")
        var items = Items()
        let id = items.next().id
        let row = try await reads { _ = try await table.get(id: id) }
        #expect(row <= 1)
        let count = try await reads { _ = try await table.count(FilterExpression(parsing: "priority eq 3")) }
        #expect(count <= 6)
        let page = try await reads { _ = try await table.query(RowQuery(table: "todos", top: 50)) }
        #expect(page <= 1)
        try await again.close()
    }
}
