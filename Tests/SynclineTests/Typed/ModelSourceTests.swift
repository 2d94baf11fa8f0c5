// The same questions about the same model in different places: the store, a transaction, the past, a server, a pull.

import SegmentLog
import SynclineTesting
import Testing

@testable import Syncline

private struct Item: VersionedModel, Equatable {
    static let table = "t"

    var id: String
    var text: String
    var done = false
    var version: String?
}

@Suite struct ModelSourceTests {
    private static let open = Filter<Item> { !$0.done }

    private static func ids(_ items: [Item]) -> String { items.map(\.id).joined() }

    private func pair() async throws -> SyncPair {
        try await SyncPair(rows: [
            .item("a", ["text": "milk", "done": true]), .item("b", ["text": "rice", "done": false]),
            .item("c", ["text": "bread", "done": false]),
        ])
    }

    @Test func `one filter fetches rows, and finds them here, in a transaction and in the past`() async throws {
        let pair = try await pair()
        let items = try pair.database.table(Item.self)
        let report = try await items.pull(id: "open", where: Self.open)
        #expect(report.reason == nil && report.changed == 2)
        let before = pair.database.lastEvent

        let open = items.where(Self.open).order(by: \.text)
        #expect(Self.ids(try await open.get()) == "cb")
        let seen = try await pair.database.transaction { transaction in
            try transaction.insert(Item(id: "d", text: "apples"), in: items)
            return try transaction.get(open)
        }
        #expect(Self.ids(seen) == "dcb")
        try await items.update(id: "b") { $0.done = true }
        #expect(Self.ids(try await open.get()) == "dc")

        let past = try await pair.database.history(at: before).table(Item.self)
        #expect(Self.ids(try await past.where(Self.open).order(by: \.text).get()) == "cb")
        #expect(Self.ids(try await past.order(by: \.text, .descending).limit(1).get()) == "b")
        #expect(try await past.get(id: "b")?.done == false)
        #expect(try await past.get(id: "d") == nil)
    }

    @Test(arguments: ServerProtocol.allCases)
    func `a server's table is queried in the same way`(_ protocolVersion: ServerProtocol) async throws {
        let server = SimulatedServer(protocolVersion)
        server.setTable("t", rows: [], pageLimit: 2)
        let items = Backend(SimulatedNetwork(server), speaking: protocolVersion, nil).table(Item.self)
        for (id, text) in [("a", "milk"), ("b", "rice"), ("c", "bread"), ("d", "oats"), ("e", "salt")] {
            try await items.insert(Item(id: id, text: text, done: id == "a"))
        }
        #expect(Self.ids(try await items.where(Self.open).order(by: \.text).get()) == "cdbe", "two pages")
        #expect(Self.ids(try await items.where { $0.text >= "o" }.limit(1).get()).count == 1)
        #expect(try await items.where(Self.open).page().hasMore)

        var rice = try #require(try await items.get(id: "b"))
        let stale = rice
        rice.text = "brown rice"
        #expect(try await items.update(rice).text == "brown rice")
        let error = await #expect(throws: SyncError.self) { try await items.update(stale) }
        #expect(error?.code == .conflict)
        try await items.delete(try #require(try await items.get(id: "b")))
        #expect(try await items.get(id: "b") == nil)
    }

    @Test func `a pull takes a condition in braces, and a push of a table sends its changes alone`() async throws {
        let pair = try await pair()
        let items = try pair.database.table(Item.self)
        try await items.pull(id: "done") { $0.done }
        #expect(Self.ids(try await items.all()) == "a")
        try await pair.database.rows(of: "other").insert(.item("x", [:]))
        try await items.insert(Item(id: "z", text: "salt"))
        #expect(try await items.push().operations.map(\.id) == ["z"])
        #expect(try await pair.database.pending().map(\.table) == ["other"])
        let error = await #expect(throws: SyncError.self) { try await items.pull(id: "done") { !$0.done } }
        #expect(error?.code == .queryChanged)
    }
}
