// What was undone can be done again, until the app changes something else.

import SegmentLog
import SynclineTesting
import Testing

@testable import Syncline

@Suite struct RedoTests {
    private func texts(_ table: RowTable) async throws -> [String: Value] {
        try await table.query(RowQuery(table: table.name)).rows.reduce(into: [:]) { $0[$1.id] = $1.columns["text"] }
    }

    @Test func `a store says whether something can be undone or redone`() async throws {
        let database = try await SyncDatabase.open(MemoryStorage(), .test())
        #expect(try await !database.canUndo() && !database.canRedo)
        try await database.rows(of: "t").insert(.item("a", [:]))
        #expect(try await database.canUndo() && !database.canRedo)
        try await database.undo()
        #expect(try await !database.canUndo() && database.canRedo)
        try await database.redo()
        #expect(try await database.canUndo() && !database.canRedo)
        try await database.undo()
        try await database.rows(of: "t").insert(.item("b", [:]))
        #expect(!database.canRedo)
    }

    @Test func `transactions are undone and redone in both directions, and pushed as they are at the end`() async throws
    {
        let pair = try await SyncPair(rows: [.item("a", ["text": "one"]), .item("b", ["text": "two"])])
        try await pair.pull()
        let (database, table) = (pair.database, pair.table)
        var states = [try await texts(table)]
        try await table.update(.item("a", ["text": "changed"]))
        states.append(try await texts(table))
        try await database.transaction { transaction in
            try transaction.delete("t", id: "b")
            try transaction.insert("t", .item("c", ["text": "new"]))
            try transaction.update("t", .item("a", ["text": "changed again"]))
        }
        states.append(try await texts(table))

        for _ in 0..<2 {
            for state in states.dropLast().reversed() {
                try await database.undo()
                #expect(try await texts(table) == state)
            }
            for state in states.dropFirst() {
                #expect(try await database.redo() != nil)
                #expect(try await texts(table) == state)
            }
        }
        #expect(try await pair.push().outcome == .complete)
        #expect(try await pair.agrees())
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

    @Test func `a transaction that is too large to be kept ends what can be redone`() {
        var undone = UndoneTransactions()
        let change = UndoneTransactions.Change(table: "t", done: nil, undone: nil)
        undone.push([change], made: 5)
        #expect(undone.newest(made: 5)?.count == 1)
        undone.push([], made: 5)
        #expect(undone.newest(made: 5) == nil)
        undone.push([change], made: 5)
        #expect(undone.newest(made: 5)?.count == 1)
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
}
