// One row and its events, as an engine would record them.

import SynclineCore
import Testing

struct SchemaDesk {
    let projector: Projector
    private(set) var records: [[UInt8]] = []

    init() throws {
        projector = try Projector()
    }

    var reader: StateReader { StateReader(projector.store.snapshot, projector.shapes) }

    mutating func record(_ body: Event.Body) throws {
        let event = Event(time: 0, body)
        try projector.apply(event, number: projector.through + 1)
        records.append(event.bytes)
        projector.store.endCommit()
    }

    mutating func declare(
        local: [String] = [], columns: [ColumnSchema] = [], steps: SchemaStep...
    ) throws {
        let tables = [TableSchema("t", columns: columns, localColumns: local)]
        try record(
            .declared(
                Declaration(version: UInt32(records.count) + 1, isStrict: false, tables: tables), steps: steps))
    }

    /// The server's row, or that there is none.
    mutating func pull(_ columns: [String: Value]?) throws {
        let row = columns.map { Row($0.sorted { $0.key < $1.key }.map { .init($0.key, $0.value) }) }
        try record(.page(PulledPage(table: "t", queryID: nil, rows: [.init(id: "r", row: row)], cursor: nil)))
    }

    mutating func change(_ kind: OperationKind, _ columns: [String: Value] = [:], id: String = "r") throws {
        try transaction(isGrouped: false) { writer throws(SyncError) in
            try writer.change(kind, "t", id, SchemaDesk.row(columns))
        }
    }

    mutating func transaction(
        isGrouped: Bool = true, _ body: (inout LocalTransactionWriter) throws(SyncError) -> Void
    ) throws {
        var writer = LocalTransactionWriter(
            projector, number: projector.through + 1, time: 0, TransactionHeading(isGrouped: isGrouped))
        try body(&writer)
        if let record = try writer.finish() { records.append(record) }
        projector.store.endCommit()
    }

    static func row(_ columns: [String: Value]) -> Row {
        Row(columns.sorted { $0.key < $1.key }.map { .init($0.key, $0.value) })
    }

    /// The pending operation is sent.
    mutating func send() throws {
        let operation = try #require(try PushPlan(reader).operations.first { !$0.isFrozen })
        try record(
            .sent([
                SentOperation(
                    table: "t", id: operation.id, operationID: "O", position: operation.position,
                    through: operation.through)
            ]))
    }

    mutating func answer(_ outcome: Answer.Outcome) throws {
        try record(.answered(Answer(table: "t", id: "r", operationID: "O", status: 200, outcome: outcome)))
    }

    mutating func undo() throws {
        let event = try #require(try UndoSearch.newest(reader, through: projector.through))
        try record(.undone(event: event))
    }

    /// The row as the app sees it.
    func shown(_ id: String = "r") throws -> [String: Value]? {
        try reader.row("t", id).map { row in
            Dictionary(uniqueKeysWithValues: row.columns.members.map { ($0.name, $0.value) })
        }
    }

    func entry() throws -> RowEntry { try #require(try reader.entry("t", "r")) }

    /// The fields of each operation of the plan.
    func fields() throws -> [[String]] { try PushPlan(reader).operations.map { try PushPlan.fields(of: $0, reader) } }

    /// Whether the log folds to the same bytes.
    func checkReplay() throws {
        let folded = try Projector()
        try folded.fold(records[...])
        #expect(try folded.agrees(with: projector))
    }
}
