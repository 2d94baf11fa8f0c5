// Lists and sync status that views show. Observation reports each change of them.

import Observation
import SegmentLog
import SynclineGround
import SynclineTesting
import Testing

@testable import Syncline

private struct Item: SyncModel, Equatable {
    var id: String
    var text: String
    var done = false
}

private final class Counter: Sendable {
    private let number = Atomic(0)

    var count: Int { number.load(ordering: .relaxed) }
    func add() { number.add(1, ordering: .relaxed) }
}

/// The same rows, in a model that counts how often one is made of a row.
private struct CountedItem: SyncModel {
    static let table = "item"
    static let made = Counter()

    let id: String
    let text: String

    private enum CodingKeys: CodingKey {
        case id, text
    }

    init(from decoder: any Decoder) throws {
        Self.made.add()
        let container = try decoder.container(keyedBy: CodingKeys.self)
        id = try container.decode(String.self, forKey: .id)
        text = try container.decode(String.self, forKey: .text)
    }
}

@Suite(.timeLimit(.minutes(10))) @MainActor struct LiveQueryTests {
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

    @Test func `a live list has the current rows, and then each change`() async throws {
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
        try await items.untyped.database.pull(text: 5, id: "b", of: "item")
        await wait { live.error != nil }
        #expect(live.error?.address == "item/b" && live.models.map(\.id) == ["a"])
        live.show(items.where { $0.id == "a" && $0.done })
        await wait { live.models.isEmpty }
        #expect(live.error == nil)
    }

    @Test func `a live list never shows a part of a transaction`() async throws {
        let items = try await items()
        let live = LiveQuery(items)
        await wait { live.isLoaded }
        async let writing: Void = Self.insertPairs(of: items, 50)
        var seen: Set<Int> = []
        await wait {
            seen.insert(live.models.count)
            return live.models.count == 101
        }
        try await writing
        // One item, and two of each transaction.
        #expect(seen.allSatisfy { $0 % 2 == 1 })
    }

    @concurrent
    private static func insertPairs(of items: SyncTable<Item>, _ count: Int) async throws {
        for number in 0..<count {
            try await items.untyped.database.transaction { transaction in
                for name in ["m", "n"] { try transaction.insert(Item(id: "\(name)\(number)", text: ""), in: items) }
            }
        }
    }

    @Test func `a commit after which the rows are as they were does not set the list again`() async throws {
        let items = try await items()
        let counted = try items.untyped.database.table(CountedItem.self)
        // Some were made up to describe the model.
        let described = CountedItem.made.count
        let live = LiveQuery(counted)
        await wait { live.isLoaded }
        #expect(CountedItem.made.count == described + 1)
        for number in 0..<20 {
            try await items.untyped.database.transaction { transaction in
                for text in ["\(number)", "milk"] { try transaction.update(id: "a", in: items) { $0.text = text } }
            }
            items.untyped.database.writer.observers.wait()
            for _ in 0..<20 { await Task.yield() }
        }
        try await items.update(id: "a") { $0.text = "oat milk" }
        await wait { live.models.first?.text == "oat milk" }
        #expect(CountedItem.made.count == described + 2)
    }

    @Test func `a live list that is no longer held stops observing`() async throws {
        let items = try await items()
        var live: LiveQuery? = LiveQuery(items)
        weak let weakLive = live
        await wait { live?.isLoaded == true }
        live = nil
        #expect(weakLive == nil)
        while items.untyped.database.writer.observers.followsRows { await Task.yield() }
    }

    @Test(arguments: [false, true])
    func `a live list ends with its store, and an erasure empties it`(closingFirst: Bool) async throws {
        let items = try await items()
        let database = items.untyped.database
        let live = LiveQuery(items)
        let monitor = SyncMonitor(database)
        await wait { live.isLoaded && monitor.pending == 1 }
        if closingFirst {
            try await database.close()
            #expect(live.models.map(\.id) == ["a"])
        }
        try await database.erase(force: true)
        await wait { live.models.isEmpty && monitor.pending == 0 }
        #expect(live.error == nil && live.isLoaded)
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

    @Test func `a monitor does what is chosen about an issue, and says why it could not`() async throws {
        let pair = try await SyncPair(rows: [.item("a", ["text": "one"]), .item("b", ["text": "one"])])
        try await pair.pull()
        let monitor = SyncMonitor(pair.database)
        #expect(monitor.health == nil)
        for id in ["a", "b"] { try await pair.table.update(.item(id, ["text": "mine"])) }
        pair.server.upsert([.item("a", ["text": "theirs"])], in: "t")
        pair.network.script([nil, .answer(status: 403)])
        try await pair.push()
        await wait { monitor.issues.map(\.kind) == [.conflict, .refused] }
        #expect(monitor.health?.conflicts == 1 && monitor.health?.refused == 1 && monitor.pending == 2)
        let (conflict, refused) = (monitor.issues[0], monitor.issues[1])
        monitor.resolve(conflict, .decide(.takeServer))
        #expect(monitor.resolving == [conflict.id])
        await wait { monitor.resolving.isEmpty }
        #expect(monitor.error == nil)
        monitor.resolve(conflict, .decide(.takeServer))
        await wait { monitor.resolving.isEmpty }
        #expect(monitor.error?.code == .operationNotFound)
        monitor.resolve(refused, .discard)
        await wait { monitor.resolving.isEmpty }
        #expect(monitor.error == nil)
        await wait { monitor.issues.isEmpty && monitor.health?.refused == 0 && monitor.conflicts.isEmpty }
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
