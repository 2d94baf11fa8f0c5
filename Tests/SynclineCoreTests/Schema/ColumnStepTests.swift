// The effect of adding a column, changing its values and dropping a table on rows in every state, and what is
// computed before a step is recorded.

import Testing

@testable import SynclineCore

@Suite struct ColumnStepTests {
    private var desk: SchemaDesk

    init() throws {
        desk = try SchemaDesk()
        try desk.pull(["version": "1", "a": 1, "b": 2])
    }

    // MARK: Defaults

    private static let priority = [ColumnSchema("p", default: 7)]

    @Test mutating func `a row shows the default of a column that it lacks, and nothing is pending`() throws {
        try desk.declare(columns: Self.priority)
        #expect(try desk.shown() == ["version": "1", "a": 1, "b": 2, "p": 7])
        #expect(try desk.entry().pending == nil)
        #expect(try desk.entry().base?["p"] == nil, "the server is not said to have it")
        try desk.checkReplay()
    }

    @Test mutating func `a pulled row without the column keeps the default, and one with it has its own`() throws {
        try desk.declare(columns: Self.priority)
        try desk.pull(["version": "2", "a": 3])
        #expect(try desk.shown() == ["version": "2", "a": 3, "p": 7])
        try desk.pull(["version": "3", "a": 3, "p": 1])
        #expect(try desk.shown() == ["version": "3", "a": 3, "p": 1])
        try desk.pull(["version": "4", "a": 3, "p": .null])
        #expect(try desk.shown()?["p"] == .null, "null is a value that the server has set")
        try desk.pull(["version": "5", "a": 3])
        #expect(try desk.shown()?["p"] == 7)
        try desk.checkReplay()
    }

    @Test mutating func `the default is never sent, and setting it is not a change`() throws {
        try desk.declare(columns: Self.priority)
        try desk.change(.update, ["p": 7])
        #expect(try desk.fields().isEmpty)
        try desk.change(.update, ["a": 5, "p": 7])
        #expect(try desk.fields() == [["a"]])
        try desk.send()
        let frozen = try #require(try desk.entry().pending?.frozen)
        let request = WriteRequest(frozen, table: "t", id: "r", .datasync3, TableTypes())
        #expect(request.body.columns.sorted() == ["a", "b"])
        try desk.answer(.done(.init(id: "r", row: SchemaDesk.row(["version": "2", "a": 5, "b": 2]))))
        #expect(try desk.shown() == ["version": "2", "a": 5, "b": 2, "p": 7])
        try desk.change(.update, ["p": 9])
        #expect(try desk.fields() == [["p"]])
        #expect(try desk.shown()?["p"] == 9)
        try desk.undo()
        #expect(try desk.shown()?["p"] == 7)
        try desk.checkReplay()
    }

    @Test mutating func `a new row shows it, and so does a row whose delete was undone`() throws {
        try desk.declare(columns: Self.priority)
        try desk.change(.insert, ["a": 1], id: "n")
        #expect(try desk.shown("n") == ["a": 1, "p": 7])
        #expect(try desk.fields() == [["a"]])
        try desk.change(.delete)
        #expect(try desk.shown() == nil)
        try desk.undo()
        #expect(try desk.shown() == ["version": "1", "a": 1, "b": 2, "p": 7])
        try desk.pull(nil)
        #expect(try desk.shown() == nil)
        #expect(try desk.reader.entry("t", "r") == nil)
        try desk.checkReplay()
    }

    @Test mutating func `it is found by an index and by a filter`() throws {
        try desk.record(.indexed(IndexChange(table: "t", columns: ["p"], isOn: true)))
        try desk.declare(columns: Self.priority)
        let query = RowQuery(table: "t", filter: try FilterExpression(parsing: "p eq 7"))
        #expect(try desk.reader.explain(query).plan.entriesRead == 1)
        #expect(try desk.reader.run(query).rows.map(\.id) == ["r"])
        try desk.pull(["version": "2", "p": 8])
        #expect(try desk.reader.run(query).rows.isEmpty)
        try desk.checkReplay()
    }

    @Test mutating func `another default replaces it, and none removes it`() throws {
        try desk.declare(columns: Self.priority)
        try desk.declare(columns: [ColumnSchema("p", default: 8), ColumnSchema("q", default: "x")])
        #expect(try desk.shown() == ["version": "1", "a": 1, "b": 2, "p": 8, "q": "x"])
        try desk.declare(
            columns: [ColumnSchema("z", default: 8)], steps: .renameColumn(table: "t", from: "p", to: "z"),
            .dropColumn(table: "t", column: "q"))
        #expect(try desk.shown() == ["version": "1", "a": 1, "b": 2, "z": 8])
        try desk.declare()
        #expect(try desk.shown() == ["version": "1", "a": 1, "b": 2])
        #expect(try desk.entry().local == nil)
        try desk.checkReplay()
    }

    @Test mutating func `a local column begins with its default and keeps its value`() throws {
        try desk.declare(local: ["p"], columns: Self.priority)
        #expect(try desk.shown()?["p"] == 7)
        try desk.change(.update, ["p": 1])
        try desk.pull(["version": "2", "a": 1])
        #expect(try desk.shown()?["p"] == 1)
        try desk.declare(local: ["p"], columns: [ColumnSchema("p", default: 9)])
        #expect(try desk.shown()?["p"] == 1)
        try desk.checkReplay()
    }

    @Test func `a step that adds a column is part of what is recorded until another removes it`() throws {
        func schema(_ steps: [Migration.Step]) -> SyncSchema {
            SyncSchema(
                version: 2, tables: [TableSchema("t", columns: [.column("a", onServer: "x")])],
                migrations: [Migration(to: 2, steps: steps)])
        }
        let add = Migration.Step.addColumn(table: "t", column: "p", default: 7)
        #expect(schema([add]).declaration.defaults(of: "t") == SchemaDesk.row(["p": 7]))
        #expect(schema([add]).declaration.tables[0].columns.map(\.serverName) == ["x", "p"])
        let rename = Migration.Step.renameColumn(table: "t", from: "p", to: "q")
        #expect(schema([add, rename]).declaration.defaults(of: "t") == SchemaDesk.row(["q": 7]))
        #expect(schema([add, .dropColumn(table: "t", column: "p")]).declaration.defaults(of: "t") == nil)
        #expect(schema([add, .dropTable("t")]).declaration.defaults(of: "t") == nil)
        #expect(schema([.addColumn(table: "u", column: "p", default: 1)]).declaration.declares("u"))
        var strict = schema([.addColumn(table: "u", column: "p", default: 1)])
        strict.isStrict = true
        #expect(!strict.declaration.declares("u"))
        let declaration = schema([add]).declaration
        #expect(try Declaration(declaration.value) == declaration)
    }

    // MARK: Transforms

    @Test mutating func `a transform changes pulled, pending and decided values, but not sent ones`()
        throws
    {
        try desk.change(.update, ["a": 5], id: "sent")
        try desk.change(.update, ["a": 5])
        try desk.change(.update, ["a": 6])
        try desk.change(.insert, ["a": 9], id: "n")
        let operation = try #require(try PushPlan(desk.reader).operations.first { $0.id == "sent" })
        try desk.record(
            .sent([
                SentOperation(
                    table: "t", id: "sent", operationID: "S", position: operation.position, through: operation.through)
            ]))
        let double = Migration.Step.transform(table: "t", column: "a") { value in
            if case .integer(let number) = value { .integer(number * 10) } else { value }
        }
        let steps = try [double].decided(desk.reader)
        #expect(
            steps == [
                .changeValues(
                    table: "t", column: "a",
                    [ValueChange(1, 10), ValueChange(5, 50), ValueChange(6, 60), ValueChange(9, 90)])
            ])
        try desk.record(.declared(Declaration(version: 2, isStrict: false, tables: []), steps: steps))
        #expect(try desk.shown() == ["version": "1", "a": 60, "b": 2])
        #expect(try desk.entry().base?["a"] == 10)
        #expect(try desk.shown("n") == ["a": 90])
        let sent = try #require(try desk.reader.entry("t", "sent")?.pending?.frozen)
        #expect(sent.columns["a"] == 5)
        try desk.undo()
        try desk.undo()
        #expect(try desk.shown()?["a"] == 50)
        try desk.undo()
        #expect(try desk.shown() == ["version": "1", "a": 10, "b": 2])
        #expect(try desk.reader.entry("t", "r")?.pending == nil, "what the server sent is not a change of the app")
        try desk.checkReplay()
    }

    @Test mutating func `steps are decided one on top of the other`() throws {
        try desk.pull(["version": "2", "a": "x", "c": "y"])
        let suffix: @Sendable (String) -> (@Sendable (Value) -> Value) = { suffix in
            { value in if case .string(let text) = value { .string(text + suffix) } else { value } }
        }
        let steps: [Migration.Step] = [
            .transform(table: "t", column: "a", suffix("1")), .renameColumn(table: "t", from: "a", to: "z"),
            .transform(table: "t", column: "z", suffix("2")), .dropColumn(table: "t", column: "c"),
            .transform(table: "t", column: "c", suffix("3")), .transform(table: "u", column: "a", suffix("4")),
        ]
        try desk.record(
            .declared(Declaration(version: 2, isStrict: false, tables: []), steps: try steps.decided(desk.reader)))
        #expect(try desk.shown() == ["version": "2", "z": "x12"])
        try desk.checkReplay()
    }

    @Test mutating func `a default that no row can hold is refused before anything is recorded`() throws {
        let step = Migration.Step.transform(table: "t", column: "a") { _ in .double(.infinity) }
        let error = #expect(throws: SyncError.self) { try [step].decided(desk.reader) }
        #expect(error?.code == .invalidItem)
    }

    // MARK: Tables

    @Test mutating func `dropping a table removes its cursors and indexes, and no other table`() throws {
        let cursor = CursorState(.time(Timestamp(.init(milliseconds: 1_767_225_600_000))), query: "", updated: 0)
        for table in ["t", "u"] {
            try desk.record(
                .page(
                    PulledPage(
                        table: table, queryID: "q", rows: [.init(id: "x", row: SchemaDesk.row(["a": 1]))],
                        cursor: cursor)))
            try desk.record(.indexed(IndexChange(table: table, columns: ["a"], isOn: true)))
        }
        try desk.change(.update, ["a": 5])
        try desk.declare(steps: .dropTable("t"))
        #expect(try desk.reader.tables() == ["u"])
        #expect(try desk.reader.cursors().map(\.table) == ["u"])
        #expect(try desk.reader.indexes(of: "t").isEmpty)
        #expect(try desk.reader.indexes(of: "u").map(\.columns) == [["a"]])
        #expect(try PushPlan(desk.reader).operations.isEmpty)
        #expect(desk.projector.totals.pending == 0 && desk.projector.totals.superseded == 1)
        try desk.checkReplay()
    }

    @Test mutating func `pending operations of a dropped table are reported beforehand`() throws {
        try desk.change(.update, ["a": 5])
        func check(_ step: Migration.Step) throws(SyncError) {
            try SchemaChange(Declaration(version: 2, isStrict: false, tables: []), [step]).check(over: nil, desk.reader)
        }
        let error = #expect(throws: SyncError.self) { try check(.dropTable("t")) }
        #expect(error?.code == .pendingChanges && error?.message.hasPrefix("1 operation") == true)
        try check(.dropTable("t", discardsPending: true))
        try check(.dropTable("u"))
    }
}
