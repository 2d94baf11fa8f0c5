// Rows in the formats of other programs.

import SynclineCore
import SynclineInspect
import SynclineWire

/// Rows in the formats of other programs.
enum RowText {
    static func columns(_ rows: [StoredRow]) -> [String] {
        var names: [String] = []
        var known: Set<String> = []
        for row in rows {
            for name in row.columns.columns where known.insert(name).inserted { names.append(name) }
        }
        return names
    }

    static func text(_ value: Value) -> String {
        switch value {
        case .null: ""
        case .string(let text): text
        case .date, .bytes: String(value.json.dropFirst().dropLast())
        default: JSONValue(value).text
        }
    }

    /// A spreadsheet reads a text with such a beginning as a formula, unless an apostrophe comes before it.
    private static let formulaBeginnings: Set<Character> = ["=", "+", "-", "@", "\t", "\r"]

    private static func cell(_ value: Value) -> String {
        let text = text(value)
        guard case .string = value, let first = text.first, formulaBeginnings.contains(first) else { return text }
        return "'" + text
    }

    static func csv(_ rows: [StoredRow]) -> [String] {
        func quoted(_ text: String) -> String {
            guard text.contains(where: { ",\"\n\r".contains($0) }) else { return text }
            return "\"" + text.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
        }
        let names = columns(rows)
        let heading = (["id"] + names.map { cell(.string($0)) }).map(quoted).joined(separator: ",")
        return [heading]
            + rows.map { row in
                ([cell(.string(row.id))] + names.map { cell(row.columns[$0] ?? .null) }).map(quoted).joined(
                    separator: ",")
            }
    }
}

extension StoredRow {
    /// The row with each value replaced by its type and length.
    var redacted: StoredRow {
        StoredRow(
            id: id,
            columns: Row(
                columns.members.map { member in
                    switch JSONValue(member.value).redacted {
                    case .string(let text): .init(member.name, .string(text))
                    case let other: .init(member.name, .string(other.text))
                    }
                }))
    }
}
