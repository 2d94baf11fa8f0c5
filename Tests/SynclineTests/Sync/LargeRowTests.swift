// Rows that are larger than a response may be: the pull asks for fewer rows at once, then lists the row that is too large
// alone, and has all others.

import SynclineCore
import SynclineGround
import SynclineTesting
import SynclineWire
import Testing

@testable import Syncline

/// A store whose line to the server refuses responses above a size.
private struct NarrowStore {
    let server: SimulatedServer
    let limit = LineLimit()
    let database: SyncDatabase

    final class LineLimit: Sendable {
        let bytes = Mutex(4000)
    }

    init(_ serverProtocol: ServerProtocol, tellsChanges: Bool = false, ignoring: Set<String> = []) async throws {
        var options = SimulatedServer.Options()
        options.tellsChanges = tellsChanges
        let server = SimulatedServer(serverProtocol, options: options)
        self.server = server
        var configuration = SyncConfiguration.test()
        configuration.serverProtocol = serverProtocol
        configuration.transport = PlayedLine { [limit] request in
            var request = request
            request.query.removeAll { ignoring.contains($0.name) }
            var response = server.handle(request)
            let most = limit.bytes.withLock { $0 }
            if response.body.count > most {
                response.body = []
                response.refusal = "the response is larger than \(most) bytes"
            }
            return .success(response)
        }
        database = try await SyncDatabase.open(MemoryStorage(granularity: .sector), configuration)
    }

    func put(_ id: String, bytes: Int, at time: String? = nil) {
        var row: [String: Value] = ["text": .string(String(repeating: "x", count: bytes))]
        row["updatedAt"] = time.map { .string($0) }
        server.upsert([.item(id, row)], in: "t")
    }

    @discardableResult
    func pull(_ change: (inout PullSettings) -> Void = { _ in }) async throws -> PullReport {
        var settings = PullSettings()
        settings.queryID = "q"
        settings.retries = 0
        change(&settings)
        return try await database.pull("t", settings)
    }

    func ids() async throws -> [String] {
        try await database.rows(of: "t").query(RowQuery(table: "t")).rows.map(\.id)
    }
}

@Suite struct LargeRowTests {
    @Test(arguments: ServerProtocol.allCases, [false, true])
    func `a page that is too large is read in smaller ones`(serverProtocol: ServerProtocol, tellsChanges: Bool)
        async throws
    {
        let store = try await NarrowStore(serverProtocol, tellsChanges: tellsChanges)
        for number in 0..<40 { store.put("r\(number)", bytes: number % 7 == 0 ? 3000 : 300) }
        for change: (inout PullSettings) -> Void in [{ _ in }, { $0.queryID = nil }, { $0.reconciles = true }] {
            let report = try await store.pull(change)
            #expect(report.reason == nil && report.unreadable == 0)
            #expect(try await store.ids().count == 40)
        }
    }

    @Test(arguments: ServerProtocol.allCases, [false, true])
    func `a row that is too large alone is listed, and leaves the list when it is smaller`(
        serverProtocol: ServerProtocol, tellsChanges: Bool
    ) async throws {
        for seed in UInt64(1)...20 {
            var chance = Chance(seed: seed)
            let store = try await NarrowStore(serverProtocol, tellsChanges: tellsChanges)
            store.server.setTable("t", rows: [], pageLimit: 1 + chance.below(8))
            var (small, large): (Set<String>, Set<String>) = ([], [])
            for number in 0..<(5 + chance.below(25)) {
                let isLarge = chance.once(in: 4)
                // Some share a millisecond.
                let time = "2026-02-01T00:00:00.00\(chance.below(4))Z"
                store.put("r\(number)", bytes: isLarge ? 5000 : chance.below(2000), at: time)
                if isLarge { large.insert("r\(number)") } else { small.insert("r\(number)") }
            }
            let report = try await store.pull { settings in
                if chance.once(in: 2) { settings.pageSize = 1 + chance.below(10) }
                if chance.once(in: 3) { (settings.queryID, settings.order) = (nil, [RowQuery.Key("text")]) }
            }
            try #require(report.reason == nil, "seed \(seed): \(String(describing: report.reason))")
            try #require(try await Set(store.ids()) == small, "seed \(seed)")
            let listed = try await store.database.unreadableRows()
            try #require(Set(listed.compactMap(\.id)) == large && listed.count == large.count, "seed \(seed)")
            try #require(listed.allSatisfy { $0.reason.contains("larger than 4000 bytes") }, "seed \(seed)")
            try #require(try await store.pull { $0.reconciles = true }.reason == nil, "seed \(seed)")
            try #require(try await Set(store.ids()) == small, "seed \(seed)")
            for id in large { store.put(id, bytes: 10) }
            try #require(try await store.pull().reason == nil, "seed \(seed)")
            try #require(try await store.database.unreadableRows().isEmpty, "seed \(seed)")
            try #require(try await Set(store.ids()) == small.union(large), "seed \(seed)")
        }
    }

    @Test func `a tombstone that is too large removes its row`() async throws {
        for tellsChanges in [false, true] {
            let store = try await NarrowStore(.zumo2, tellsChanges: tellsChanges)
            for id in ["a", "b"] { store.put(id, bytes: 10) }
            try await store.pull()
            let text = Value.string(String(repeating: "x", count: 5000))
            store.server.upsert([.item("a", ["deleted": .bool(true), "text": text])], in: "t")
            #expect(try await store.pull().reason == nil)
            #expect(try await store.ids() == ["b"])
            #expect(try await store.database.unreadableRows().isEmpty)
        }
    }

    @Test func `a server that sends whole rows whatever is asked stops the pull, with the limit in the hint`()
        async throws
    {
        let store = try await NarrowStore(.datasync3, ignoring: ["$select"])
        store.put("a", bytes: 10)
        store.put("b", bytes: 5000)
        let report = try await store.pull { $0.pageSize = 1 }
        #expect(report.reason?.code == .serverError && report.reason?.message.contains("larger than 4000") == true)
        #expect(report.reason?.hint?.contains("limits") == true)
        #expect(try await store.ids() == ["a"], "what came before is kept")
        let changes = try await NarrowStore(.datasync3, tellsChanges: true, ignoring: ["$select"])
        changes.put("a", bytes: 5000)
        #expect(try await changes.pull().reason?.hint?.contains("limits") == true)
        changes.limit.bytes.withLock { $0 = 10_000 }
        #expect(try await changes.pull().reason == nil)
    }

    @Test func `a row that left the view and is too large to be looked up stays`() async throws {
        let store = try await NarrowStore(.datasync3, tellsChanges: true)
        for id in ["a", "b"] { store.server.upsert([.item(id, ["n": .integer(1)])], in: "t") }
        let filter = try FilterExpression(parsing: "n eq 1")
        try await store.pull { $0.filter = filter }
        try await store.database.rows(of: "t").update(.item("a", ["m": .integer(1)]))
        let text = Value.string(String(repeating: "x", count: 5000))
        for id in ["a", "b"] { store.server.upsert([.item(id, ["n": .integer(2), "text": text])], in: "t") }
        let report = try await store.pull { ($0.filter, $0.pushesFirst) = (filter, false) }
        #expect(report.reason == nil)
        #expect(try await store.ids() == ["a"])
    }
}
