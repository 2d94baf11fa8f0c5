// The changes of a row, for people and for programs.

import SynclineCore

extension RowDifference {
    var change: String { before == nil ? "added" : after == nil ? "removed" : "changed" }

    /// The fields as people read them.
    func shownFields(redacts: Bool = false) -> [(name: String, before: String, after: String)] {
        func shown(_ value: Value?) -> String { value.map { JSONValue($0, redacts: redacts).text } ?? "–" }
        return fields.map { (escaped($0.name), shown($0.before), shown($0.after)) }
    }

    /// The row, and its fields on lines of their own.
    func lines(_ style: TextStyle, redacts: Bool = false) -> [String] {
        let role: TextRole = before == nil ? .good : after == nil ? .bad : .warning
        return [style.paint(change, role) + " " + escaped("\(table)/\(id)")]
            + shownFields(redacts: redacts).map { name, old, new in
                "  \(name): \(style.paint(old, .bad)) → \(style.paint(new, .good))"
            }
    }

    func json(redacts: Bool = false) -> JSONValue {
        func shown(_ value: Value?) -> JSONValue { value.map { JSONValue($0, redacts: redacts) } ?? .null }
        return [
            "table": .string(table), "id": .string(id), "change": .string(change),
            "fields": .array(
                fields.map {
                    ["name": .string($0.name), "before": shown($0.before), "after": shown($0.after)]
                }),
        ]
    }
}
