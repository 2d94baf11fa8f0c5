// Rows put back as they were: the preview, and the changes that follow from it.

import Foundation
import SegmentLog
import SynclineCore
import SynclineTesting
import Testing

@testable import Syncline

@Suite struct RestorationTests {
    private func rows(_ database: SyncDatabase, _ table: String = "t") async throws -> [String: [String: Value]] {
        try await database.rows(of: table).query(RowQuery(table: table)).rows.reduce(into: [:]) {
            $0[$1.id] = $1.columns.own.dictionary.filter { !$0.value.isNull }
        }
    }

    /// A store with three rows and the state after them, of which one was changed, one deleted, and to which one was added.
    private func store() async throws -> (database: SyncDatabase, then: StoreSnapshot) {
        let database = try await SyncDatabase.open(MemoryStorage(), .test())
        let table = database.rows(of: "t")
        try await table.insert(.item("a", ["n": 1, "text": "one"]))
        try await table.insert(.item("b", ["n": 2, "text": "two"]))
        try await table.insert(.item("c", ["n": 3, "text": "three"]))
        let then = try database.present
        try await table.update(.item("b", ["n": 20, "note": "x"]))
        try await table.delete(id: "c")
        try await table.insert(.item("d", ["n": 4]))
        return (database, then)
    }

    @Test func `a table returns to a past state in one event, which an undo takes back`() async throws {
        let (database, then) = try await store()
        let now = try await rows(database)
        let plan = try await then.restoration(of: .table("t"))
        #expect(try await rows(database) == now, "a preview stores nothing")
        let last = database.lastEvent
        let event = try #require(try await database.restore(plan))
        #expect(event == last + 1 && database.lastEvent == event)
        #expect(
            try await rows(database) == [
                "a": ["n": 1, "text": "one"], "b": ["n": 2, "text": "two"], "c": ["n": 3, "text": "three"],
            ])
        #expect(try await then.restoration(of: .table("t")).changes.isEmpty)
        #expect(try await database.undo() == event)
        #expect(try await rows(database) == now)
    }

    @Test func `the preview says what is inserted, updated and deleted`() async throws {
        let (database, then) = try await store()
        let plan = try await database.history(at: then.event).restoration(of: .table("t"))
        let changes = Dictionary(uniqueKeysWithValues: plan.changes.map { ($0.id, $0) })
        #expect(changes.keys.sorted() == ["b", "c", "d"])
        let fields = try #require(changes["b"]?.fields)
        #expect(fields.map(\.name) == ["n", "note"])
        #expect(fields.map(\.before) == [20, "x"] && fields.map(\.after) == [2, .null])
        #expect(changes["c"]?.before == nil && changes["c"]?.after?["text"] == "three")
        #expect(changes["d"]?.before?["n"] == 4 && changes["d"]?.after == nil)
        try await database.restore(plan)
        let operations = try await database.pending()
        #expect(operations.map(\.id) == ["a", "b", "c"])
        #expect(operations.map(\.kind) == [.insert, .insert, .insert])
    }

    @Test func `one row is put back, and the others stay`() async throws {
        let (database, then) = try await store()
        let plan = try await then.restoration(of: .row("t", id: "c"))
        #expect(plan.changes.map(\.id) == ["c"])
        try await database.restore(plan)
        #expect(try await rows(database).keys.sorted() == ["a", "b", "c", "d"])
        #expect(try await rows(database)["b"]?["n"] == 20)
        #expect(try await then.restoration(of: .row("t", id: "a")).changes.isEmpty)
        #expect(try await then.restoration(of: .row("t", id: "never")).changes.isEmpty)
        let added = try await then.restoration(of: .row("t", id: "d"))
        #expect(added.changes.map(\.after) == [nil])
        let error = await #expect(throws: SyncError.self) { try await then.restoration(of: .row("t", id: "")) }
        #expect(error?.code == .invalidID)
    }

    @Test func `the rows of a query are those that match now or matched then`() async throws {
        let (database, then) = try await store()
        let filter = try FilterExpression(parsing: "n gt 1 and n lt 4")
        var query = RowQuery(table: "t", filter: filter)
        #expect(try await then.restoration(of: .rows(query)).changes.map(\.id) == ["b", "c"])
        query.filter = try FilterExpression(parsing: "n ge 4 or id eq 'c'")
        let plan = try await then.restoration(of: .rows(query))
        #expect(plan.changes.map(\.id).sorted() == ["b", "c", "d"])
        try await database.restore(plan)
        #expect(try await database.rows(of: "t").query(query).rows == then.query(query).rows)
        query.top = 1
        let error = await #expect(throws: SyncError.self) { try await then.restoration(of: .rows(query)) }
        #expect(error?.code == .invalidQuery)
    }

    @Test func `a row that changed after the preview refuses all of it, with its name`() async throws {
        let (database, then) = try await store()
        let plan = try await then.restoration(of: .table("t"))
        try await database.rows(of: "t").update(.item("b", ["text": "mine"]))
        try await database.rows(of: "t").insert(.item("c", ["n": 3, "text": "three"]))
        let now = try await rows(database)
        let last = database.lastEvent
        let error = await #expect(throws: SyncError.self) { try await database.restore(plan) }
        #expect(error?.code == .staleItem)
        #expect(error?.message.hasSuffix(": t/b, t/c") == true)
        #expect(try await rows(database) == now && database.lastEvent == last)
        try await database.rows(of: "t").delete(id: "d")
        #expect(
            await #expect(throws: SyncError.self) { try await database.restore(plan) }?.message.hasSuffix("t/d") == true
        )
        try await database.restore(try await then.restoration(of: .table("t")))
        #expect(try await rows(database).keys.sorted() == ["a", "b", "c"])
    }

    @Test func `a restoration of nothing stores nothing`() async throws {
        let (database, _) = try await store()
        let last = database.lastEvent
        let plan = try await database.present.restoration(of: .table("t"))
        #expect(plan.changes.isEmpty)
        #expect(try await database.restore(plan) == nil)
        #expect(try await database.present.restoration(of: .table("other")).changes.isEmpty)
        #expect(database.lastEvent == last)
    }

    @Test func `a strict store refuses a table that is not declared`() async throws {
        let (database, then) = try await store()
        try await database.setStrictTables(["other"])
        let error = await #expect(throws: SyncError.self) { try await then.restoration(of: .table("t")) }
        #expect(error?.code == .unknownTable)
        try await database.setStrictTables(["t"])
        try await database.restore(try await then.restoration(of: .table("t")))
        #expect(try await rows(database).keys.sorted() == ["a", "b", "c"])
    }

    @Test func `a model's past query is put back`() async throws {
        struct Entry: SyncModel {
            static let table = "t"
            var id: String
            var n: Int
        }
        let (database, then) = try await store()
        let plan = try await then.table(Entry.self).where { $0.n == 3 }.restoration()
        #expect(plan.changes.map(\.id) == ["c"])
        try await database.restore(plan)
        #expect(try await rows(database).mapValues { $0["n"] } == ["a": 1, "b": 20, "c": 3, "d": 4])
    }

    @Test func `rows are found by ids whose case no longer matters`() async throws {
        let database = try await SyncDatabase.open(MemoryStorage(), .test())
        let table = database.rows(of: "t")
        try await table.insert(.item("Row-A", ["n": 1]))
        try await table.insert(.item("ROW-B", ["n": 2]))
        let then = database.lastEvent
        try await table.update(.item("Row-A", ["n": 10]))
        try await database.purge(table: "t", filter: try FilterExpression(parsing: "id eq 'ROW-B'"), force: true)
        try await database.set(SettingName.ids, "ignore-case")
        try await table.insert(.item("row-b", ["n": 20]))
        let plan = try await database.history(at: then).restoration(of: .table("t"))
        #expect(plan.changes.map(\.id) == ["row-b", "Row-A"])
        try await database.restore(plan)
        #expect(try await rows(database) == ["Row-A": ["n": 1], "row-b": ["n": 2]])
    }

    @Test func `a past state can be put back after its history was removed`() async throws {
        let (database, then) = try await store()
        try await database.set(retention: .events(0))
        try await database.checkpoint()
        for round in 0..<200 {
            try await database.rows(of: "other").update(
                .item("x", ["text": .string("\(round) \(String(repeating: "x", count: 2000))")]))
        }
        try await database.compact()
        let report = try await database.compact()
        #expect(report.firstEvent > then.event)
        let error = await #expect(throws: SyncError.self) { try await database.history(at: then.event) }
        #expect(error?.code == .collected)
        await #expect(throws: SyncError.self) { try await database.restoration(undoing: then.event) }
        try await database.restore(try await then.restoration(of: .table("t")))
        #expect(try await rows(database).keys.sorted() == ["a", "b", "c"])
    }

    @Test func `a follower's restoration is made by the process that writes`() async throws {
        let disk = MemoryStorage(granularity: .sector)
        let app = try await SyncDatabase.open(disk, .process("app"))
        try await app.rows(of: "t").insert(.item("a", ["n": 1]))
        try await app.rows(of: "t").insert(.item("b", ["n": 2]))
        let then = app.lastEvent
        try await app.rows(of: "t").update(.item("a", ["n": 10]))
        try await app.rows(of: "t").delete(id: "b")
        let widget = try await SyncDatabase.follow(disk, .process("widget"))
        try await widget.restore(try await widget.history(at: then).restoration(of: .table("t")))
        #expect(try await rows(widget) == ["a": ["n": 1], "b": ["n": 2]])
        try await app.refresh()
        #expect(try await rows(app) == ["a": ["n": 1], "b": ["n": 2]])
        #expect(try await app.conflicts().isEmpty)
    }

    @Test func `a branch puts rows back to the state that it began with`() async throws {
        let (database, then) = try await store()
        try await database.set(BranchPoint.setting, BranchPoint(id: "b", event: database.lastEvent.rawValue).value)
        let plan = try await then.restoration(of: .table("t"))
        let event = try #require(try await database.restore(plan))
        #expect(try await database.undoSteps().undo.map(\.event) == [event])
    }

    @Test func `a step whose event was removed has no date`() async throws {
        let database = try await SyncDatabase.open(MemoryStorage(), .test())
        try await database.set(retention: .events(0))
        try await database.rows(of: "t").insert(.item("a", ["n": 1]))
        let event = database.lastEvent
        #expect(try await database.undoSteps().undo.map(\.date).contains(nil) == false)
        for round in 0..<200 {
            let row = Row([.init("text", .string("\(round) " + String(repeating: "x", count: 2000)))])
            try await database.pull(PulledPage(table: "t", queryID: nil, rows: [.init(id: "x", row: row)], cursor: nil))
        }
        try await database.compact()
        #expect(try await database.compact().firstEvent > event)
        let steps = try await database.undoSteps().undo
        #expect(steps == [UndoStep(event: event, name: nil, date: nil, rows: 1)])
    }

    @Test func `a step has the name of its transaction`() async throws {
        let storage = MemoryStorage()
        let database = try await SyncDatabase.open(storage, .test())
        let names = ["Pack", nil, "", "\u{202e}\0 long " + String(repeating: "é", count: 5000)]
        for (place, name) in names.enumerated() {
            try await database.transaction(name) { transaction in
                try transaction.insert("t", .item("r\(place)", ["n": 1]))
            }
        }
        try await database.rows(of: "t").insert(.item("alone", ["n": 1]))
        #expect(try await database.undoSteps().undo.map(\.name) == [nil] + names.reversed())
        try await database.close()
        let again = try await SyncDatabase.open(storage, .test())
        #expect(try await again.undoSteps(limit: 2).undo.map(\.name) == [nil, names[3]])
        try await again.undo()
        try await again.undo()
        #expect(try await again.undoSteps(limit: 1).undo.map(\.name) == [""])
    }

    @Test func `a closed store gives nothing to put back, and takes nothing`() async throws {
        let (database, then) = try await store()
        let plan = try await then.restoration(of: .table("t"))
        try await database.close()
        for code in [
            await #expect(throws: SyncError.self) { try await then.restoration(of: .table("t")) }?.code,
            await #expect(throws: SyncError.self) { try await database.restore(plan) }?.code,
            await #expect(throws: SyncError.self) { try await database.undoSteps().undo }?.code,
            await #expect(throws: SyncError.self) { try await database.event(at: .distantFuture) }?.code,
        ] {
            #expect(code == .closed)
        }
    }
}
