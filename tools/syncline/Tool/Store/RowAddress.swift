// The address of a row, and everything that a state holds of it.

import SynclineCore

/// A row as a person names it: `TodoItem/7f3a`, with `@41` or `@2026-05-19T21:30Z` as of then.
struct RowAddress {
    let table: String
    let id: String
    let moment: String?

    init(_ text: String) throws(ToolError) {
        guard let slash = text.firstIndex(of: "/") else {
            throw .usage(
                "`\(escaped(text))` is not a valid address",
                hint: "Write @41, TodoItem/7f3a, TodoItem/7f3a@41 or ~3.")
        }
        table = String(text[..<slash])
        let rest = text[text.index(after: slash)...]
        if let at = rest.lastIndex(of: "@"), let moment = Moment.text(after: rest[at...]) {
            id = String(rest[..<at])
            self.moment = moment
        } else {
            id = String(rest)
            moment = nil
        }
    }
}

/// Everything that the state holds of a row.
enum EntrySummary {
    static func json(_ entry: RowEntry, _ id: String, redacts: Bool = false) -> JSONValue {
        let id = entry.spelling ?? id
        func row(_ columns: Row?) -> JSONValue { .row(id, columns, redacts: redacts) }
        let columns = entry.pending.map { JSONValue($0.overlay) } ?? .null
        return [
            "row": row(entry.visible), "base": row(entry.base),
            "pending": entry.pending.map { .optional($0.operation.map { "\($0.kind)" }) } ?? .null,
            "columns": redacts ? columns.redacted : columns,
            "frozen": entry.pending?.frozen.map { frozen in
                [
                    "kind": .string("\(frozen.kind)"), "status": .string("\(frozen.status)"),
                    "operationId": .string(frozen.operationID), "maybeSent": .boolean(frozen.maybeSent),
                    "undelete": .boolean(frozen.revival != nil), "failures": .number(frozen.failures),
                    "base": row(frozen.ancestor), "server": row(frozen.server), "code": .optional(frozen.code),
                ]
            } ?? .null,
        ]
    }
}
