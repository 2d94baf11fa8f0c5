// An operation of the outbox, as `pending`, `inspect outbox` and `show ~1` tell it.

import SynclineCore
import SynclineInspect

enum OutboxJSON {
    /// What `pending` prints.
    static func json(_ operation: PlannedOperation, fields: [String], number: Int) -> JSONValue {
        let (first, last) = (operation.events.lowerBound, operation.events.upperBound)
        return [
            "address": .string("~\(number)"), "table": .string(operation.table), "id": .string(operation.id),
            "kind": .string("\(operation.kind)"), "state": .string(operation.state.rawValue),
            "maybeSent": .boolean(operation.maybeSent), "fields": .array(fields.map(JSONValue.string)),
            "events": .string(first == last ? "@\(first)" : "@\(first)..\(last)"),
        ]
    }

    /// The same with the changes behind the operation and what was made of each.
    static func json(_ report: CollapsedOperation, number: Int) -> JSONValue {
        json(report.operation, fields: report.fields, number: number).adding([
            "place": .string(report.place), "changes": .array(report.changes.map(\.json)),
        ])
    }
}
