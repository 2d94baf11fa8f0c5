// Rows as CSV. The form of a cell says what it holds, so that `import` reads what `export` wrote: without quotes a
// number, true, false or nothing, and a string otherwise. An apostrophe before a string is a mark: a spreadsheet does not
// read it as a formula, and an import does not read it as an array or an object.

package import SynclineCore
import SynclineGround
import SynclineWire

package enum CSVText {
    package static func heading(_ columns: [String]) -> String {
        (["id"] + columns).map { cell($0) }.joined(separator: ",")
    }

    package static func line(_ row: StoredRow, _ columns: [String]) -> String {
        ([cell(row.id)] + columns.map { cell(row.columns[$0] ?? .null) }).joined(separator: ",")
    }

    /// Objects as lines beneath the names of their members, in the order of their first appearance.
    package static func table(_ elements: [Value]) -> String {
        var columns: [String] = []
        var known: Set<ExactString> = []
        let rows = elements.map { element -> Value in
            if case .object = element { element } else { .object([Value.Member("value", element)]) }
        }
        for case .object(let members) in rows {
            for member in members where known.insert(ExactString(member.name)).inserted { columns.append(member.name) }
        }
        let lines = [columns.map { cell($0) }] + rows.map { row in columns.map { cell(row[member: $0] ?? .null) } }
        return lines.map { $0.joined(separator: ",") + "\n" }.joined()
    }

    private static func cell(_ value: Value) -> String {
        switch value {
        case .null: ""
        case .string, .date, .bytes: cell(value.plainText)
        default: quoted(value.plainText, always: false)
        }
    }

    private static func cell(_ text: String) -> String {
        let marked = needsMark(text) ? "'" + text : text
        return quoted(marked, always: text.isEmpty || plain(marked) != nil)
    }

    private static func quoted(_ text: String, always: Bool) -> String {
        guard always || text.unicodeScalars.contains(where: { ",\"\n\r".unicodeScalars.contains($0) }) else {
            return text
        }
        return text.quoted(by: "\"")
    }

    // MARK: What a cell holds

    /// The value of a cell; nil if it holds none.
    static func value(_ text: String, isQuoted: Bool) -> Value? {
        if !isQuoted {
            if text.isEmpty { return nil }
            if let value = plain(text) { return value }
        }
        return nested(text) ?? .string(unmarked(text))
    }

    /// A string as it was before it got a mark.
    static func unmarked(_ text: String) -> String {
        text.hasPrefix("'") && needsMark(text) ? String(text.dropFirst()) : text
    }

    /// A spreadsheet reads a string with such a beginning as a formula.
    private static let formulaBeginnings: Set<Unicode.Scalar> = ["=", "+", "-", "@", "\t", "\r"]

    /// Whether a string gets a mark; one that begins with marks gets another one if it would need one without them.
    private static func needsMark(_ text: String) -> Bool {
        let bare = text.unicodeScalars.drop { $0 == "'" }
        return bare.first.map(formulaBeginnings.contains) ?? false || nested(String(bare)) != nil
    }

    /// The number, true or false that a cell without quotes holds.
    private static func plain(_ text: String) -> Value? {
        switch try? Value(json: text.utf8) {
        case .some(.integer(let number)): .integer(number)
        case .some(.double(let number)): .double(number)
        case .some(.number(let number)): .number(number)
        case .some(.bool(let truth)): .bool(truth)
        default: nil
        }
    }

    /// The array or object that a string would be read as.
    private static func nested(_ text: String) -> Value? {
        guard let first = text.utf8.first, first == UInt8(ascii: "{") || first == UInt8(ascii: "[") else { return nil }
        return try? Value(json: text.utf8)
    }
}

extension Value {
    /// A string as it is, nothing for null, and JSON for anything else.
    package var plainText: String {
        switch self {
        case .null: ""
        case .string(let text): text
        case .date, .bytes: String(json.dropFirst().dropLast())
        default: json
        }
    }
}
