// An event as the tool shows it: its address, when, what kind, and what it did.

import SynclineCore
import SynclineInspect

struct EventSummary {
    let number: UInt64
    let event: Event

    /// The tables it concerns.
    var tables: Set<String> {
        switch event.body {
        case .local(let transaction): Set(transaction.changes.map(\.table))
        case .page(let page): [page.table]
        case .purged(let purge): [purge.table]
        case .cursorReset(let table, _), .indexed(let table, _, _): [table]
        default: []
        }
    }

    var time: String { Timestamp(.init(milliseconds: event.time)).description }

    /// What it did, in a line.
    var line: String {
        switch event.body {
        case .opened(let opening): "opened by version \(opening.engineVersion)"
        case .configured(let name, let value): "\(name) = \(value.map { JSONValue($0).text } ?? "none")"
        case .local(let transaction):
            transaction.changes.prefix(3).map { "\($0.kind) \($0.table)/\($0.id)" }.joined(separator: ", ")
                + (transaction.changes.count > 3 ? " and \(transaction.changes.count - 3) more" : "")
        case .undone(let event): "took back @\(event)"
        case .page(let page): "\(page.rows.count) rows of \(page.table)"
        case .purged(let purge): "purged \(purge.ids.map { "\($0.count) rows of " } ?? "")\(purge.table)"
        case .indexed(let table, let column, let isOn): "\(table).\(column) \(isOn ? "on" : "off")"
        case .cursorReset(let table, let queryID): "\(table)/\(queryID)"
        }
    }

    private var head: JSONValue {
        ["address": .string("@\(number)"), "time": .string(time), "kind": .string(event.cause)]
    }

    /// The event, whole.
    var json: JSONValue {
        switch event.body {
        case .opened(let opening):
            head.adding([
                "device": .string(opening.device), "engine": .string(opening.engineVersion),
                "projector": .number(opening.projectorVersion), "schema": .number(opening.schemaVersion),
            ])
        case .configured(let name, let value):
            head.adding(["name": .string(name), "value": value.map { JSONValue($0) } ?? .null])
        case .local(let transaction):
            head.adding([
                "transaction": .boolean(transaction.isGrouped),
                "changes": .array(transaction.changes.map { EventSummary.json($0) }),
            ])
        case .undone(let event): head.adding(["undone": .string("@\(event)")])
        case .page(let page):
            head.adding([
                "table": .string(page.table), "queryId": .optional(page.queryID),
                "position": .optional(page.cursor?.position),
                "rows": .array(
                    page.rows.map { row in
                        row.row.map { JSONValue(StoredRow(id: row.id, columns: $0)) }
                            ?? ["id": .string(row.id), "deleted": .boolean(true)]
                    }),
            ])
        case .purged(let purge):
            head.adding([
                "table": .string(purge.table), "forced": .boolean(purge.isForced),
                "ids": purge.ids.map { .array($0.map(JSONValue.string)) } ?? .null,
            ])
        case .indexed(let table, let column, let isOn):
            head.adding(["table": .string(table), "column": .string(column), "on": .boolean(isOn)])
        case .cursorReset(let table, let queryID):
            head.adding(["table": .string(table), "queryId": .string(queryID)])
        }
    }

    private static func json(_ change: LocalChange) -> JSONValue {
        let head: JSONValue = [
            "kind": .string("\(change.kind)"), "table": .string(change.table), "id": .string(change.id),
        ]
        return head.adding([
            "columns": change.kind == .delete ? nil : JSONValue(change.columns),
            "baseVersion": change.baseVersion.map { JSONValue($0) },
            "replaces": change.replaces ? .boolean(true) : nil, "cancels": change.cancels ? .boolean(true) : nil,
        ])
    }
}
