// Operations that block others, and responses that must not be trusted: repeated failures, drops, lost responses,
// and tombstones.

import SynclineCore
import SynclineTesting
import SynclineWire
import Testing

@testable import Syncline

@Suite struct StuckOperationTests {
    private static let failing = NetworkFault.answer(status: 500)

    @Test func `an operation that the server fails on push after push is parked, and the others continue`() async throws
    {
        var pair = try await SyncPair()
        try await pair.table.insert(.item("refused", ["n": .integer(1)]))
        try await pair.table.insert(.item("good", ["n": .integer(2)]))
        for round in 1...2 {
            pair.network.script([Self.failing])
            #expect(try await pair.push().reason?.code == .serverError)
            // Another table is read in the meantime: the server works.
            if round == 1 { #expect(try await pair.database.pull("u").reason == nil) }
            try await pair.die()
        }
        pair.network.script([Self.failing])
        let report = try await pair.push()
        #expect(report.operations.map(\.outcome) == [.parked, .done])
        #expect(try await pair.database.conflicts().map(\.id) == ["refused"])
        #expect(pair.serverRow("good") != nil)
        try await pair.database.resolve(table: "t", id: "refused", .keepMine)
        #expect(try await pair.push().outcome == .complete)
    }

    @Test func `a sync finds out by itself whether the server works`() async throws {
        for works in [true, false] {
            let pair = try await SyncPair()
            try await pair.table.insert(.item("refused", ["n": .integer(1)]))
            for _ in 0..<3 {
                // The write, tried four times, and then the read.
                pair.network.script(Array(repeating: Self.failing, count: works ? 4 : 5))
                _ = try await pair.database.sync(["t"])
            }
            #expect(try await pair.database.conflicts().count == (works ? 1 : 0))
        }
    }

    @Test func `if a server fails on everything, nothing is parked`() async throws {
        let pair = try await SyncPair()
        try await pair.table.insert(.item("a", ["n": .integer(1)]))
        for _ in 0..<6 {
            pair.network.script([Self.failing])
            #expect(try await pair.push().reason?.code == .serverError)
        }
        #expect(try await pair.database.conflicts().isEmpty)
        #expect(try await pair.push().outcome == .complete)
    }

    @Test func `a push that stops for another reason resets the count`() async throws {
        let pair = try await SyncPair()
        try await pair.table.insert(.item("a", ["n": .integer(1)]))
        for fault in [Self.failing, Self.failing, .dropRequest, Self.failing, Self.failing] {
            pair.network.script([fault])
            _ = try await pair.push()
            _ = try await pair.database.pull("u")
        }
        #expect(try await pair.database.conflicts().isEmpty)
        pair.network.script([Self.failing])
        #expect(try await pair.push().operations.map(\.outcome) == [.parked])
    }

    @Test func `dropping discards the pending changes of one row`() async throws {
        let pair = try await SyncPair(rows: Value.rows(2))
        try await pair.pull()
        let cursors = try await pair.database.cursors().count
        try await pair.table.update(.item("r0", ["n": .integer(7)]))
        try await pair.table.update(.item("r1", ["n": .integer(8)]))
        try await pair.table.insert(.item("new", ["n": .integer(9)]))
        #expect(try await pair.database.discard(table: "t", id: "r0") == 1)
        #expect(try await pair.database.discard(table: "t", id: "new") == 1)
        #expect(try await pair.table.get(id: "r0")?.columns["n"] == .integer(0))
        #expect(try await pair.table.get(id: "new") == nil)
        #expect(try await pair.database.pending().map(\.id) == ["r1"])
        #expect(try await pair.database.cursors().count == cursors)
        await #expect(throws: SyncError.self) { try await pair.database.discard(table: "t", id: "r0") }
    }

    @Test func `an operation that may have reached the server is dropped only with force`() async throws {
        var pair = try await SyncPair(rows: Value.rows(1))
        try await pair.pull()
        try await pair.table.update(.item("r0", ["n": .integer(7)]))
        pair.network.script([.dropAnswer])
        try await pair.push()
        try await pair.table.update(.item("r0", ["n": .integer(8)]))
        try await pair.die()
        await #expect { try await pair.database.discard(table: "t", id: "r0") } throws: {
            ($0 as? SyncError)?.code == .pendingChanges
        }
        #expect(try await pair.database.discard(table: "t", id: "r0", force: true) == 2)
        #expect(try await pair.database.pending().isEmpty)
        try await pair.pull()
        #expect(try await pair.agrees())
        #expect(try await pair.table.get(id: "r0")?.columns["n"] == .integer(7))
    }

    @Test func `an operation that awaits a decision can be dropped, with its follow-ups`() async throws {
        let pair = try await SyncPair()
        try await pair.table.insert(.item("a", ["n": .integer(1)]))
        pair.network.script([.answer(status: 400)])
        try await pair.push()
        try await pair.table.delete(id: "a")
        #expect(try await pair.database.discard(table: "t", id: "a") == 2)
        #expect(try await pair.database.conflicts().isEmpty)
        #expect(try await pair.table.get(id: "a") == nil)
    }

    @Test func `a purge with a filter finds a row by its sent values`() async throws {
        let pair = try await SyncPair()
        try await pair.table.insert(.item("a", ["n": .integer(1)]))
        pair.network.script([.dropRequest])
        try await pair.push()
        try await pair.table.delete(id: "a")
        let report = try await pair.database.purge(
            table: "t", filter: try FilterExpression(parsing: "n eq 1"), force: true)
        #expect(report.dropped == 2)
        #expect(try await pair.database.pending().isEmpty)
    }

    @Test func `an update without columns is never queued`() async throws {
        let pair = try await SyncPair(rows: Value.rows(1))
        try await pair.table.update(.item("absent", [:]))
        #expect(try await pair.database.pending().isEmpty)
        try await pair.pull()
        try await pair.table.update(.item("r0", ["n": .integer(7)]))
        pair.server.upsert([.item("r0", ["n": .integer(5)])], in: "t")
        try await pair.push()
        try await pair.database.resolve(table: "t", id: "r0", .row(.empty))
        #expect(try await pair.database.pending().isEmpty)
        #expect(try await pair.table.get(id: "r0")?.columns["n"] == .integer(5))
    }

    @Test(arguments: [nil, OperationKind.update, .delete], [false, true])
    func `a row that the app's policy chooses is sent in the same push`(
        _ kind: OperationKind?, _ hasFollowUp: Bool
    ) async throws {
        let pair = try await SyncPair(rows: Value.rows(2))
        try await pair.pull()
        for id in ["r0", "r1"] { try await pair.table.update(.item(id, ["n": .integer(7)])) }
        pair.server.upsert([.item("r0", ["n": .integer(5)])], in: "t")
        if hasFollowUp {
            try await pair.push()
            try await pair.table.update(.item("r0", ["other": .integer(1)]))
            try await pair.database.resolve(table: "t", id: "r0", .keepMine)
            pair.server.upsert([.item("r0", ["n": .integer(6)])], in: "t")
        }
        let policy = ConflictPolicy.custom(name: "sum") { _ in .row(Row([.init("n", .integer(12))]), as: kind) }
        let report = try await pair.push(policy)
        #expect(report.outcome == .complete)
        #expect(try await pair.database.pending().isEmpty)
        let row = pair.serverRow("r0")
        #expect(kind == .delete ? row?[member: "deleted"] == .bool(true) : row?[member: "n"] == .integer(12))
        #expect(report.operations.first { $0.id == "r0" }?.reason == .decided(by: "sum"))
        #expect(try await pair.agrees())
    }

    @Test(arguments: [true, false])
    func `a decision to delete also discards the updates that followed`(_ isGone: Bool) async throws {
        let pair = try await SyncPair(rows: Value.rows(1))
        try await pair.pull()
        try await pair.table.update(.item("r0", ["n": .integer(7)]))
        var row: [String: Value] = ["n": .integer(5)]
        if isGone { row["deleted"] = .bool(true) }
        pair.server.upsert([.item("r0", row)], in: "t")
        try await pair.push()
        try await pair.table.update(.item("r0", ["n": .integer(8)]))
        try await pair.database.resolve(table: "t", id: "r0", .row(.empty, as: .delete))
        #expect(try await pair.table.get(id: "r0") == nil)
        #expect(try await pair.push().outcome == .complete)
        #expect(pair.serverRow("r0")?[member: "deleted"] == .bool(true))
        #expect(try await pair.database.pending().isEmpty)
    }

    @Test func `a conflict shows the changes made after its operation separately`() async throws {
        let pair = try await SyncPair(rows: Value.rows(1))
        try await pair.pull()
        try await pair.table.update(.item("r0", ["n": .integer(7)]))
        pair.server.upsert([.item("r0", ["n": .integer(5)])], in: "t")
        try await pair.push()
        try await pair.table.update(.item("r0", ["m": .integer(8)]))
        let conflict = try #require(try await pair.database.conflicts().first)
        #expect(conflict.mine?["n"] == .integer(7) && conflict.mine?["m"] == nil)
        #expect(conflict.current?["n"] == .integer(7) && conflict.current?["m"] == .integer(8))
        try await pair.table.delete(id: "r0")
        #expect(try await pair.database.conflicts().first?.current == nil)
    }

    // MARK: Lost answers

    @Test(arguments: ServerProtocol.allCases, [true, false])
    func `a conflict after a lost answer says that the operation may have been applied`(
        _ server: ServerProtocol, _ recognizes: Bool
    ) async throws {
        var options = SimulatedServer.Options()
        options.recognizesOperations = recognizes
        for policy in [ConflictPolicy.serverWins, .clientWins, .merge] {
            let pair = try await SyncPair(server, options, rows: Value.rows(1))
            try await pair.pull()
            try await pair.table.update(.item("r0", ["n": .integer(7)]))
            pair.network.script([.dropRequest])
            try await pair.push(policy)
            pair.server.upsert([.item("r0", ["n": .integer(5)])], in: "t")
            let report = try await pair.push(policy)
            let conflicts = try await pair.database.conflicts()
            if recognizes {
                #expect(conflicts.allSatisfy { !$0.mayHaveBeenDone })
            } else {
                #expect(report.outcome == .incomplete)
                #expect(conflicts.map(\.mayHaveBeenDone) == [true])
                try await pair.database.resolve(table: "t", id: "r0", .keepMine)
                #expect(try await pair.push(policy).outcome == .complete)
            }
        }
    }

    @Test(arguments: ServerProtocol.allCases, OperationKind.allCases)
    func `a repeated first answer does not undo what a pull has fetched since`(
        _ server: ServerProtocol, _ kind: OperationKind
    ) async throws {
        var options = SimulatedServer.Options()
        options.recognizesOperations = true
        options.tellsChanges = true
        let pair = try await SyncPair(server, options, rows: kind == .insert ? [] : Value.rows(1))
        try await pair.pull()
        switch kind {
        case .insert: try await pair.table.insert(.item("r0", ["n": .integer(7)]))
        case .update: try await pair.table.update(.item("r0", ["n": .integer(7)]))
        case .delete: try await pair.table.delete(id: "r0")
        }
        pair.network.script([.dropAnswer])
        try await pair.push()
        // Another client changes or restores the row, and it is pulled before the response comes.
        pair.server.upsert([.item("r0", ["n": .integer(9)])], in: "t")
        try await pair.pull { $0.pushesFirst = false }
        #expect(try await pair.push().outcome == .complete)
        try await pair.pull()
        #expect(try await pair.table.get(id: "r0")?.columns["n"] == .integer(9))
        #expect(try await pair.agrees())
    }

    @Test func `a delete of a missing row also removes the row that a pull fetched before`() async throws {
        var options = SimulatedServer.Options()
        options.deletesForGood = true
        let pair = try await SyncPair(.datasync3, options, rows: Value.rows(1))
        try await pair.pull()
        try await pair.table.delete(id: "r0")
        pair.network.script([.dropRequest])
        try await pair.push()
        pair.server.upsert([.item("r0", ["n": .integer(9)])], in: "t")
        try await pair.pull { $0.pushesFirst = false }
        pair.server.remove(["r0"], from: "t")
        #expect(try await pair.push().outcome == .complete)
        #expect(try await pair.table.get(id: "r0") == nil)
    }

    // MARK: Tombstones

    private static func page(_ rows: String) -> HTTPResponse { .json(200, #"{"items":[\#(rows)],"count":1}"#) }

    private static func row(_ second: Int, _ deleted: Bool) -> String {
        #"{"id":"a","n":1,"updatedAt":"2026-01-01T00:00:0\#(second).000Z","version":"v\#(second)","deleted":\#(deleted)}"#
    }

    @Test func `a tombstone that is older than our own write is ignored`() async throws {
        for second in [3, 7] {
            let line = PlayedLine { request in
                if request.method == "POST" { return .success(.json(201, Self.row(5, false))) }
                return .success(Self.page(Self.row(second, true)))
            }
            var configuration = SyncConfiguration.test()
            configuration.serverProtocol = .datasync3
            configuration.transport = line
            let database = try await SyncDatabase.open(MemoryStorage(granularity: .sector), configuration)
            try await database.rows(of: "t").insert(.item("a", ["n": .integer(1)]))
            _ = try await database.push()
            try await database.rows(of: "t").update(.item("a", ["n": .integer(2)]))
            var settings = PullSettings()
            settings.pushesFirst = false
            let report = try await database.pull("t", settings)
            #expect(report.conflicts == (second == 3 ? 0 : 1))
            #expect(try await database.rows(of: "t").get(id: "a")?.columns["n"] == .integer(2))
        }
    }

    @Test(arguments: OperationKind.allCases)
    func `a tombstone also affects a change without a base`(_ kind: OperationKind) async throws {
        let pair = try await SyncPair(rows: [.item("r", ["n": .integer(1), "deleted": .bool(true)])])
        switch kind {
        case .insert: try await pair.table.insert(.item("r", ["n": .integer(2)]))
        case .update: try await pair.table.update(.item("r", ["n": .integer(2)]))
        case .delete: try await pair.table.delete(id: "r")
        }
        let report = try await pair.pull { $0.pushesFirst = false }
        switch kind {
        case .insert:
            #expect(report.conflicts == 0)
            #expect(try await pair.database.pending().map(\.state) == [.pending])
        case .update:
            #expect(report.conflicts == 1)
            #expect(try await pair.database.conflicts().map(\.reason) == [.gone])
            #expect(try await pair.table.get(id: "r")?.columns["n"] == .integer(2), "the app's row stays visible")
        case .delete:
            #expect(try await pair.database.pending().isEmpty, "both sides deleted it")
        }
    }

    @Test func `a tombstone after a live row does not affect a pending insert`() async throws {
        let pair = try await SyncPair(rows: Value.rows(1))
        try await pair.table.insert(.item("r0", ["n": .integer(2)]))
        try await pair.pull { $0.pushesFirst = false }
        pair.server.upsert([.item("r0", ["n": .integer(1), "deleted": .bool(true)])], in: "t")
        #expect(try await pair.pull { $0.pushesFirst = false }.conflicts == 0)
        #expect(try await pair.database.pending().map(\.kind) == [.insert])
    }

    // MARK: Rows that are gone

    @Test(arguments: ServerProtocol.allCases)
    func `a row that is gone from the server is removed, whichever queries claim it`(_ server: ServerProtocol)
        async throws
    {
        let rows: [Value] = (0..<3).map { .item("r\($0)", ["list": .integer(1), "n": .integer(Int64($0))]) }
        let pair = try await SyncPair(server, rows: rows)
        try await pair.pull { $0.queryID = "all" }
        try await pair.pull {
            $0.queryID = "one"
            $0.filter = try? FilterExpression(parsing: "list eq 1")
        }
        pair.server.remove(["r1"], from: "t")
        pair.server.upsert([.item("r2", ["list": .integer(2), "n": .integer(2)])], in: "t")
        let report = try await pair.pull {
            $0.queryID = "one"
            $0.filter = try? FilterExpression(parsing: "list eq 1")
            $0.reconciles = true
        }
        #expect(report.reason == nil)
        #expect(try await pair.table.get(id: "r1") == nil)
        #expect(try await pair.table.get(id: "r2") != nil, "the other query stands for it")
    }
}
