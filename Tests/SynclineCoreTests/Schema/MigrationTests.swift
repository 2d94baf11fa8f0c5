// The effect of each migration step on rows in every state: pulled, changed, changed often, sent, in conflict.

import Testing

@testable import SynclineCore

@Suite struct MigrationTests {
    private var desk: SchemaDesk

    init() throws {
        desk = try SchemaDesk()
        try desk.pull(["version": "1", "a": 1, "b": 2])
    }

    private static let rename = SchemaStep.renameColumn(table: "t", from: "a", to: "z")
    private static let drop = SchemaStep.dropColumn(table: "t", column: "a")

    @Test mutating func `a rename gives a pulled row its value under the new name`() throws {
        try desk.declare(steps: Self.rename)
        #expect(try desk.shown() == ["version": "1", "z": 1, "b": 2])
        #expect(try desk.entry().base?.columns == ["z", "b", "version"])
        #expect(try desk.entry().pending == nil)
        try desk.checkReplay()
    }

    @Test mutating func `a rename follows into one pending change and into several`() throws {
        try desk.change(.update, ["a": 5])
        try desk.change(.insert, ["a": 6], id: "other")
        try desk.declare(steps: Self.rename)
        #expect(try desk.shown() == ["version": "1", "z": 5, "b": 2])
        #expect(try desk.fields() == [["z"], ["z"]])
        try desk.change(.update, ["b": 7])
        try desk.declare(steps: .renameColumn(table: "t", from: "z", to: "y"))
        #expect(try desk.fields().contains(["b", "y"]))
        try desk.undo()
        #expect(try desk.shown() == ["version": "1", "y": 5, "b": 2])
        try desk.checkReplay()
    }

    @Test mutating func `an operation that may have reached the server is sent again unchanged`() throws {
        try desk.change(.update, ["a": 5])
        try desk.send()
        try desk.change(.update, ["a": 6])
        let before = try desk.entry().pending?.frozen
        try desk.declare(steps: Self.rename)
        #expect(try desk.entry().pending?.frozen == before)
        #expect(try desk.shown() == ["version": "1", "z": 6, "b": 2])
        #expect(try desk.fields() == [["a"], ["z"]])
        try desk.answer(.notReceived)
        #expect(try desk.fields() == [["z"]], "it certainly did not arrive: it is sent as it is now")
        try desk.checkReplay()
    }

    @Test mutating func `a conflict is decided under the new name of the column`() throws {
        try desk.change(.update, ["a": 5])
        try desk.send()
        try desk.answer(.conflict(server: SchemaDesk.row(["version": "2", "a": 9, "b": 2]), code: "conflict"))
        try desk.declare(steps: Self.rename)
        let conflict = try #require(try desk.reader.conflicts().first)
        #expect(conflict.base?["z"] == 1 && conflict.mine?["z"] == 5 && conflict.server?["z"] == 9)
        let resolution = try #require(try conflict.resolution(.keepMine, hasBase: true))
        try desk.record(.resolved(resolution))
        #expect(try desk.fields() == [["z"]])
        #expect(try desk.shown() == ["version": "2", "z": 5, "b": 2])
        try desk.checkReplay()
    }

    @Test mutating func `a row that is gone from the server keeps what the app sees`() throws {
        try desk.change(.update, ["b": 5])
        try desk.pull(nil)
        try desk.declare(steps: Self.rename)
        #expect(try desk.shown() == ["version": "1", "z": 1, "b": 5])
        try desk.checkReplay()
    }

    @Test mutating func `a drop takes the column out of the row and of its changes`() throws {
        try desk.change(.update, ["a": 5, "b": 6])
        try desk.declare(steps: Self.drop)
        #expect(try desk.shown() == ["version": "1", "b": 6])
        #expect(try desk.fields() == [["b"]])
        try desk.checkReplay()
    }

    @Test mutating func `a pending update without columns is discarded`() throws {
        try desk.change(.update, ["a": 5])
        try desk.declare(steps: Self.drop)
        #expect(try desk.fields().isEmpty)
        #expect(try desk.entry().pending == nil)
        #expect(desk.projector.totals.pending == 0 && desk.projector.totals.superseded == 1)
        try desk.checkReplay()
    }

    @Test(arguments: [0, 1, 2]) mutating func `the remaining ones of several changes continue`(_ dropped: Int) throws {
        for index in 0..<3 { try desk.change(.update, index == dropped ? ["a": 5] : ["b": .integer(Int64(index) + 7)]) }
        try desk.declare(steps: Self.drop)
        #expect(try desk.fields() == [["b"]])
        #expect(desk.projector.totals.pending == 2)
        #expect(try desk.entry().pending?.count == 2)
        try desk.undo()
        #expect(try desk.shown()?["b"] == (dropped == 0 ? 8 : 7))
        try desk.undo()
        #expect(try desk.shown() == ["version": "1", "b": 2])
        try desk.checkReplay()
    }

    @Test mutating func `a drop leaves the sent operation and removes its follow-ups`() throws {
        try desk.change(.update, ["a": 5])
        try desk.send()
        try desk.change(.update, ["a": 6])
        try desk.declare(steps: Self.drop)
        #expect(try desk.fields() == [["a"]])
        try desk.answer(.done(.init(id: "r", row: SchemaDesk.row(["version": "2", "b": 2]))))
        #expect(try desk.shown() == ["version": "2", "b": 2])
        #expect(desk.projector.totals.pending == 0)
        try desk.checkReplay()
    }

    @Test mutating func `a row known only from an update stays`() throws {
        try desk.change(.update, ["a": 5], id: "new")
        try desk.declare(steps: Self.drop)
        #expect(try desk.shown("new") == [:])
        #expect(try desk.fields() == [[]])
        try desk.checkReplay()
    }

    @Test mutating func `a transaction that lost a change is not undone in part`() throws {
        try desk.transaction { writer throws(SyncError) in
            try writer.change(.update, "t", "r", SchemaDesk.row(["a": 5]))
            try writer.change(.insert, "t", "n", SchemaDesk.row(["b": 5]))
        }
        try desk.declare(steps: Self.drop)
        #expect(try desk.shown("n") == ["b": 5])
        #expect(try UndoSearch.newest(desk.reader, through: desk.projector.through) == nil)
        try desk.checkReplay()
    }

    @Test mutating func `steps are taken in order`() throws {
        try desk.declare(
            steps: .renameColumn(table: "t", from: "a", to: "x"), .renameColumn(table: "t", from: "b", to: "a"),
            .renameColumn(table: "t", from: "x", to: "b"), .renameColumn(table: "u", from: "a", to: "c"))
        #expect(try desk.shown() == ["version": "1", "a": 2, "b": 1])
        try desk.declare(steps: Self.drop, .renameColumn(table: "t", from: "b", to: "a"))
        #expect(try desk.shown() == ["version": "1", "a": 1])
        try desk.checkReplay()
    }

    @Test mutating func `an index follows its column, and goes with it`() throws {
        for number in 0..<50 { try desk.change(.insert, ["a": .integer(Int64(number))], id: "\(number)") }
        try desk.record(.indexed(IndexChange(table: "t", columns: ["a"], isOn: true)))
        try desk.declare(steps: Self.rename)
        #expect(try desk.reader.indexes(of: "t").map(\.columns) == [["z"]])
        let query = RowQuery(table: "t", filter: try FilterExpression(parsing: "z eq 7"))
        #expect(try desk.reader.explain(query).plan.entriesRead == 1)
        #expect(try desk.reader.run(query).rows.map(\.id) == ["7"])
        try desk.declare(steps: .dropColumn(table: "t", column: "z"))
        #expect(try desk.reader.indexes(of: "t").isEmpty)
        var entries = 0
        try desk.reader.snapshot.forEach(prefix: [Keyspace.indexes]) { _, _ in
            entries += 1
            return true
        }
        #expect(entries == 0)
        try desk.checkReplay()
    }

    @Test mutating func `a large table is rewritten whole, and no other`() throws {
        let rows = (0..<9000).map { PulledRow(id: "\($0)", row: SchemaDesk.row(["a": .integer(Int64($0))])) }
        for table in ["s", "t", "ta"] {
            try desk.record(.page(PulledPage(table: table, queryID: nil, rows: rows, cursor: nil)))
        }
        try desk.declare(steps: Self.rename)
        for (table, column) in [("s", "a"), ("t", "z"), ("ta", "a")] {
            let filter = try FilterExpression(parsing: "\(column) ge 0")
            #expect(try desk.reader.count(RowQuery(table: table, filter: filter)) == (table == "t" ? 9001 : 9000))
        }
    }
}
