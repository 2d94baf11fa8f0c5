// `blame`: shows which event gave each field of a row its value, and the source of that event.

import SegmentLog
import SynclineCore

enum BlameCommand {
    static let command = Command(
        "blame", "show which event gave each field of a row its value",
        details: [
            """
            `by` names a transaction, a page of a pull, the answer to an operation, a decision and its policy, or an \
            undo.
            """
        ],
        operands: [Operand("ROW", "TABLE/ID or TABLE/ID.FIELD", isRequired: true)],
        options: [.at, .redact],
        examples: [
            Example("syncline blame todoitem/a", "show every field"),
            Example("syncline blame todoitem/a.text --at @41", "one field, as of event 41"),
        ],
        result: #"[{"field","value","event":"@41","time","cause","by","provenance":{…}}]"#,
        exits: [Exit(.no, "the row or the field does not exist")], run: run)

    private static func run(_ arguments: Arguments, _ context: Context) async throws -> ExitCode {
        let address = try RowAddress(arguments.operands[0])
        let storage = try context.storage(arguments)
        let moment = address.moment ?? arguments.value("at")
        let last = try moment.map { try context.event(at: $0, storage) } ?? .max
        let found = try BlameReading(address, EventReading(storage, context), through: last)
        let part = found.whole.fields == nil ? found.part : nil
        let wanted = part?.blame.fields == nil ? nil : part?.field
        let redacts = arguments.flag("redact")
        let style = context.output.style
        var list = try ListWriter(context.output, ["FIELD", "EVENT", "TIME", "CAUSE", "BY", "VALUE"])
        // A row may have no column.
        var isFound = found.whole.fields != nil
        for origin in found.whole.fields ?? part?.blame.fields ?? [] where wanted == nil || wanted == origin.field {
            isFound = true
            let isDated = origin.provenance != .beginning
            let moment = WallTime(rawValue: origin.time)
            let value = JSONValue(origin.value, redacts: redacts)
            try list.row(
                [
                    Cell(escaped(origin.field)), Cell("@\(origin.event)", .address),
                    Cell(!isDated ? "" : style.isForPeople ? moment.humanText : moment.text, .dim), Cell(origin.cause),
                    Cell(escaped(origin.provenance.description)), Cell(style.cut(escaped(value.text), to: 60)),
                ],
                json: origin.json(redacts: redacts))
        }
        try list.finish()
        if isFound { return .done }
        if let gone = found.whole.disappearance, gone.cause == .right {
            context.narration.hint("The right to the row was lost at @\(gone.first.event).")
        } else if let part, let fields = part.blame.fields, context.output.form == .human {
            let meant = Suggestion.nearest(to: part.field, in: fields.map(\.field))
            if let meant { context.narration.hint("Did you mean `\(address.table)/\(part.id).\(meant)`?") }
        } else {
            try await context.hint(missing: (address.table, address.id), at: moment, arguments)
        }
        return .no
    }
}

extension FieldOrigin {
    func json(redacts: Bool) -> JSONValue {
        [
            "field": .string(field), "value": JSONValue(value, redacts: redacts), "event": .string("@\(event)"),
            "time": provenance == .beginning ? .null : .string(WallTime(rawValue: time).text),
            "cause": .string(cause), "by": .string(provenance.description), "provenance": provenance.json,
        ]
    }
}

extension Provenance {
    /// The same for a program.
    var json: JSONValue {
        switch self {
        case .transaction(let change, let count):
            ["kind": "transaction", "change": .number(change), "changes": .number(count)]
        case .pull(let queryID, let page):
            ["kind": "pull", "queryId": .optional(queryID), "page": .number(page)]
        case .push(let operationID, let status):
            ["kind": "push", "operationId": .string(operationID), "status": .number(status)]
        case .resolution(let choice, let policy):
            ["kind": "resolution", "choice": .string(choice), "policy": .optional(policy)]
        case .discard: ["kind": "drop"]
        case .undo(let event): ["kind": "undo", "of": .string("@\(event)")]
        case .purge: ["kind": "purge"]
        case .migration(let version): ["kind": "migration", "version": .number(version)]
        case .beginning: ["kind": "beginning"]
        case .other: ["kind": "other"]
        }
    }
}
