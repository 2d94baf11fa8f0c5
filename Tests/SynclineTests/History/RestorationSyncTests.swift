// Rows put back in a store that has a server: what was sent, what waits, and what others changed.

import SegmentLog
import SynclineCore
import SynclineTesting
import SynclineWire
import Testing

@testable import Syncline

@Suite struct RestorationSyncTests {
    @Test(arguments: ServerProtocol.allCases)
    func `what was sent is put back as new changes, which are pushed`(_ server: ServerProtocol) async throws {
        let pair = try await SyncPair(server, rows: [.item("a", ["text": "one"]), .item("b", ["text": "two"])])
        try await pair.pull()
        let then = try pair.database.present
        try await pair.table.update(.item("a", ["text": "changed", "note": "x"]))
        try await pair.table.delete(id: "b")
        try await pair.table.insert(.item("c", ["text": "new"]))
        #expect(try await pair.push().outcome == .complete)
        try await pair.pull()
        let plan = try await then.restoration(of: .table("t"))
        #expect(
            plan.changes.flatMap(\.fields).allSatisfy { ["text", "note"].contains($0.name) }, "no column of the server")
        try await pair.database.restore(plan)
        #expect(try await pair.push().outcome == .complete)
        try await pair.pull()
        #expect(try await pair.agrees())
        #expect(try await pair.table.query(RowQuery(table: "t")).rows.map { $0.columns["text"] } == ["one", "two"])
        #expect(pair.serverRow("c")?[member: "deleted"] == true)
    }

    @Test func `a push between the preview and the restoration does not count as a change of the rows`() async throws {
        let pair = try await SyncPair(rows: [.item("a", ["text": "one"])])
        try await pair.pull()
        let then = try pair.database.present
        try await pair.table.update(.item("a", ["text": "two"]))
        let plan = try await then.restoration(of: .table("t"))
        #expect(try await pair.push().outcome == .complete)
        try await pair.database.restore(plan)
        try await pair.push()
        #expect(pair.serverRow("a")?[member: "text"] == "one")
    }

    @Test func `a row that another client deleted or changed is put back`() async throws {
        let pair = try await SyncPair(rows: [.item("a", ["text": "one"]), .item("b", ["text": "two"])])
        try await pair.pull()
        let then = try pair.database.present
        pair.server.upsert([.item("a", ["text": "theirs"]), .item("b", ["deleted": true])], in: "t")
        try await pair.pull()
        #expect(try await pair.table.get(id: "b") == nil)
        try await pair.database.restore(try await then.restoration(of: .table("t")))
        try await pair.push(.clientWins)
        try await pair.pull()
        #expect(try await pair.agrees())
        #expect(try await pair.table.query(RowQuery(table: "t")).rows.map { $0.columns["text"] } == ["one", "two"])
    }

    @Test func `an operation on its way or in conflict stays, and the restoration follows it`() async throws {
        let pair = try await SyncPair(rows: [.item("a", ["text": "one"]), .item("b", ["text": "two"])])
        try await pair.pull()
        let then = try pair.database.present
        try await pair.table.update(.item("a", ["text": "mine"]))
        try await pair.table.delete(id: "b")
        pair.server.upsert([.item("a", ["text": "theirs"])], in: "t")
        try await pair.push()
        #expect(try await pair.database.conflicts().map(\.id) == ["a"])
        try await pair.table.update(.item("b", ["text": "again"]))
        pair.network.script([.dropAnswer])
        try await pair.push()
        try await pair.database.restore(try await then.restoration(of: .table("t")))
        #expect(try await pair.database.conflicts().map(\.id) == ["a"])
        #expect(try await pair.table.query(RowQuery(table: "t")).rows.map { $0.columns["text"] } == ["one", "two"])
        try await pair.database.resolve(table: "t", id: "a", .keepMine)
        try await pair.push(.clientWins)
        try await pair.pull()
        #expect(try await pair.agrees())
        #expect(try await pair.table.query(RowQuery(table: "t")).rows.map { $0.columns["text"] } == ["one", "two"])
    }

    @Test func `local columns are put back, and never sent`() async throws {
        let schema = SyncSchema(version: 1, tables: [TableSchema("t", localColumns: ["open"])])
        let pair = try await SyncPair(rows: [.item("a", ["text": "one"]), .item("b", ["text": "two"])], schema: schema)
        try await pair.pull()
        try await pair.table.update(.item("a", ["open": true]))
        try await pair.table.update(.item("b", ["open": "secret"]))
        let then = try pair.database.present
        try await pair.table.update(.item("a", ["open": false]))
        try await pair.table.delete(id: "b")
        try await pair.push()
        try await pair.database.restore(try await then.restoration(of: .table("t")))
        try await pair.push()
        try await pair.pull()
        #expect(try await pair.table.query(RowQuery(table: "t")).rows.map { $0.columns["open"] } == [true, "secret"])
        #expect(pair.writes.allSatisfy { !String(decoding: $0.body ?? [], as: UTF8.self).contains("open") })
    }

    @Test func `a number that only a server can write returns with its digits`() async throws {
        let wide = try #require(Value(number: "123456789012345678901234567890.10"))
        let pair = try await SyncPair(rows: [.item("a", ["n": wide]), .item("b", ["n": wide])])
        try await pair.pull()
        let then = try pair.database.present
        try await pair.table.update(.item("a", ["n": 1]))
        try await pair.table.delete(id: "b")
        try await pair.push()
        try await pair.database.restore(try await then.restoration(of: .table("t")))
        #expect(try await pair.table.query(RowQuery(table: "t")).rows.map { $0.columns["n"] } == [wide, wide])
        #expect(try await pair.push().outcome == .complete)
        #expect(try await pair.agrees())
    }

    @Test func `a row that the server refused or that is held follows the rules of local changes`() async throws {
        let pair = try await SyncPair(rows: [.item("a", ["text": "one"]), .item("b", ["text": "two"])])
        try await pair.pull()
        let then = try pair.database.present
        try await pair.table.update(.item("a", ["text": "refused"]))
        pair.network.script([.answer(status: 422)])
        try await pair.push()
        #expect(try await pair.database.conflicts().map(\.id) == ["a"])
        try await pair.table.update(.item("b", ["text": "held"]))
        try await pair.database.hold(table: "t", id: "b")
        try await pair.database.restore(try await then.restoration(of: .table("t")))
        try await pair.push()
        #expect(pair.serverRow("b")?[member: "text"] == "two" && pair.network.requests.count == 2)
        try await pair.database.release(table: "t", id: "b")
        try await pair.database.resolve(table: "t", id: "a", .keepMine)
        #expect(try await pair.push().outcome == .complete)
        #expect(try await pair.table.query(RowQuery(table: "t")).rows.map { $0.columns["text"] } == ["one", "two"])
        #expect(try await pair.agrees())
    }

    @Test func `of two restorations from one preview, the second is refused`() async throws {
        let pair = try await SyncPair()
        let then = try pair.database.present
        for number in 0..<200 { try await pair.table.insert(.item("r\(number)", ["n": 1])) }
        let plan = try await then.restoration(of: .table("t"))
        async let first = pair.database.restore(plan)
        async let second = pair.database.restore(plan)
        var refused = 0
        do { _ = try await first } catch { refused += (error as? SyncError)?.code == .staleItem ? 1 : 0 }
        do { _ = try await second } catch { refused += (error as? SyncError)?.code == .staleItem ? 1 : 0 }
        #expect(refused == 1)
        #expect(try await pair.table.count() == 0)
        let error = await #expect(throws: SyncError.self) { try await pair.database.restore(plan) }
        #expect(error?.message.hasSuffix(" and 190 more") == true)
    }

    // MARK: One event

    @Test func `the changes of an event are taken back after they were sent, and later ones stay`() async throws {
        let pair = try await SyncPair(
            rows: [.item("a", ["text": "one", "n": 1]), .item("b", ["text": "two"]), .item("c", ["text": "three"])])
        try await pair.pull()
        try await pair.database.transaction { transaction in
            try transaction.update("t", .item("a", ["text": "changed", "note": "x"]))
            try transaction.delete("t", id: "b")
            try transaction.update("t", .item("c", ["text": "changed"]))
            try transaction.insert("t", .item("d", ["text": "new"]))
        }
        let event = pair.database.lastEvent
        #expect(try await pair.push().outcome == .complete)
        try await pair.table.update(.item("a", ["n": 2]))
        try await pair.table.delete(id: "c")
        try await pair.table.insert(.item("e", ["text": "later"]))
        try await pair.push()
        let plan = try await pair.database.restoration(undoing: event)
        #expect(plan.changes.map(\.id) == ["d", "b", "a"], "in the opposite order, without a row that is gone since")
        try await pair.database.restore(plan)
        try await pair.push()
        try await pair.pull()
        #expect(try await pair.agrees())
        let rows = try await pair.table.query(RowQuery(table: "t")).rows
        #expect(rows.map(\.id) == ["a", "b", "e"])
        #expect(rows[0].columns["text"] == "one" && rows[0].columns["n"] == 2)
        #expect(rows[0].columns["note"] ?? .null == .null)
        #expect(try await pair.database.restoration(undoing: event).changes.isEmpty)
    }

    @Test func `a restoration is taken back like any event, and so is what a pull brought`() async throws {
        let pair = try await SyncPair(rows: [.item("a", ["text": "one"])])
        try await pair.pull()
        pair.server.upsert([.item("a", ["text": "theirs"]), .item("b", ["text": "new"])], in: "t")
        try await pair.pull()
        var page = pair.database.lastEvent
        while try await pair.database.differences(from: page - 1, to: page).isEmpty { page = page - 1 }
        let event = try #require(
            try await pair.database.restore(try await pair.database.restoration(undoing: page)))
        #expect(try await pair.table.query(RowQuery(table: "t")).rows.map { $0.columns["text"] } == ["one"])
        try await pair.database.restore(try await pair.database.restoration(undoing: event))
        #expect(try await pair.table.query(RowQuery(table: "t")).rows.map { $0.columns["text"] } == ["theirs", "new"])
        for number in [0, pair.database.lastEvent + 1] as [EventNumber] {
            let error = await #expect(throws: SyncError.self) {
                try await pair.database.restoration(undoing: number)
            }
            #expect(error?.code == .operationNotFound)
        }
    }
}
