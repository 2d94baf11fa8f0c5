// What was undone can be done again, until the app changes something else: also after a restart, by another process, and
// whatever happened meanwhile.

import SegmentLog
import SynclineCore
import SynclineTesting
import Testing

@testable import Syncline

@Suite struct RedoTests {
    private func texts(_ table: RowTable) async throws -> [String: Value] {
        try await table.query(RowQuery(table: table.name)).rows.reduce(into: [:]) { $0[$1.id] = $1.columns["text"] }
    }

    private func can(_ database: SyncDatabase) async throws -> (undo: Bool, redo: Bool) {
        (try await database.canUndo(), try await database.canRedo())
    }

    @Test func `a store says what can be undone and redone`() async throws {
        let database = try await SyncDatabase.open(MemoryStorage(), .test())
        #expect(try await can(database) == (false, false))
        try await database.transaction("Add") { transaction in
            try transaction.insert("t", .item("a", [:]))
            try transaction.update("t", .item("a", ["n": 1]))
            try transaction.insert("t", .item("b", [:]))
        }
        let step = try #require(try await database.undoSteps().undo.first)
        #expect(step.name == "Add" && step.rows == 2 && step.date != nil)
        #expect(try await can(database) == (true, false))
        try await database.undo()
        #expect(try await can(database) == (false, true))
        #expect(try await database.undoSteps() == UndoSteps(undo: [], redo: [step]))
        let event = try await database.redo()
        #expect(try await can(database) == (true, false))
        #expect(try await database.undoSteps().undo.map(\.event) == [event])
        #expect(try await database.undoSteps().undo.map(\.name) == ["Add"])
        try await database.undo()
        try await database.rows(of: "t").insert(.item("b", [:]))
        #expect(try await !database.canRedo())
    }

    @Test func `transactions are undone and redone in both directions, and pushed as they are at the end`() async throws
    {
        var pair = try await SyncPair(rows: [.item("a", ["text": "one"]), .item("b", ["text": "two"])])
        try await pair.pull()
        var states = [try await texts(pair.table)]
        try await pair.table.update(.item("a", ["text": "changed"]))
        states.append(try await texts(pair.table))
        try await pair.database.transaction { transaction in
            try transaction.delete("t", id: "b")
            try transaction.insert("t", .item("c", ["text": "new"]))
            try transaction.update("t", .item("a", ["text": "changed again"]))
            try transaction.insert("t", .item("b", ["note": "b again"]))
        }
        states.append(try await texts(pair.table))

        for _ in 0..<2 {
            for state in states.dropLast().reversed() {
                try await pair.database.undo()
                #expect(try await texts(pair.table) == state)
                // The process is killed in between.
                try await pair.die()
            }
            for state in states.dropFirst() {
                try await pair.database.redo()
                #expect(try await texts(pair.table) == state)
                try await pair.die()
            }
        }
        #expect(try await pair.push().outcome == .complete)
        #expect(try await pair.agrees())
        #expect(try await !pair.database.canRedo())
        _ = try StateImage.check(pair.disk, "at the end")
    }

    @Test func `there is nothing to redo after another change, or before an undo`() async throws {
        let database = try await SyncDatabase.open(MemoryStorage(), .test())
        let table = database.rows(of: "t")
        try await table.insert(.item("a", ["text": "one"]))
        let early = await #expect(throws: SyncError.self) { try await database.redo() }
        #expect(early?.code == .operationNotFound)
        try await database.undo()
        try await table.insert(.item("b", ["text": "two"]))
        await #expect(throws: SyncError.self) { try await database.redo() }
        try await database.undo()
        try await database.redo()
        #expect(try await texts(table) == ["b": "two"])
        await #expect(throws: SyncError.self) { try await database.redo() }
    }

    @Test func `a change that stores nothing, or only on the device, ends no redo`() async throws {
        var configuration = SyncConfiguration.test()
        configuration.schema = SyncSchema(version: 1, tables: [TableSchema("t", localColumns: ["open"])])
        let database = try await SyncDatabase.open(MemoryStorage(), configuration)
        try await database.declareLocal(table: "drafts")
        let table = database.rows(of: "t")
        try await table.insert(.item("a", ["text": "one"]))
        try await table.update(.item("a", ["text": "two", "open": true]))
        try await database.undo()
        #expect(try await table.get(id: "a")?.columns["open"] == nil)
        try await table.update(.item("a", ["text": "one"]))
        try await table.update(.item("a", ["open": false]))
        try await database.rows(of: "drafts").insert(.item("d", ["text": "draft"]))
        try await database.set(retention: .days(9))
        try await database.redo()
        #expect(try await table.get(id: "a")?.columns["text"] == "two")
        #expect(try await table.get(id: "a")?.columns["open"] == true)
    }

    @Test func `a redo keeps the columns that a pull has received meanwhile`() async throws {
        let pair = try await SyncPair(rows: [.item("a", ["text": "one", "note": "x"])])
        try await pair.pull()
        try await pair.table.update(.item("a", ["text": "mine"]))
        try await pair.database.undo()
        pair.server.upsert([.item("a", ["text": "one", "note": "theirs"])], in: "t")
        try await pair.pull()
        try await pair.database.redo()
        let row = try #require(try await pair.table.get(id: "a"))
        #expect(row.columns["text"] == .string("mine") && row.columns["note"] == .string("theirs"))
    }

    @Test func `a redo whose rows have its values already is still made, so that the one before can be`() async throws {
        let pair = try await SyncPair(rows: [.item("a", ["text": "one"])])
        try await pair.pull()
        try await pair.table.update(.item("a", ["text": "two"]))
        try await pair.table.update(.item("a", ["note": "mine"]))
        for _ in 0..<2 { try await pair.database.undo() }
        pair.server.upsert([.item("a", ["text": "two"])], in: "t")
        try await pair.pull()
        try await pair.database.redo()
        #expect(try await pair.database.pending().isEmpty)
        try await pair.database.redo()
        #expect(try await pair.database.pending().count == 1)
        #expect(try await !pair.database.canRedo())
        _ = try StateImage.check(pair.disk, "an empty redo")
    }

    @Test func `a row that came or went meanwhile refuses the redo, and nothing is changed`() async throws {
        let pair = try await SyncPair(rows: [.item("a", ["text": "one"]), .item("c", ["text": "c"])])
        try await pair.pull()
        try await pair.database.transaction { transaction in
            try transaction.update("t", .item("c", ["text": "mine"]))
            try transaction.update("t", .item("a", ["text": "mine"]))
        }
        try await pair.table.insert(.item("b", ["text": "mine"]))
        for _ in 0..<2 { try await pair.database.undo() }
        pair.server.upsert([.item("a", ["deleted": true])], in: "t")
        try await pair.pull()
        let gone = await #expect(throws: SyncError.self) { try await pair.database.redo() }
        #expect(gone?.code == .rowAbsent && gone?.address == "t/a")
        #expect(try await pair.database.pending().isEmpty)
        #expect(try await texts(pair.table) == ["c": "c"])
        #expect(try await pair.database.undoSteps().redo.count == 2)

        try await pair.table.insert(.item("b", ["text": "mine"]))
        try await pair.database.undo()
        pair.server.upsert([.item("b", ["text": "theirs"])], in: "t")
        try await pair.pull()
        let there = await #expect(throws: SyncError.self) { try await pair.database.redo() }
        #expect(there?.code == .rowExists)
        #expect(try await texts(pair.table) == ["b": "theirs", "c": "c"])
    }

    @Test func `an update that made its row makes it again`() async throws {
        let database = try await SyncDatabase.open(MemoryStorage(), .test())
        try await database.rows(of: "t").update(.item("a", ["text": "one"]))
        try await database.undo()
        #expect(try await texts(database.rows(of: "t")) == [:])
        try await database.redo()
        #expect(try await texts(database.rows(of: "t")) == ["a": "one"])
    }

    @Test func `a purge or a migration of columns ends it`() async throws {
        let disk = MemoryStorage(granularity: .sector)
        var configuration = SyncConfiguration.test()
        configuration.schema = SyncSchema(version: 1, tables: [TableSchema("t")])
        var database = try await SyncDatabase.open(disk, configuration)
        try await database.rows(of: "t").insert(.item("a", ["text": "one"]))
        try await database.undo()
        try await database.close()
        // A version without steps leaves the columns their names.
        configuration.schema = SyncSchema(version: 2, tables: [TableSchema("t"), TableSchema("u")])
        database = try await SyncDatabase.open(disk, configuration)
        try await database.redo()
        try await database.undo()
        try await database.close()
        configuration.schema = SyncSchema(
            version: 3, tables: [TableSchema("t")],
            migrations: [Migration(to: 3, steps: [.renameColumn(table: "t", from: "text", to: "title")])])
        database = try await SyncDatabase.open(disk, configuration)
        #expect(try await !database.canRedo())
        await #expect(throws: SyncError.self) { try await database.redo() }
        try await database.rows(of: "t").insert(.item("a", ["title": "one"]))
        try await database.undo()
        try await database.purge(table: "u")
        #expect(try await !database.canRedo())
        _ = try StateImage.check(disk, "ended")
    }

    @Test func `ids that ignore case keep their spelling`() async throws {
        var configuration = SyncConfiguration.test()
        configuration.ids = .ignoreCase
        let database = try await SyncDatabase.open(MemoryStorage(), configuration)
        let table = database.rows(of: "t")
        try await table.insert(.item("Abc", ["text": "one"]))
        try await database.undo()
        try await database.redo()
        #expect(try await table.query(RowQuery(table: "t")).rows.map(\.id) == ["Abc"])
    }

    @Test func `what was sent is taken back by a new change, which can be undone and redone`() async throws {
        let pair = try await SyncPair(rows: [.item("a", ["text": "one"])])
        try await pair.pull()
        try await pair.table.update(.item("a", ["text": "two"]))
        let event = pair.database.lastEvent
        try await pair.push()
        await #expect(throws: SyncError.self) { try await pair.database.undo() }
        try await pair.database.restore(try await pair.database.restoration(undoing: event))
        try await pair.database.undo()
        #expect(try await texts(pair.table) == ["a": "two"])
        try await pair.database.redo()
        #expect(try await texts(pair.table) == ["a": "one"])
        try await pair.push()
        #expect(try await pair.agrees())
    }

    // MARK: History that was removed, other processes, branches

    @Test func `what a compaction removes can't be redone, and what it keeps can`() async throws {
        let database = try await SyncDatabase.open(MemoryStorage(), .test())
        try await database.rows(of: "t").insert(.item("a", ["text": "one"]))
        try await database.undo()
        try await database.compact()
        #expect(try await database.canRedo())
        try await database.set(retention: .events(0))
        for round in 0..<200 {
            let row = Row([.init("text", .string("\(round) " + String(repeating: "x", count: 2000)))])
            try await database.pull(PulledPage(table: "u", queryID: nil, rows: [.init(id: "x", row: row)], cursor: nil))
        }
        var live = database.observeUndoSteps().makeAsyncIterator()
        #expect(try await live.next()?.redo.count == 1)
        try await database.compact()
        #expect(try await database.compact().firstEvent > 10)
        #expect(try await live.next() == UndoSteps())
        let error = await #expect(throws: SyncError.self) { try await database.redo() }
        #expect(error?.code == .operationNotFound)
    }

    @Test func `a transaction whose event was removed is made again as its undo took it back`() async throws {
        var configuration = SyncConfiguration.test()
        configuration.schema = SyncSchema(version: 1, tables: [TableSchema("t", localColumns: ["open"])])
        let database = try await SyncDatabase.open(MemoryStorage(), configuration)
        let table = database.rows(of: "t")
        for id in ["a", "b"] { try await table.insert(.item(id, ["text": "one"])) }
        try await database.set(retention: .events(0))
        try await database.transaction("Gone") { transaction in
            try transaction.insert("t", .item("d", ["text": "new"]))
            try transaction.update("t", .item("c", ["text": "new", "open": true]))
            try transaction.update("t", .item("c", ["note": "new"]))
            try transaction.delete("t", id: "b")
            try transaction.update("t", .item("a", ["text": "two", "open": true]))
        }
        let done = try await database.allRows()
        try await database.compact()
        #expect(try await database.compact().firstEvent > 9)
        try await database.undo()
        #expect(try await texts(table) == ["a": "one", "b": "one"])
        #expect(try await database.undoSteps().redo == [UndoStep(event: 8, name: nil, date: nil, rows: 4)])
        try await database.redo()
        #expect(try await database.allRows() == done)
        #expect(try await database.pending().map(\.id) == ["a", "d", "c"])
        for _ in 0..<2 {
            try await database.undo()
            try await database.redo()
        }
        #expect(try await database.allRows() == done)
    }

    @Test func `a follower sees what can be redone, and only the other process redoes it`() async throws {
        let disk = MemoryStorage(granularity: .sector)
        let app = try await SyncDatabase.open(disk, .test())
        try await app.rows(of: "t").insert(.item("a", ["text": "one"]))
        try await app.undo()
        let widget = try await SyncDatabase.follow(disk, .test())
        #expect(try await widget.undoSteps() == app.undoSteps())
        #expect(try await widget.canRedo())
        let error = await #expect(throws: SyncError.self) { try await widget.redo() }
        #expect(error?.code == .follower)
        // Its change is a change of the app once it is taken in.
        try await widget.rows(of: "t").insert(.item("b", ["text": "two"]))
        #expect(try await app.canRedo())
        try await app.refresh()
        #expect(try await !app.canRedo())
        try await widget.refresh()
        #expect(try await !widget.canRedo())
    }

    @Test func `two tasks that redo at once make each transaction again once`() async throws {
        let database = try await SyncDatabase.open(MemoryStorage(), .test())
        for id in ["a", "b", "c", "d"] { try await database.rows(of: "t").insert(.item(id, ["text": .string(id)])) }
        for _ in 0..<4 { try await database.undo() }
        await withTaskGroup { group in
            for _ in 0..<4 { group.addTask { _ = try? await database.redo() } }
        }
        #expect(try await database.undoSteps().undo.count == 4)
        #expect(try await texts(database.rows(of: "t")).keys.sorted() == ["a", "b", "c", "d"])
        #expect(try await !database.canRedo())
    }

    @Test func `the steps are observed`() async throws {
        let database = try await SyncDatabase.open(MemoryStorage(), .test())
        var live = database.observeUndoSteps(limit: 2).makeAsyncIterator()
        func next() async throws -> [[String?]] {
            let steps = try await live.next()
            return [steps?.undo.map(\.name) ?? [], steps?.redo.map(\.name) ?? []]
        }
        #expect(try await next() == [[], []])
        for name in ["A", "B", "C"] {
            try await database.transaction(name) { try $0.insert("t", .item(name, [:])) }
        }
        #expect(try await next() == [["C", "B"], []])
        try await database.undo()
        #expect(try await next() == [["B", "A"], ["C"]])
        try await database.redo()
        #expect(try await next() == [["C", "B"], []])
        try await database.close()
        #expect(try await live.next() == nil)
    }
}
