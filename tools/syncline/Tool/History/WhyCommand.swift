// `why`: why a row has its value, why it is not pushed, why it is hidden, and what to do next.

import Syncline
import SynclineGround

enum WhyCommand {
    static let command = Command(
        "why", "explain a row: its values, what it waits for, and what to do next",
        details: [
            """
            It also explains why the app does not see a row.
            """
        ],
        operands: [Operand("ROW", "TABLE/ID or TABLE/ID.FIELD", isRequired: true)],
        options: [.at, .redact],
        examples: [
            Example("syncline why todoitem/a", "the whole row"),
            Example("syncline why todoitem/a.text --at @41", "one field, as of event 41"),
        ],
        result:
            #"""
            {"table","id","visibility":"visible|hidden|unknown","reason","event","settled","fields":[… as in blame,\#
            "standing":"confirmed|unconfirmed|local"],"operations":[… as in pending,"why","behind":"~1","status",\#
            "code","message","made":[{"event","kind","rule"}]],"attempt":{"sent","answered","status","outcome"},\#
            "lostRight"?:"@41","near":[…],"next":[{"command","effect"}],"sentences":["…"]}
            """#,
        exits: [Exit(.no, "the row or field never existed")], run: run)

    private static func run(_ arguments: Arguments, _ context: Context) async throws -> ExitCode {
        let address = try RowAddress(arguments.operands[0])
        let storage = try context.storage(arguments)
        let moment = address.moment ?? arguments.value("at")
        let last = try moment.map { try context.event(at: $0, storage) } ?? .max
        let view = try await context.view(arguments, at: moment)
        let found = try BlameReading(address, EventReading(storage, context), through: last)
        let part = found.whole.isKnown ? nil : found.part.flatMap { $0.blame.isKnown ? $0 : nil }
        let report = try WhyReport(
            (address.table, part?.id ?? address.id), part?.field, part?.blame ?? found.whole, view,
            redacts: arguments.flag("redact"), context.output.style)
        return try context.output.result(report.json, lines: report.lines, exit: report.isFound ? .done : .no)
    }
}

/// The explanation of a row with what its words need beside it.
struct WhyReport {
    let row: (table: String, id: String)
    let field: String?
    let explanation: RowExplanation
    let made: [CollapsedOperation]
    let near: [String]
    let style: TextStyle
    let redacts: Bool
    let hasBackend: Bool
    /// The schema, if it declares the field.
    let declaring: UInt32?
    /// The table's queries, as their cursors know them.
    let queries: [String]

    init(
        _ row: (table: String, id: String), _ field: String?, _ blame: Blame, _ view: StoreView, redacts: Bool,
        _ style: TextStyle
    ) throws {
        let reader = view.reader
        self.row = row
        self.field = field
        self.style = style
        self.redacts = redacts
        var plan = try PushPlan(reader).operations
        plan.mark(onTheirWay: view.rowsOnTheirWay)
        let key = RowKey.bytes(row.table, row.id, try reader.idComparison)
        explanation = try RowExplanation(blame, plan: plan, key: key)
        made = explanation.operations.isEmpty ? [] : try reader.outbox().filter { $0.operation.rowKey == key }
        let schema = try reader.declaration
        let columns = schema?.tables.first { $0.name.hasSameBytes(as: row.table) }?.columns
        declaring = columns?.contains { $0.name == field } == true ? schema?.version : nil
        hasBackend = try reader.setting("backend") != nil
        queries = try reader.cursors().filter { $0.table == row.table }.map(\.queryID)
        near = explanation.visibility == .unknown ? try RowsNearby.addresses(row.table, row.id, reader) : []
    }

    var fields: [RowExplanation.Field] {
        explanation.fields.filter { field == nil || $0.origin.field == field }
    }

    var isFound: Bool { explanation.visibility != .unknown && (field == nil || !fields.isEmpty) }
}
