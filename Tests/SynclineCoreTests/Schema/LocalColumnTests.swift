// Columns that never leave the device: how the fold treats them in every situation of their rows.

import SynclineGround
import Testing

@testable import SynclineCore

@Suite struct LocalColumnTests {
    private var desk: SchemaDesk

    init() throws {
        desk = try SchemaDesk()
        try desk.declare(local: ["l", "m"])
        try desk.pull(["version": "1", "a": 1, "l": "the server's"])
    }

    @Test mutating func `a value that a server sends under the name is ignored`() throws {
        #expect(try desk.shown() == ["version": "1", "a": 1])
        try desk.change(.update, ["l": 5])
        try desk.pull(["version": "2", "a": 2, "l": "the server's"])
        #expect(try desk.shown() == ["version": "2", "a": 2, "l": 5])
        try desk.change(.update, ["a": 3])
        try desk.send()
        try desk.answer(.conflict(server: SchemaDesk.row(["version": "3", "a": 9, "l": 9]), code: "conflict"))
        #expect(try desk.reader.conflicts().first?.server?["l"] == nil)
        #expect(try desk.shown() == ["version": "3", "a": 3, "l": 5])
        try desk.checkReplay()
    }

    @Test mutating func `an update of local columns alone makes no operation`() throws {
        try desk.change(.update, ["l": 5])
        #expect(try desk.shown() == ["version": "1", "a": 1, "l": 5])
        #expect(try desk.entry().pending == nil)
        #expect(try desk.fields().isEmpty && desk.projector.totals.made == 0)
        let count = desk.records.count
        try desk.change(.update, ["l": 5])
        #expect(desk.records.count == count, "it changes nothing")
        try desk.checkReplay()
    }

    @Test mutating func `an operation has none of them`() throws {
        try desk.change(.update, ["a": 2, "l": 5])
        try desk.change(.insert, ["a": 2, "m": 5], id: "n")
        #expect(try desk.fields() == [["a"], ["a"]])
        #expect(try desk.shown("n") == ["a": 2, "m": 5])
        try desk.send()
        #expect(try desk.entry().pending?.frozen?.columns.columns == ["a"])
        #expect(try desk.entry().pending?.frozen?.ancestor?["l"] == nil)
        try desk.change(.update, ["l": 6])
        #expect(try desk.entry().pending?.operation == nil, "no follow-up")
        try desk.answer(.done(.init(id: "r", row: SchemaDesk.row(["version": "2", "a": 2, "l": "theirs"]))))
        #expect(try desk.shown() == ["version": "2", "a": 2, "l": 6])
        try desk.checkReplay()
    }

    @Test mutating func `an insert of nothing but local columns is an insert of an empty row`() throws {
        try desk.change(.insert, ["l": 5], id: "n")
        #expect(try desk.fields() == [[]])
        #expect(try desk.shown("n") == ["l": 5])
        try desk.checkReplay()
    }

    @Test mutating func `they are removed with the row`() throws {
        try desk.change(.update, ["l": 5])
        try desk.pull(nil)
        try desk.pull(["version": "2", "a": 1])
        #expect(try desk.shown() == ["version": "2", "a": 1])
        try desk.change(.update, ["l": 6])
        try desk.change(.delete)
        try desk.send()
        try desk.answer(.done(.init(id: "r", row: nil)))
        try desk.change(.insert, ["a": 3])
        #expect(try desk.shown() == ["a": 3])
        try desk.checkReplay()
    }

    @Test mutating func `undoing a delete restores them`() throws {
        try desk.change(.update, ["l": 5])
        try desk.change(.delete)
        #expect(try desk.shown() == nil)
        try desk.undo()
        #expect(try desk.shown() == ["version": "1", "a": 1, "l": 5])
        try desk.change(.delete)
        try desk.change(.insert, ["a": 2, "m": 1])
        #expect(try desk.shown()?["l"] == nil && desk.shown()?["m"] == 1, "a new row begins without them")
        try desk.undo()
        #expect(try desk.shown() == nil)
        try desk.undo()
        #expect(try desk.shown() == ["version": "1", "a": 1, "l": 5])
        try desk.checkReplay()
    }

    @Test mutating func `giving up a delete in conflict restores them`() throws {
        try desk.change(.update, ["l": 5])
        try desk.change(.delete)
        try desk.pull(["version": "2", "a": 2])
        let conflict = try #require(try desk.reader.conflicts().first)
        let resolution = try #require(try conflict.resolution(.takeServer, hasBase: true))
        try desk.record(.resolved(resolution))
        #expect(try desk.shown() == ["version": "2", "a": 2, "l": 5])
        try desk.checkReplay()
    }

    @Test mutating func `an undo restores what its changes set, and leaves later values`() throws {
        try desk.change(.update, ["l": 1])
        try desk.change(.update, ["a": 2, "l": 2, "m": 2])
        try desk.change(.update, ["a": 3, "l": 3])
        try desk.undo()
        #expect(try desk.shown() == ["version": "1", "a": 2, "l": 2, "m": 2])
        try desk.change(.update, ["m": 9])
        try desk.undo()
        #expect(try desk.shown() == ["version": "1", "a": 1, "l": 1, "m": 9])
        #expect(try UndoSearch.newest(desk.reader, through: desk.projector.through) == nil)
        try desk.checkReplay()
    }

    @Test mutating func `a transaction with only local changes is undone by its operations`() throws {
        try desk.change(.insert, ["a": 1], id: "n")
        try desk.transaction { writer throws(SyncError) in
            try writer.change(.update, "t", "n", SchemaDesk.row(["l": 5]))
            try writer.change(.update, "t", "r", SchemaDesk.row(["a": 5, "l": 5]))
        }
        try desk.transaction { writer throws(SyncError) in
            try writer.change(.update, "t", "n", SchemaDesk.row(["m": 5]))
        }
        #expect(desk.projector.totals.pending == 2)
        try desk.undo()
        #expect(try desk.shown() == ["version": "1", "a": 1])
        #expect(try desk.shown("n") == ["a": 1, "l": 5, "m": 5])
        try desk.undo()
        #expect(try desk.shown("n") == nil)
        try desk.checkReplay()
    }

    @Test mutating func `a row chosen by the app sets its own local columns`() throws {
        try desk.change(.update, ["a": 2])
        try desk.pull(["version": "2", "a": 9])
        let conflict = try #require(try desk.reader.conflicts().first)
        let row = SchemaDesk.row(["a": 7, "l": 7])
        try desk.record(.resolved(try #require(try conflict.resolution(.row(row), hasBase: true))))
        #expect(try desk.fields() == [["a"]])
        #expect(try desk.shown() == ["version": "2", "a": 7, "l": 7])
        try desk.checkReplay()
    }

    @Test mutating func `a column that becomes local keeps the app's value and is no longer pending`() throws {
        try desk.change(.update, ["a": 5])
        try desk.change(.insert, ["a": 6, "b": 6], id: "n")
        try desk.declare(local: ["l", "m", "a"])
        #expect(try desk.shown() == ["version": "1", "a": 5])
        #expect(try desk.shown("n") == ["a": 6, "b": 6])
        #expect(try desk.fields() == [["b"]])
        #expect(try desk.entry().base?["a"] == nil)
        try desk.declare(local: ["l", "m"])
        #expect(try desk.shown() == ["version": "1"])
        try desk.checkReplay()
    }

    @Test mutating func `a column of pending changes that becomes local outlives their undo`() throws {
        try desk.change(.update, ["a": 5, "b": 5, "l": 5])
        try desk.declare(local: ["l", "m", "a"])
        try desk.undo()
        #expect(try desk.shown() == ["version": "1", "a": 5])
        try desk.checkReplay()
    }

    @Test mutating func `a migration renames and drops them`() throws {
        try desk.change(.update, ["a": 5, "l": 5, "m": 5])
        try desk.change(.update, ["a": 6, "l": 6, "m": 6])
        try desk.declare(
            local: ["k"], steps: .renameColumn(table: "t", from: "l", to: "k"),
            .dropColumn(table: "t", column: "m"))
        #expect(try desk.shown() == ["version": "1", "a": 6, "k": 6])
        try desk.undo()
        #expect(try desk.shown() == ["version": "1", "a": 5, "k": 5])
        try desk.checkReplay()
    }

    @Test mutating func `a column renamed to a local name is local`() throws {
        try desk.change(.update, ["a": 5])
        try desk.declare(local: ["l", "m"], steps: .renameColumn(table: "t", from: "a", to: "m"))
        #expect(try desk.shown() == ["version": "1", "m": 5])
        #expect(try desk.fields().isEmpty)
        #expect(try desk.entry().base?.columns == ["version"])
        try desk.checkReplay()
    }

    @Test mutating func `filters, orders and indexes find them`() throws {
        for number in 0..<20 {
            let columns: [String: Value] = ["n": .integer(Int64(number)), "l": .integer(Int64(20 - number))]
            try desk.change(.insert, columns, id: "\(number)")
        }
        try desk.change(.delete, id: "3")
        for isIndexed in [false, true] {
            if isIndexed { try desk.record(.indexed(IndexChange(table: "t", columns: ["l"], isOn: true))) }
            var query = RowQuery(table: "t", filter: try FilterExpression(parsing: "l ge 15 and n ne 1"))
            #expect((try desk.reader.explain(query).plan.access != .table) == isIndexed)
            query.order = [.init("l")]
            query.select = ["l"]
            let rows = try desk.reader.run(query).rows
            #expect(rows.map(\.id) == ["5", "4", "2", "0"])
            #expect(rows.first?.columns == SchemaDesk.row(["l": 15]))
        }
        try desk.change(.update, ["l": 100], id: "7")
        let query = RowQuery(table: "t", filter: try FilterExpression(parsing: "l gt 50"))
        #expect(try desk.reader.run(query).rows.map(\.id) == ["7"])
        try desk.checkReplay()
    }

    @Test func `a row without them is kept in the bytes it always had`() throws {
        struct First: ShapeNumbering { func number(of shape: RowShape) -> Int { 0 } }
        var writer = ByteWriter()
        var entry = RowEntry(base: SchemaDesk.row(["a": 1]))
        writer.append(entry: entry, First())
        #expect(writer.bytes == [1, 0, 1, 0x41])
        entry.local = SchemaDesk.row(["a": 2])
        var other = ByteWriter()
        other.append(entry: entry, First())
        #expect(other.bytes == [0x11, 0, 1, 0x42, 0, 1, 0x41])
    }
}
