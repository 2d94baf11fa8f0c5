// An event as the tool shows it: its address, its time, its kind and its effect.

import SegmentLog
import SynclineCore

struct EventSummary {
    let number: UInt64
    let event: Event
    /// Whether values are replaced by their type and length.
    var redacts = false

    /// The tables it concerns.
    var tables: Set<String> {
        switch event.body {
        case .local(let transaction): Set(transaction.changes.map(\.table))
        case .page(let page): [page.table]
        case .purged(let purge): [purge.table]
        case .cursorReset(let table, _): [table]
        case .indexed(let change): [change.table]
        case .sent(let operations): Set(operations.map(\.table))
        case .answered(let answer): [answer.table]
        case .resolved(let resolution): [resolution.table]
        case .discarded(let table, _): [table]
        case .declared(let declaration, let steps): Set(declaration.tables.map(\.name) + steps.map(\.table))
        case .carried(_, let rows): Set(rows.map(\.table))
        default: []
        }
    }

    var time: String { Timestamp(.init(milliseconds: event.time)).description }
    /// Its time for people, in UTC.
    var humanTime: String { WallTime(rawValue: event.time).humanText }

    private func shown(_ value: Value) -> JSONValue { JSONValue(value, redacts: redacts) }
    private func shown(_ id: String, _ columns: Row?) -> JSONValue { .row(id, columns, redacts: redacts) }
    private func shown(_ columns: Row) -> JSONValue { redacts ? JSONValue(columns).redacted : JSONValue(columns) }

    /// Its effect in one line.
    var line: String {
        switch event.body {
        case .opened(let opening): "opened by version \(opening.engineVersion)"
        case .configured(let name, let value): "\(name) = \(value.map { shown($0).text } ?? "none")"
        case .local(let transaction):
            (transaction.heading.undo.map { "took back @\($0): " } ?? "")
                + (transaction.heading.name.map { "\(shown(.string($0)).text): " } ?? "")
                + transaction.changes.prefix(3).map { "\($0.kind) \($0.table)/\($0.id)" }.joined(separator: ", ")
                + (transaction.changes.count > 3 ? " and \(transaction.changes.count - 3) more" : "")
        case .undone(let event): "undid @\(event)"
        case .page(let page):
            "\(page.rows.count) rows of \(page.table)"
                + (page.lostRights == 0 ? "" : ", the right to \(page.lostRights) lost")
                + (page.unreadable.isEmpty ? "" : ", \(page.unreadable.count) unreadable")
                + (page.vanished.isEmpty ? "" : ", \(page.vanished.count) unreadable no longer sent")
        case .purged(let purge): "purged \(purge.ids.map { "\($0.count) rows of " } ?? "")\(purge.table)"
        case .indexed(let change):
            "\(change.table).\(change.columns.joined(separator: ", ")) \(change.isOn ? "on" : "off")"
        case .typed(let declaration):
            "\(declaration.table)\(declaration.isLocal ? " never leaves the device" : "")"
                + (declaration.columns.isEmpty ? "" : ": ")
                + declaration.columns.map { "\($0.name) is \($0.type.rawValue)" }.joined(separator: ", ")
        case .cursorReset(let table, let queryID): "\(table)/\(queryID)"
        case .sent(let operations):
            operations.prefix(3).map { "\($0.table)/\($0.id)" }.joined(separator: ", ")
                + (operations.count > 3 ? " and \(operations.count - 3) more" : "")
        case .answered(let answer): "\(answer.table)/\(answer.id): \(answer.status), \(answer.outcome.name)"
        case .resolved(let resolution):
            "\(resolution.table)/\(resolution.id): \(resolution.choice.word)"
                + (resolution.policy.map { ", by the policy \($0)" } ?? "")
        case .discarded(let table, let id): "dropped what was pending on \(table)/\(id)"
        case .serverWorked: "the server answered another request"
        case .declared(let declaration, let steps):
            "schema \(declaration.version)\(declaration.isStrict ? ", strict" : ""): "
                + (declaration.tables.map(\.name) + steps.map(\.text)).joined(separator: ", ")
        case .carried(let last, let rows):
            "history through @\(last) may go; unconfirmed changes of \(counted(UInt64(rows.count), "row"))"
        }
    }

    private var head: JSONValue {
        ["address": .string("@\(number)"), "time": .string(time), "kind": .string(event.cause)]
    }

    /// The whole event.
    var json: JSONValue {
        switch event.body {
        case .opened(let opening):
            head.adding([
                "device": .string(opening.device), "engine": .string(opening.engineVersion),
                "projector": .number(opening.projectorVersion), "schema": .number(opening.schemaVersion),
                "place": opening.place.map { .string($0) },
            ])
        case .configured(let name, let value):
            head.adding(["name": .string(name), "value": value.map { shown($0) } ?? .null])
        case .local(let transaction):
            head.adding([
                "transaction": .boolean(transaction.heading.isGrouped),
                "name": transaction.heading.name.map { shown(.string($0)) },
                "redoes": transaction.heading.undo.map { .string("@\($0)") },
                "changes": .array(transaction.changes.map { json($0) }),
            ])
        case .undone(let event): head.adding(["undone": .string("@\(event)")])
        case .page(let page):
            head.adding([
                "table": .string(page.table), "queryId": .optional(page.queryID),
                "position": .optional(page.cursor?.position),
                "rows": .array(
                    page.rows.map { row in
                        row.row.map { shown(row.id, $0) }
                            ?? (row.isByRight
                                ? ["id": .string(row.id), "left": "right"]
                                : ["id": .string(row.id), "deleted": .boolean(true)])
                    }),
                "unreadable": page.unreadable.isEmpty
                    ? nil
                    : .array(
                        page.unreadable.map {
                            ["id": .optional($0.id), "place": .number($0.place), "reason": .string($0.reason)]
                        }),
                "vanished": page.vanished.isEmpty ? nil : .number(page.vanished.count),
            ])
        case .purged(let purge):
            head.adding([
                "table": .string(purge.table), "forced": .boolean(purge.isForced),
                "ids": purge.ids.map { .array($0.map(JSONValue.string)) } ?? .null,
            ])
        case .indexed(let change):
            head.adding([
                "table": .string(change.table), "columns": .array(change.columns.map(JSONValue.string)),
                "including": .array(change.including.map(JSONValue.string)), "on": .boolean(change.isOn),
            ])
        case .typed(let declaration):
            head.adding([
                "table": .string(declaration.table), "columns": JSONValue(types: declaration.columns),
                "local": .boolean(declaration.isLocal),
            ])
        case .cursorReset(let table, let queryID):
            head.adding(["table": .string(table), "queryId": .string(queryID)])
        case .sent(let operations):
            head.adding(["operations": .array(operations.map { EventSummary.json($0) })])
        case .answered(let answer): head.adding(members(answer))
        case .resolved(let resolution):
            head.adding([
                "table": .string(resolution.table), "id": .string(resolution.id),
                "choice": .string(resolution.choice.word), "policy": .optional(resolution.policy),
                "change": resolution.change.map { change in
                    ["kind": .string("\(change.kind)"), "columns": shown(change.columns)]
                } ?? .null,
            ])
        case .discarded(let table, let id): head.adding(["table": .string(table), "id": .string(id)])
        case .serverWorked: head
        case .declared(let declaration, let steps):
            head.adding([
                "version": .number(declaration.version), "strict": .boolean(declaration.isStrict),
                "tables": .array(
                    declaration.tables.map { table in
                        [
                            "name": .string(table.name),
                            "localColumns": .array(table.localColumns.map(JSONValue.string)),
                            "columns": .array(table.columns.map { json($0) }),
                        ]
                    }),
                "steps": .array(steps.map { .string($0.text) }),
            ])
        case .carried(let last, let rows):
            head.adding(["through": .string("@\(last)"), "rows": .array(rows.map { json($0) })])
        }
    }

    private func json(_ row: CarriedRow) -> JSONValue {
        let changes = row.changes.map { change -> JSONValue in
            [
                "address": .string("@\(change.position.event)"), "kind": .string("\(change.kind)"),
                "columns": change.kind == .delete ? nil : shown(change.columns),
            ]
        }
        return [
            "table": .string(row.table), "id": .string(row.id), "changes": .array(changes),
            "operationId": row.frozen.map { .string($0.operationID) },
            "state": row.frozen.map { .string("\($0.status)") },
        ]
    }

    private static func json(_ operation: SentOperation) -> JSONValue {
        [
            "table": .string(operation.table), "id": .string(operation.id),
            "operationId": .optional(operation.operationID),
            "through": .string("@\(operation.through.event)"),
        ]
    }

    private func json(_ column: ColumnSchema) -> JSONValue {
        [
            "name": .string(column.name), "onServer": .string(column.serverName),
            "default": column.defaultValue.map { shown($0) },
        ]
    }

    private func members(_ answer: Answer) -> KeyValuePairs<String, JSONValue?> {
        var row: JSONValue?
        var code: String?
        switch answer.outcome {
        case .done(let pulled), .revived(let pulled): row = shown(pulled.id, pulled.row)
        case .conflict(let server, let why):
            row = shown(answer.id, server)
            code = why
        case .tombstone(let tombstone): row = shown(answer.id, tombstone)
        case .parked, .notReceived, .failing, .interrupted: break
        }
        return [
            "table": .string(answer.table), "id": .string(answer.id), "operationId": .string(answer.operationID),
            "status": .number(answer.status), "outcome": .string(answer.outcome.name), "code": code.map { .string($0) },
            "message": answer.message.map { .string($0) }, "server": row,
        ]
    }

    private func json(_ change: LocalChange) -> JSONValue {
        [
            "kind": .string(change.kind.name), "table": .string(change.table), "id": .string(change.id),
            "columns": change.kind == .delete ? nil : shown(change.columns),
            "baseVersion": change.baseVersion.map { JSONValue($0) },
            "replaces": change.replaces ? .boolean(true) : nil, "cancels": change.cancels ? .boolean(true) : nil,
        ]
    }
}

extension JSONValue {
    /// The types of columns by their names.
    init(types: [TypedColumn]) {
        self = .object(types.map { .init(key: $0.name, value: .string($0.type.rawValue)) })
    }
}

extension OperationKind {
    /// Its name, which an interpolation would have to look up.
    fileprivate var name: String {
        switch self {
        case .insert: "insert"
        case .update: "update"
        case .delete: "delete"
        }
    }
}

extension SchemaStep {
    /// The step as text for people.
    fileprivate var text: String {
        switch self {
        case .renameColumn(let table, let from, let to): "\(table).\(from) → \(to)"
        case .dropColumn(let table, let column): "\(table).\(column) dropped"
        case .changeValues(let table, let column, let changes):
            "\(table).\(column): \(counted(UInt64(changes.count), "value")) changed"
        case .setType(let table, let column, let type): "\(table).\(column) is \(type.rawValue)"
        case .dropTable(let table): "\(table) dropped"
        }
    }
}

extension PulledPage {
    /// How many of its rows left because the right to them was lost.
    fileprivate var lostRights: Int { rows.count { $0.isByRight } }
}
