// Local columns with a server: they are never sent, and a pull never changes them.

import SegmentLog
import SynclineCore
import SynclineTesting
import SynclineWire
import Testing

@testable import Syncline

@Suite struct LocalColumnStories {
    private static func pair(_ server: ServerProtocol, rows: [Value] = []) async throws -> SyncPair {
        try await SyncPair(
            server, rows: rows, schema: SyncSchema(version: 1, tables: [TableSchema("t", localColumns: ["local"])]))
    }

    @Test(arguments: ServerProtocol.allCases)
    func `no request has a local column`(_ server: ServerProtocol) async throws {
        var pair = try await Self.pair(server, rows: Value.rows(2))
        try await pair.pull()
        try await pair.table.insert(.item("new", ["n": .integer(5), "local": .string("secret")]))
        try await pair.table.update(.item("r0", ["n": .integer(6), "local": .string("secret")]))
        try await pair.table.update(.item("r1", ["local": .string("secret")]))
        pair.network.script([.dropAnswer])
        #expect(try await pair.push().reason?.code == .offline)
        try await pair.table.update(.item("new", ["local": .string("later secret")]))
        try await pair.die()
        let report = try await pair.push()
        #expect(report.outcome == .complete)
        #expect(report.operations.count == 2, "a change of local columns makes no operation")
        try await pair.table.delete(id: "r0")
        try await pair.push()
        try await pair.pull()
        let bodies = pair.writes.map { String(decoding: $0.body ?? [], as: UTF8.self) }
        #expect(bodies.count >= 4)
        #expect(bodies.allSatisfy { !$0.contains("local") && !$0.contains("secret") })
        #expect(try await pair.table.get(id: "new")?.columns["local"] == .string("later secret"))
        #expect(try await pair.table.get(id: "r1")?.columns["local"] == .string("secret"))
        #expect(try await pair.table.get(id: "r0") == nil)
        #expect(pair.serverRow("new")?[member: "local"] == nil)
        _ = try StateImage.check(pair.disk, "after all of it")
    }

    @Test func `a pull leaves them unchanged, even if the server has a column of that name`() async throws {
        let pair = try await Self.pair(.zumo2, rows: [.item("r", ["n": .integer(1), "local": .string("theirs")])])
        try await pair.pull()
        #expect(try await pair.table.get(id: "r")?.columns["local"] == nil)
        try await pair.table.update(.item("r", ["local": .string("mine")]))
        let again = try await pair.pull { $0.queryID = nil }
        #expect(again.changed == 0, "the row is known")
        #expect(try await pair.table.get(id: "r")?.columns["local"] == .string("mine"))
    }

    @Test func `a change of local columns is observed, and nothing is pushed`() async throws {
        let pair = try await Self.pair(.datasync3, rows: Value.rows(1))
        try await pair.pull()
        var results = pair.table.observe(RowQuery(table: "t")).makeAsyncIterator()
        _ = try await results.next()
        let (before, events) = (pair.database.totals, pair.database.lastEvent)
        let row = try await pair.table.update(.item("r0", ["local": .integer(1)]))
        #expect(row.columns["local"] == .integer(1))
        #expect(try await results.next()?.rows.first?.columns["local"] == .integer(1))
        #expect(pair.database.totals == before && pair.database.lastEvent == events + 1)
        #expect(try await pair.database.pending().isEmpty)
        try await pair.database.transaction { transaction in
            try transaction.update("t", .item("r0", ["local": .integer(2)]))
            #expect(try transaction.get("t", id: "r0")?.columns["local"] == .integer(2))
        }
        #expect(try await pair.database.pending().isEmpty)
        let error = await #expect(throws: SyncError.self) { try await pair.database.undo() }
        #expect(error?.code == .operationNotFound)
    }

    @Test func `filters and indexes see them through checkpoints`() async throws {
        var configuration = SyncConfiguration.test(memory: 1)
        configuration.schema = SyncSchema(version: 1, tables: [TableSchema("t", localColumns: ["rank"])])
        let disk = MemoryStorage(granularity: .sector)
        let database = try await SyncDatabase.open(disk, configuration)
        let table = database.rows(of: "t")
        for number in 0..<60 {
            try await table.insert(.item("\(number)", ["rank": .integer(Int64(number % 10)), "n": .integer(1)]))
        }
        for isIndexed in [false, true] {
            if isIndexed { try await database.declareIndex(table: "t", column: "rank") }
            #expect(try await table.count(try FilterExpression(parsing: "rank eq 3 and n eq 1")) == 6)
        }
        try await database.checkpoint()
        try await database.close()
        _ = try StateImage.check(disk, "checkpoints")
        let again = try await SyncDatabase.open(disk, configuration)
        #expect(try await again.rows(of: "t").count(try FilterExpression(parsing: "rank lt 2")) == 12)
    }
}
