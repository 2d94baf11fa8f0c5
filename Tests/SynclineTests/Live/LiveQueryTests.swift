// Lists and sync status that views show. Observation reports each change of them.

import Observation
import SegmentLog
import SynclineTesting
import Testing

@testable import Syncline

private struct Item: SyncModel, Equatable {
    var id: String
    var text: String
    var done = false
}

@Suite(.timeLimit(.minutes(1))) @MainActor struct LiveQueryTests {
    /// Returns when a condition holds; it is evaluated again after each change of what it reads.
    private func wait(until holds: () -> Bool) async {
        while true {
            let (changes, continuation) = AsyncStream.makeStream(of: Void.self)
            if withObservationTracking(holds, onChange: { continuation.yield() }) { return }
            for await _ in changes { break }
        }
    }

    private func items() async throws -> SyncTable<Item> {
        let items = try await SyncDatabase.open(MemoryStorage(), .test()).table(Item.self)
        try await items.insert(Item(id: "a", text: "milk"))
        return items
    }

    @Test func `a live list has the rows of now, and then each change`() async throws {
        let items = try await items()
        let live = LiveQuery(items.where { !$0.done }.order(by: \.text))
        #expect(live.models.isEmpty && !live.isLoaded)
        await wait { live.isLoaded }
        #expect(live.models.map(\.id) == ["a"])
        try await items.insert(Item(id: "b", text: "bread"))
        await wait { live.models.count == 2 }
        #expect(live.models.map(\.id) == ["b", "a"])
        try await items.update(id: "b") { $0.done = true }
        await wait { live.models.count == 1 }
        #expect(live.error == nil)
    }

    @Test func `a live list keeps its rows after an error, and can show another query`() async throws {
        let items = try await items()
        let live = LiveQuery(items)
        await wait { live.isLoaded }
        try await items.untyped.insert(["id": "b", "text": 5])
        await wait { live.error != nil }
        #expect(live.error?.address == "item/b" && live.models.map(\.id) == ["a"])
        live.show(items.where { $0.id == "a" && $0.done })
        await wait { live.models.isEmpty }
        #expect(live.error == nil)
    }

    @Test func `a transaction changes a live list once`() async throws {
        let items = try await items()
        let live = LiveQuery(items)
        await wait { live.isLoaded }
        try await items.untyped.database.transaction { transaction in
            for number in 0..<100 { try transaction.insert(Item(id: "n\(number)", text: ""), into: items) }
        }
        var seen: Set<Int> = []
        await wait {
            seen.insert(live.models.count)
            return live.models.count == 101
        }
        #expect(seen.isSubset(of: [1, 101]))
    }

    @Test func `a live list that is no longer held stops observing`() async throws {
        let items = try await items()
        var live: LiveQuery? = LiveQuery(items)
        weak let weakLive = live
        await wait { live?.isLoaded == true }
        live = nil
        #expect(weakLive == nil)
        while !items.untyped.database.writer.observers.lists.isEmpty { await Task.yield() }
    }

    @Test func `a monitor shows what is pending and in conflict`() async throws {
        let pair = try await SyncPair(rows: [.item("a", ["text": "one"])])
        try await pair.pull()
        let monitor = SyncMonitor(pair.database)
        try await pair.table.update(.item("a", ["text": "mine"]))
        await wait { monitor.pending == 1 }
        pair.server.upsert([.item("a", ["text": "theirs"])], in: "t")
        try await pair.push()
        await wait { monitor.conflicts.map(\.id) == ["a"] }
        try await pair.database.resolve(table: "t", id: "a", .takeServer)
        await wait { monitor.conflicts.isEmpty && monitor.pending == 0 }
        #expect(monitor.phase == nil)
    }

    @Test func `a monitor follows an automatic sync that starts later, until it stops`() async throws {
        let pair = try await SyncPair(rows: [.item("a", ["text": "one"])])
        let monitor = SyncMonitor(pair.database)
        let sync = try pair.database.startAutomaticSync(AutomaticSyncSettings(tables: ["t"]))
        monitor.follow(sync)
        await wait { monitor.phase == .idle && monitor.lastRound != nil }
        await sync.stop()
        await wait { monitor.phase == nil }
        #expect(monitor.lastRound != nil)
    }
}
