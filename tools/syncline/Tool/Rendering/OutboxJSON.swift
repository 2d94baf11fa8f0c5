// An operation of the outbox, as `pending`, `inspect outbox` and `show ~1` print it.

import SynclineCore

enum OutboxJSON {
    /// The output of `pending`.
    static func json(_ operation: PlannedOperation, fields: [String], number: Int) -> JSONValue {
        let (first, last) = (operation.events.lowerBound, operation.events.upperBound)
        return [
            "address": .string("~\(number)"), "table": .string(operation.table), "id": .string(operation.id),
            "kind": .string("\(operation.kind)"), "state": .string(operation.state.rawValue),
            "maybeSent": .boolean(operation.maybeSent), "fields": .array(fields.map(JSONValue.string)),
            "events": .string(first == last ? "@\(first)" : "@\(first)..\(last)"),
        ]
    }

    /// The same with the changes in the operation, and the result of each.
    static func json(_ report: CollapsedOperation, number: Int) -> JSONValue {
        json(report.operation, fields: report.fields, number: number).adding([
            "place": .string(report.place), "changes": .array(report.changes.map(\.json)),
        ])
    }
}

extension CollapsedChange {
    fileprivate var json: JSONValue {
        [
            "event": .string("@\(position.event)"), "index": .number(position.index), "kind": .string("\(kind)"),
            "columns": .array(columns.map(JSONValue.string)), "rule": .string(rule),
            "result": .optional(result.map { "\($0)" }),
        ]
    }
}
