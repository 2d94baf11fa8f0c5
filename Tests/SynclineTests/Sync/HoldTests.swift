// Operations that are kept from being pushed until they are released.

import SynclineCore
import SynclineTesting
import SynclineWire
import Testing

@testable import Syncline

@Suite struct HoldTests {
    private func states(_ database: SyncDatabase) async throws -> [String: PlannedOperation.State] {
        Dictionary(uniqueKeysWithValues: try await database.pending().map { ($0.id, $0.state) })
    }

    @Test func `a held row is not pushed, not even after a restart, and the others are`() async throws {
        var pair = try await SyncPair()
        try await pair.table.insert(.item("a", ["n": .integer(1)]))
        try await pair.table.insert(.item("b", ["n": .integer(2)]))
        try await pair.database.hold(table: "t", id: "a")
        try await pair.die()
        try await pair.table.update(.item("a", ["n": .integer(3)]))
        let report = try await pair.push()
        #expect(report.operations.map(\.outcome) == [.pending, .done])
        #expect(report.operations.first?.reason == .held && report.outcome == .incomplete)
        #expect(try await states(pair.database) == ["a": .held])
        #expect(try await pair.database.heldRows() == [HeldRow(table: "t", id: "a")])
        #expect(try await pair.pull().reason == nil)
        try await pair.database.release(table: "t", id: "a")
        #expect(try await pair.push().outcome == .complete)
        #expect(try await pair.agrees())
        #expect(try await pair.database.heldRows().isEmpty)
    }

    @Test func `a sent operation on a held row is not sent again until it is released`() async throws {
        let pair = try await SyncPair(rows: Value.rows(1))
        try await pair.pull()
        try await pair.table.update(.item("r0", ["n": .integer(7)]))
        pair.network.script([.dropAnswer])
        try await pair.push()
        try await pair.table.update(.item("r0", ["n": .integer(8)]))
        try await pair.database.hold(table: "t", id: "r0")
        #expect(try await pair.database.pending().map(\.isToPush) == [false, false])
        #expect(try await pair.push().operations.map(\.reason) == [.held, .held])
        try await pair.database.release(table: "t", id: "r0")
        #expect(try await pair.push().outcome == .complete)
        #expect(try await pair.agrees())
    }

    @Test func `a hold needs a pending operation, and a release needs a held row`() async throws {
        let pair = try await SyncPair(rows: Value.rows(1))
        try await pair.pull()
        await #expect { try await pair.database.hold(table: "t", id: "r0") } throws: {
            ($0 as? SyncError)?.code == .operationNotFound
        }
        try await pair.table.update(.item("r0", ["n": .integer(7)]))
        await #expect { try await pair.database.release(table: "t", id: "r0") } throws: {
            ($0 as? SyncError)?.code == .operationNotFound
        }
        try await pair.database.hold(table: "t", id: "r0")
        let event = pair.database.lastEvent
        try await pair.database.hold(table: "t", id: "r0")
        #expect(pair.database.lastEvent == event, "it was held already")
    }

    @Test func `dropping ends a hold, and the past knows when there was one`() async throws {
        let pair = try await SyncPair()
        try await pair.table.insert(.item("a", ["n": .integer(1)]))
        let before = pair.database.lastEvent
        try await pair.database.hold(table: "t", id: "a")
        let held = pair.database.lastEvent
        try await pair.database.discard(table: "t", id: "a")
        try await pair.table.insert(.item("a", ["n": .integer(2)]))
        #expect(try await states(pair.database) == ["a": .pending])
        #expect(try await pair.database.history(at: before).pending().map(\.state) == [.pending])
        #expect(try await pair.database.history(at: held).pending().map(\.state) == [.held])
    }

    @Test func `a row that is held while a push runs is not sent by it`() async throws {
        let gate = HoldGate()
        let pair = try await SyncPair(hook: { _ in await gate.run() })
        try await pair.table.insert(.item("a", ["n": .integer(1)]))
        try await pair.table.insert(.item("b", ["n": .integer(2)]))
        let database = pair.database
        await gate.set { try await database.hold(table: "t", id: "b") }
        pair.network.script([.delay])
        let report = try await pair.push()
        #expect(await gate.error == nil)
        #expect(report.operations.map(\.outcome) == [.done, .pending])
        #expect(report.operations.last?.reason == .held)
    }

    @Test func `a hold means its row in every spelling if ids ignore the case`() async throws {
        var options = SimulatedServer.Options()
        options.ignoresCase = true
        let pair = try await SyncPair(.datasync3, options)
        try await pair.table.insert(.item("Abc", ["n": .integer(1)]))
        try await pair.table.insert(.item("abd", ["n": .integer(2)]))
        try await pair.database.hold(table: "t", id: "ABC")
        #expect(try await states(pair.database) == ["Abc": .held, "abd": .pending])
        let event = pair.database.lastEvent
        try await pair.database.hold(table: "t", id: "abc")
        #expect(pair.database.lastEvent == event, "it is the same row")
        #expect(try await pair.push().operations.map(\.outcome) == [.pending, .done])
        #expect(try await pair.database.heldRows().count == 1)
        try await pair.database.release(table: "t", id: "aBC")
        #expect(try await pair.database.heldRows().isEmpty)
        #expect(try await pair.push().outcome == .complete)
        try await pair.table.update(.item("ABC", ["n": .integer(3)]))
        try await pair.database.hold(table: "t", id: "Abc")
        try await pair.database.discard(table: "t", id: "aBc")
        #expect(try await pair.database.heldRows().isEmpty, "dropping ends it in every spelling")
    }

    @Test func `the plan has a request for what follows a sent operation of the same row, with its path as it is sent`()
        async throws
    {
        let pair = try await SyncPair(rows: [.item("a bä", ["n": .integer(1), "m": .integer(5)])])
        try await pair.pull()
        try await pair.table.delete(id: "a bä")
        pair.network.script([.dropAnswer])
        try await pair.push()
        try await pair.table.insert(.item("a bä", ["n": .integer(2)]))
        let preview = try await pair.database.pushPreview()
        #expect(preview.requests.map { $0?.method } == ["DELETE", "POST"])
        #expect(preview.requests.map { $0?.path } == ["/tables/t/a%20b%C3%A4", "/tables/t"])
        let body = try #require(preview.requests[1]?.body)
        let sent = try Value(json: body)
        #expect(sent[member: "n"] == .integer(2) && sent[member: "id"] == .string("a bä"))
        #expect(preview.requests[1]?.headers["If-Match"] == nil)
    }

    @Test func `a conflict with the server's present row is foreseen`() async throws {
        let pair = try await SyncPair(rows: Value.rows(1))
        try await pair.pull()
        try await pair.table.update(.item("r0", ["n": .integer(7)]))
        #expect(try await pair.database.pushPreview().foreseen == [nil])
        pair.network.script([.dropAnswer])
        try await pair.push()
        // The answer is lost, and the pull receives the updated row.
        try await pair.pull { settings in
            settings.queryID = "q"
            settings.pushesFirst = false
        }
        #expect(try await pair.database.pushPreview().foreseen == [.changed])
        let sizes = try await pair.database.pushPreview().requests.map { $0?.size ?? 0 }
        #expect(sizes.allSatisfy { $0 > 0 })
    }
}

/// Something to do while a request is on its way.
private actor HoldGate {
    private var body: (@Sendable () async throws -> Void)?
    private(set) var error: (any Error)?

    func set(_ body: @escaping @Sendable () async throws -> Void) { self.body = body }

    func run() async {
        do { try await body?() } catch { self.error = error }
        body = nil
    }
}
