// Many tasks on one store at once: transactions are seen completely or not at all, while checkpoints are written and
// merged in the background. Runs under the thread sanitizer, too.

import SegmentLog
import SynclineCore
import SynclineTesting
import Testing

@testable import Syncline

@Suite struct StoreConcurrencyTests {
    private static let writers = 4
    private static let rounds = 30

    /// Each transaction inserts a pair, so there is an even number of rows at any moment.
    private static func write(_ database: SyncDatabase, _ writer: Int) async throws {
        let text = Value.string(String(repeating: "text ", count: 300))
        for round in 0..<rounds {
            try await database.transaction(durability: round % 3 == 0 ? .durable : .buffered) { transaction in
                for half in 0..<2 {
                    try transaction.insert("t", .item("\(writer)-\(round)-\(half)", ["n": .integer(1), "text": text]))
                }
            }
            try await database.rows(of: "t").update(.item("\(writer)-\(round)-0", ["n": .integer(2)]))
        }
    }

    private static func read(_ database: SyncDatabase) async throws {
        var before = 0
        while before < 2 * writers * rounds {
            let state = try database.present
            let count = try await state.query(RowQuery(table: "t")).rows.count
            #expect(count % 2 == 0 && count >= before)
            before = count
            _ = try await database.rows(of: "t").get(id: "0-0-1")
            _ = try await database.pending().count
            await Task.yield()
        }
    }

    @Test func `readers see whole transactions and never wait`() async throws {
        var configuration = SyncConfiguration.test(memory: 100_000)
        configuration.durability = .buffered
        let disk = MemoryStorage(granularity: .sector)
        let database = try await SyncDatabase.open(disk, configuration)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<Self.writers { group.addTask { try await Self.write(database, writer) } }
            for _ in 0..<2 { group.addTask { try await Self.read(database) } }
            group.addTask {
                for try await rows in database.rows(of: "t").observe(RowQuery(table: "t"))
                where rows.rows.count == 2 * Self.writers * Self.rounds {
                    break
                }
            }
            try await group.waitForAll()
        }
        try await database.checkpoint()
        try await database.close()
        _ = try StateImage.check(disk, "closed")
    }
}
