// A pull at each known trap of reading by time; N numbers the requirements of a sync.

import Foundation
import SynclineCore
import SynclineTesting
import SynclineWire
import Testing

@testable import Syncline

/// A clock that is wrong.
private struct WrongClock: SyncEnvironment {
    let offset: Int64
    let counted = SimulatedEnvironment("W")

    func now() -> Date { Date(milliseconds: counted.milliseconds() + offset) }
    func newID() -> String { counted.newID() }
}

@Suite struct ReadingBehaviourTests {
    private static let moment = "2026-03-01T10:00:00.464Z"

    @Test(arguments: ServerProtocol.allCases)
    func `N1: a row that moves between two pages is not lost, nor is the row after it`(
        _ server: ServerProtocol
    ) async throws {
        let mutations = (1...12).map { request in
            SimulatedServer.Mutation(
                afterRequest: request, upsert: [.item("r\(request * 7 % 30)", ["n": .integer(Int64(100 + request))])])
        }
        let pair = try await SyncPair(server, rows: Value.rows(30), pageLimit: 4, mutations: mutations)
        for _ in 0..<3 { try await pair.pull() }
        #expect(try await pair.agrees())
    }

    @Test func `N2: pages inside one millisecond are all fetched`() async throws {
        for (limit, moves) in [(2, false), (2, true), (1, true), (7, false)] {
            let mutations = (1...20).map {
                SimulatedServer.Mutation(afterRequest: $0, upsert: [.item("r\($0 % 20)", ["n": .integer(0)])])
            }
            let pair = try await SyncPair(
                rows: Value.rows(20, at: Self.moment), pageLimit: limit, mutations: moves ? mutations : [])
            try await pair.pull()
            try await pair.pull()
            #expect(try await pair.agrees(), "pages of \(limit)")
            #expect(pair.network.requestCount < 4 * (40 / limit + 10))
        }
    }

    @Test func `N3: a millisecond that shrinks while it is read loses nothing`() async throws {
        let mutation = SimulatedServer.Mutation(
            afterRequest: 1,
            upsert: [
                .item("r", ["n": .integer(2), "updatedAt": .string("2026-03-01T10:00:00.469Z")]),
                .item("x", ["updatedAt": .string("2026-03-01T10:00:00.473Z")]),
            ])
        let first = Value.item("r", ["n": .integer(1), "updatedAt": .string(Self.moment)])
        let pair = try await SyncPair(rows: [first], pageLimit: 1, mutations: [mutation])
        try await pair.pull()
        try await pair.pull()
        #expect(try await pair.agrees())
    }

    @Test func `N4: times more exact than the protocol's lose nothing, and the cursor is a string`() async throws {
        for precision in [SimulatedServer.Precision.milliseconds, .microseconds] {
            let pair = try await SyncPair(rows: Value.rows(25), pageLimit: 2, precision: precision)
            try await pair.pull()
            pair.server.upsert(Value.rows(5), in: "t")
            try await pair.pull()
            #expect(try await pair.agrees(), "\(precision)")
            let cursor = try #require(try await pair.database.cursors().first)
            #expect(Timestamp(cursor.state.position) != nil)
        }
    }

    @Test func `N5: the newest millisecond is read again, and costs nothing`() async throws {
        let pair = try await SyncPair(rows: Value.rows(2, at: Self.moment))
        try await pair.pull()
        pair.server.upsert([.item("a", ["updatedAt": .string(Self.moment)])], in: "t")
        let report = try await pair.pull()
        #expect(report.received == 3)
        #expect(report.changed == 1)
        let last = pair.database.lastEvent
        try await pair.pull()
        #expect(pair.database.lastEvent == last)
        #expect(try await pair.agrees())
    }

    @Test func `N6: rows that commit late are found with an overlap`() async throws {
        var options = SimulatedServer.Options()
        options.lateCommits = .init(every: 3, reads: 2)
        let pair = try await SyncPair(.zumo2, options, rows: Value.rows(5))
        for round in 0..<6 {
            pair.server.upsert([.item("n\(round)", [:])], in: "t")
            try await pair.pull { $0.overlap = .milliseconds(50) }
        }
        for _ in 0..<3 { try await pair.pull { $0.overlap = .milliseconds(50) } }
        #expect(try await pair.agrees())
    }

    @Test
    func `N6: a commit later than the overlap is not covered, and an audit does not find it`()
        async throws
    {
        var options = SimulatedServer.Options()
        options.lateCommits = .init(every: 3, reads: 4)
        let pair = try await SyncPair(.zumo2, options, rows: Value.rows(5))
        for round in 0..<6 {
            pair.server.upsert([.item("n\(round)", [:])], in: "t")
            try await pair.pull()
        }
        for _ in 0..<6 { try await pair.pull() }
        #expect(try await !pair.agrees(), "without an overlap a late row is missed")
        try await pair.pull { $0.reconciles = true }
        #expect(try await !pair.agrees(), "an audit finds what is gone, not what was missed")
        // The documented bound: an overlap longer than the lateness, counted from the beginning of a pull.
        try await pair.pull { $0.overlap = .seconds(1) }
        #expect(try await pair.agrees())
    }

    @Test func `N7: a clock that steps back lowers the cursor and is reported`() async throws {
        var configuration = SyncConfiguration.test()
        configuration.transport = PlayedLine { request in
            let (id, time) = request.method == "GET" ? ("r", "2026-03-01T10:00:00Z") : ("x", "2026-02-01T10:00:00Z")
            let row = #"{"id":"\#(id)","version":"1","updatedAt":"\#(time)"}"#
            return .success(.json(200, request.method == "GET" ? #"{"results":[\#(row)],"count":1}"# : row))
        }
        let database = try await SyncDatabase.open(MemoryStorage(granularity: .sector), configuration)
        var settings = PullSettings()
        settings.queryID = "q"
        #expect(try await database.pull("t", settings).reason == nil)
        try await database.rows(of: "t").insert(.item("x", [:]))
        let report = try await database.push()
        #expect(report.outcome == .complete)
        #expect(report.warnings.count == 1)
        #expect(try await database.cursors().first?.state.position.hasPrefix("2026-02-01") == true)
    }

    @Test func `N8: times that an app writes are never sent`() async throws {
        let pair = try await SyncPair()
        let columns: [String: Value] = [
            "updatedAt": .string("1999-01-01T00:00:00Z"), "version": .string("9"), "deleted": .bool(true), "n": .null,
        ]
        try await pair.table.insert(.item("r", columns))
        #expect(try await pair.push().outcome == .complete)
        let body = String(decoding: pair.writes[0].body ?? [], as: UTF8.self)
        #expect(body == #"{"id":"r","n":null}"#)
        #expect(pair.serverRow("r")?[member: "updatedAt"]?.json.contains("2026") == true)
    }

    @Test func `N9: a device's clock that is ten years off changes nothing`() async throws {
        var cursors: [String] = []
        for years in [-10, 0, 10] as [Int64] {
            let pair = try await SyncPair(
                rows: Value.rows(9), pageLimit: 2, environment: WrongClock(offset: years * 31_536_000_000))
            try await pair.pull()
            pair.server.upsert(Value.rows(3), in: "t")
            try await pair.pull()
            #expect(try await pair.agrees())
            cursors.append(try await pair.database.cursors().first?.state.position ?? "")
        }
        #expect(Set(cursors).count == 1)
    }

    @Test func `N10, N13, N33: a pull that dies at any call of the disk continues where it stopped`() async throws {
        for call in 1...40 {
            var pair = try await SyncPair(rows: Value.rows(12), pageLimit: 3)
            pair.disk.arm(FaultPlan(call: call, of: [.write, .sync, .resize, .rename], persists: true))
            _ = try? await pair.pull()
            try await pair.die()
            _ = try StateImage.check(pair.disk, "call \(call)")
            let cursor = try await pair.database.cursors().first?.state.moment ?? 0
            let newest = try await pair.table.query(RowQuery(table: "t")).rows.compactMap { row -> Int64? in
                if case .date(let date)? = row.columns["updatedAt"] { return date.instant.milliseconds }
                return nil
            }.max()
            #expect(cursor == newest ?? 0, "call \(call)")
            pair.server.upsert([.item("r1", ["n": .integer(99)])], in: "t")
            try await pair.pull()
            #expect(try await pair.agrees(), "call \(call)")
        }
    }

    @Test func `N11, N27: a row pulled beneath pending changes is visible after they are undone`() async throws {
        let pair = try await SyncPair(rows: [.item("r", ["a": .integer(1), "b": .integer(1)])])
        try await pair.pull()
        try await pair.table.update(.item("r", ["a": .integer(2)]))
        pair.server.upsert([.item("r", ["a": .integer(1), "b": .integer(5)])], in: "t")
        let report = try await pair.pull { $0.pushesFirst = false }
        #expect(report.changed == 1 && report.conflicts == 0)
        let row = try await pair.table.get(id: "r")?.columns
        #expect(row?["a"] == .integer(2) && row?["b"] == .integer(5))
        try await pair.database.undo()
        #expect(try await pair.agrees())
    }

    @Test func `N12: a short page is not the end`() async throws {
        for counts in [true, false] {
            let pair = try await SyncPair(rows: Value.rows(10), pageLimit: counts ? 1 : 3)
            try await pair.pull { $0.pageSize = 50 }
            #expect(try await pair.agrees())
            try await pair.pull {
                $0.queryID = nil
                $0.order = [RowQuery.Key("n", descending: true)]
            }
            #expect(try await pair.agrees())
        }
    }

    @Test func `N14: a soft delete is seen; a permanent one only by an audit`() async throws {
        for hard in [false, true] {
            let pair = try await SyncPair(rows: Value.rows(4), pageLimit: 2)
            try await pair.pull()
            if hard {
                pair.server.remove(["r1"], from: "t")
            } else {
                pair.server.upsert([.item("r1", ["deleted": .bool(true)])], in: "t")
            }
            try await pair.pull()
            #expect(try await pair.agrees() == !hard)
            let report = try await pair.pull { $0.reconciles = true }
            #expect(report.deleted == (hard ? 1 : 0))
            #expect(try await pair.agrees())
        }
    }

    @Test func `N16: a row that left the filter goes with an audit, unless another query has it`() async throws {
        for isClaimed in [false, true] {
            let pair = try await SyncPair(rows: Value.rows(4))
            let filter = try FilterExpression(parsing: "n lt 3")
            if isClaimed { try await pair.pull { $0.queryID = "all" } }
            try await pair.pull { $0.filter = filter }
            pair.server.upsert([.item("r1", ["n": .integer(8)])], in: "t")
            let report = try await pair.pull {
                $0.filter = filter
                $0.reconciles = true
            }
            #expect(report.deleted == (isClaimed ? 0 : 1))
        }
    }

    @Test func `N17: a query id stands for one query, until the cursor is dropped`() async throws {
        let pair = try await SyncPair(rows: Value.rows(4))
        try await pair.pull()
        let filter = try FilterExpression(parsing: "n lt 3")
        let count = pair.network.requestCount
        let error = await #expect(throws: SyncError.self) { try await pair.pull { $0.filter = filter } }
        #expect(error?.code == .queryChanged && error?.hint != nil)
        #expect(pair.network.requestCount == count)
        try await pair.database.purge(table: "t")
        #expect(try await pair.database.cursors().isEmpty)
        #expect(try await pair.pull { $0.filter = filter }.changed == 3)
    }

    @Test(arguments: ServerProtocol.allCases)
    func `N19: a lagging list does not undo an own write`(server: ServerProtocol) async throws {
        for deletesForGood in [true, false] {
            var options = SimulatedServer.Options()
            options.lag = 2
            options.deletesForGood = deletesForGood
            let pair = try await SyncPair(server, options, rows: Value.rows(5))
            try await pair.pull()
            try await pair.table.update(.item("r2", ["n": .integer(9)]))
            try await pair.table.delete(id: "r1")
            #expect(try await pair.push().outcome == .complete)
            // The list shows both as they were before, also under a later edit.
            try await pair.pull()
            #expect(try await pair.table.get(id: "r2")?.columns["n"] == .integer(9))
            #expect(try await pair.table.get(id: "r1") == nil)
            try await pair.table.update(.item("r2", ["n": .integer(10)]))
            let report = try await pair.pull()
            #expect(report.changed == 0 && report.conflicts == 0)
            #expect(try await pair.push().outcome == .complete)
            for _ in 0..<3 { pair.server.upsert([.item("x", [:])], in: "t") }
            try await pair.pull()
            #expect(try await pair.table.get(id: "r2")?.columns["n"] == .integer(10))
            #expect(try await pair.table.get(id: "r1") == nil)
        }
    }

    @Test func `a row that a server restores on purpose is not taken for lag`() async throws {
        let pair = try await SyncPair(.zumo2, SimulatedServer.Options(), rows: Value.rows(1))
        try await pair.pull()
        let before = try #require(try await pair.table.get(id: "r0")?.columns["n"])
        try await pair.table.update(.item("r0", ["n": .integer(9)]))
        #expect(try await pair.push().outcome == .complete)
        pair.server.upsert([.item("r0", ["n": before])], in: "t")
        try await pair.pull()
        #expect(try await pair.table.get(id: "r0")?.columns["n"] == before)
    }
}
