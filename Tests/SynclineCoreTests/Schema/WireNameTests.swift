// The server's names of columns: requests, responses, and operations that were sent with other names.

import Testing

@testable import SynclineCore

@Suite struct WireNameTests {
    private static func declaration(_ columns: ColumnSchema..., local: [String] = []) -> Declaration {
        Declaration(
            version: 2, isStrict: false, tables: [TableSchema("t", columns: columns, localColumns: local)])
    }

    private static let note = declaration(.column("text", onServer: "note"))
    private static let swapped = declaration(.column("a", onServer: "b"), .column("b", onServer: "a"))

    private func write(_ columns: [String: Value], table: String = "t") -> WriteRequest {
        WriteRequest(
            kind: .update, table: table, id: "r", body: SchemaDesk.row(columns), version: "1", operationID: "O")
    }

    @Test func `bodies, filters, orders and selections go out in the server's names`() throws {
        let names = NameTranslation(Self.note)
        guard
            case .batch(let writes) = names.sent(.batch([write(["text": 1, "z": 2]), write(["text": 1], table: "u")]))
        else { return }
        #expect(writes.map(\.body.columns) == [["note", "z"], ["text"]])
        var list = ListRequest(
            table: "t", filter: try FilterExpression(parsing: "contains(text, 'a') and not (z in (1, 2))"))
        list.order = [RowQuery.Key("text", descending: true), RowQuery.Key("id")]
        list.select = ["id", "text"]
        guard case .list(let sent) = names.sent(.list(list)) else { return }
        #expect(sent.filter == (try FilterExpression(parsing: "contains(note, 'a') and not (z in (1, 2))")))
        #expect(sent.order.map(\.column) == ["note", "id"] && sent.order[0].isDescending)
        #expect(sent.select == ["id", "note"])
        let filter = try FilterExpression(parsing: "text/length eq 1 or text in ('a')")
        let changes = ServerRequest.changes(ChangesRequest(table: "t", since: "", filter: filter, top: 1))
        guard case .changes(let asked) = names.sent(changes) else { return }
        #expect(asked.filter == (try FilterExpression(parsing: "note/length eq 1 or note in ('a')")))
    }

    @Test func `answers come in the store's names, whatever they answer`() {
        let names = NameTranslation(Self.note)
        let row = ServerRow(id: "r", columns: SchemaDesk.row(["note": 1, "version": "2", "z": 3]), isDeleted: false)
        let expected = SchemaDesk.row(["text": 1, "version": "2", "z": 3])
        func columns(_ content: ServerReply.Content, to request: ServerRequest) -> [Row] {
            let reply = names.received(ServerReply(status: 200, content: content), to: request)
            switch reply.content {
            case .row(let row): return [row.columns]
            case .list(let list): return list.rows.map(\.columns)
            case .changes(let changes): return changes.rows.map(\.columns)
            case .results(let results):
                return results.map { if case .row(let row) = $0.content { row.columns } else { .empty } }
            case .unreadable, .unreadableRow: return []
            }
        }
        let same = { (row: Row) in
            Dictionary(uniqueKeysWithValues: row.members.map { ($0.name, $0.value) })
        }
        let list = ServerList(rows: [row, row], count: 2)
        let changes = ServerChanges(rows: [row], cursor: "c", hasMore: false)
        let results = [ServerReply(status: 200, content: .row(row))]
        let all =
            columns(.row(row), to: .write(write([:]))) + columns(.row(row), to: .row(table: "t", id: "r"))
            + columns(.list(list), to: .list(ListRequest(table: "t")))
            + columns(.changes(changes), to: .changes(ChangesRequest(table: "t", since: "", filter: nil, top: 1)))
            + columns(.results(results), to: .batch([write([:])]))
        #expect(all.count == 6)
        for columns in all { #expect(same(columns) == same(expected)) }
        #expect(columns(.row(row), to: .row(table: "u", id: "r")) == [row.columns])
    }

    @Test func `two columns may swap names, and a name that belongs to another column is hidden`() {
        let swapped = NameTranslation(Self.swapped)
        let row = swapped.received(Row([.init("a", 1), .init("b", 2)]), of: "t")
        #expect(row["a"] == 2 && row["b"] == 1)
        let hidden = NameTranslation(Self.note).received(Row([.init("text", 1), .init("note", 2)]), of: "t")
        #expect(hidden == Row([.init("text", 2)]))
        let rest = NameTranslation(Self.note).received(Row([.init("text", 1)]), of: "t")
        #expect(rest.isEmpty)
    }

    @Test func `a store has no column that is another's on the server`() throws {
        var desk = try SchemaDesk()
        try desk.declare(columns: [.column("text", onServer: "note")])
        let error = #expect(throws: SyncError.self) {
            try desk.projector.check(columnsOf: SchemaDesk.row(["note": 1]), in: "t")
        }
        #expect(error?.code == .invalidItem)
        #expect(throws: SyncError.self) { try desk.change(.insert, ["note": 1], id: "n") }
        #expect(throws: SyncError.self) { try desk.change(.update, ["note": 1]) }
        try desk.projector.check(columnsOf: SchemaDesk.row(["text": 1]), in: "t")
        try desk.projector.check(columnsOf: SchemaDesk.row(["note": 1]), in: "u")
    }

    @Test func `declaring such a column reports the rows that have it`() throws {
        var desk = try SchemaDesk()
        try desk.pull(["note": 1])
        let error = #expect(throws: SyncError.self) {
            try SchemaChange(Self.note).check(over: nil, desk.reader)
        }
        #expect(error?.code == .invalidConfiguration && error?.address == "t/r")
        let rename = Migration.Step.renameColumn(table: "t", from: "note", to: "text")
        try SchemaChange(Self.note, [rename]).check(over: nil, desk.reader)
        let local = Self.declaration(.column("text", onServer: "note"), local: ["note"])
        try SchemaChange(local).check(over: nil, SchemaDesk().reader)
    }

    // MARK: Sent operations

    /// The body of a sent operation, on the wire.
    private func body(_ desk: SchemaDesk, _ server: ServerProtocol = .zumo2) throws -> Row {
        let frozen = try #require(try desk.entry().pending?.frozen)
        let names = NameTranslation(desk.projector.declaration)
        let request = names.sent(.write(WriteRequest(frozen, table: "t", id: "r", server, TableTypes())))
        guard case .write(let write) = request else { return .empty }
        return write.body
    }

    @Test(arguments: ServerProtocol.allCases)
    func `an operation that may have arrived is sent again unchanged, through every change of names`(
        _ server: ServerProtocol
    ) throws {
        var desk = try SchemaDesk()
        try desk.pull(["version": "1", "note": 1, "b": 2])
        try desk.change(.update, ["note": 5])
        try desk.send()
        let before = try body(desk, server)
        try desk.declare(
            columns: [.column("text", onServer: "note")], steps: .renameColumn(table: "t", from: "note", to: "text"))
        #expect(try body(desk, server) == before)
        #expect(try desk.shown() == ["version": "1", "text": 5, "b": 2])
        #expect(try desk.fields() == [["text"]])
        try desk.declare(
            columns: [.column("title", onServer: "note")], steps: .renameColumn(table: "t", from: "text", to: "title"))
        #expect(try body(desk, server) == before)
        try desk.declare(
            columns: [.column("title", onServer: "note"), .column("b", onServer: "c"), .column("c", onServer: "b")],
            steps: .renameColumn(table: "t", from: "b", to: "c"))
        #expect(try body(desk, server) == before)
        #expect(try desk.shown() == ["version": "1", "title": 5, "c": 2])
        try desk.answer(.conflict(server: SchemaDesk.row(["version": "2", "title": 9, "c": 2]), code: "conflict"))
        let conflict = try #require(try desk.reader.conflicts().first)
        #expect(conflict.mine?["title"] == 5 && conflict.server?["title"] == 9 && conflict.base?["title"] == 1)
        try desk.checkReplay()
    }

    @Test func `a lost answer is recognised under the new names`() throws {
        var desk = try SchemaDesk()
        try desk.pull(["version": "1", "note": 1])
        try desk.change(.update, ["note": 5])
        try desk.send()
        try desk.declare(
            columns: [.column("text", onServer: "note")], steps: .renameColumn(table: "t", from: "note", to: "text"))
        let frozen = try #require(try desk.entry().pending?.frozen)
        let request = WriteRequest(frozen, table: "t", id: "r", .zumo2, TableTypes())
        let theirs = ServerRow(id: "r", columns: SchemaDesk.row(["note": 5, "version": "2"]), isDeleted: false)
        let reply = NameTranslation(desk.projector.declaration).received(
            ServerReply(status: 412, content: .row(theirs)), to: .write(request))
        guard case .done(let row) = WriteJudge(request, ids: .exact).judge(reply) else {
            Issue.record("it is ours")
            return
        }
        #expect(row.row?["text"] == 5)
    }

    @Test func `a schema with a name that can't be translated any more is refused`() throws {
        var desk = try SchemaDesk()
        try desk.pull(["version": "1", "text": 1])
        try desk.change(.update, ["text": 5])
        let change = SchemaChange(Self.note)
        try change.check(over: nil, desk.reader)
        try desk.send()
        let error = #expect(throws: SyncError.self) { try change.check(over: nil, desk.reader) }
        #expect(error?.code == .pendingChanges)
        try desk.answer(.notReceived)
        try change.check(over: nil, desk.reader)
    }
}
