// The state of a store on one page, asked of an open store.

import Foundation
import SegmentLog
import SynclineCore
import Testing

@testable import Syncline

@Suite struct StoreStatusTests {
    @Test func `an open store tells its outbox, its last syncs, its tables and its history`() async throws {
        let store = try await IssueStore(rows: [.item("a", ["n": 1])])
        let database = store.database
        #expect(try await database.status().isHealthy)
        try await store.pull()
        try await store.table.insert(.item("b", ["n": 2]))
        let before = try await database.status()
        #expect(before.outbox.toPush == 1 && before.lastPush == nil && before.isHealthy)
        #expect(before.lastPages.map(\.table) == ["t"] && before.lastPages.first?.rows == 1)
        try await store.conflict("a")

        let status = try await database.status()
        let push = try #require(status.lastPush)
        #expect(push.outcome == .incomplete && push.operations == ["conflict": 1, "done": 1] && push.unanswered == 0)
        #expect(push.last == database.lastEvent && push.begin != nil)
        #expect(status.outbox.conflicts == 1 && status.undecided == 1 && !status.isHealthy)
        #expect(status.lastEvent == database.lastEvent && status.firstEvent == 1 && status.lastDate != nil)
        let table = try #require(status.tables.first)
        #expect(table.name == "t" && table.rows == 2 && table.pending == 1 && table.undecided == 1)
        #expect(table.columns.contains { $0.name == "n" && $0.type == nil && $0.unfit == 0 })
        #expect(status.files.segments == 1 && status.files.bytes > 0 && status.files.damage == 0)
    }

    @Test func `columns that are equal in Unicode but not in bytes stay apart`() async throws {
        let database = try await SyncDatabase.open(MemoryStorage(), .test())
        try await database.rows(of: "t").insert(
            .object([.init("id", "a"), .init("\u{e9}", 1), .init("e\u{301}", 2)]))
        #expect(try await database.status().tables.first?.columns.count == 2)
    }

    @Test func `a closed store has no state`() async throws {
        let database = try await SyncDatabase.open(MemoryStorage(), .test())
        try await database.close()
        let error = await #expect(throws: SyncError.self) { try await database.status() }
        #expect(error?.code == .closed)
    }
}
