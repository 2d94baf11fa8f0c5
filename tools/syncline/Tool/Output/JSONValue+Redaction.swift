// Replaces values by their type and length. Names of columns and tables and ids stay, so that addresses stay valid.

import SynclineCore

extension JSONValue {
    /// A value, which may be redacted.
    init(_ value: SynclineCore.Value, redacts: Bool) {
        let json = JSONValue(value)
        self = redacts ? json.redacted : json
    }

    /// A row, which may be redacted except for its id; null if there is none.
    static func row(_ id: String, _ columns: Row?, redacts: Bool = false) -> JSONValue {
        guard let columns else { return .null }
        let json = JSONValue(StoredRow(id: id, columns: columns))
        return redacts ? json.redactedRow : json
    }

    /// The value's type and length in its place: `text(4)`.
    var redacted: JSONValue {
        switch self {
        case .null: .null
        case .boolean: "bool"
        case .numeral(let text): .string("number(\(text.count))")
        case .string(let text): .string("text(\(text.count))")
        case .array(let elements): .array(elements.map(\.redacted))
        case .object(let members): .object(members.map { Member(key: $0.key, value: $0.value.redacted) })
        }
    }

    /// A row with redacted values, except for its id.
    private var redactedRow: JSONValue {
        guard case .object(let members) = self else { return redacted }
        return .object(members.map { $0.key == "id" ? $0 : Member(key: $0.key, value: $0.value.redacted) })
    }

    /// The value on lines of their own, members aligned below each other, for people and for pipes.
    func lines(_ indent: String = "") -> [String] {
        switch self {
        case .object(let members) where !members.isEmpty:
            members.flatMap { member -> [String] in
                let name = indent + escaped(member.key)
                guard member.value.isNested else { return ["\(name): \(member.value.shownText)"] }
                return [name + ":"] + member.value.lines(indent + "  ")
            }
        case .array(let elements) where elements.contains(where: \.isNested):
            elements.flatMap { element -> [String] in
                var lines = element.lines(indent + "  ")
                if let first = lines.first { lines[0] = indent + "- " + first.dropFirst(indent.count + 2) }
                return lines
            }
        default: [indent + shownText]
        }
    }

    private var isNested: Bool {
        switch self {
        case .object(let members): !members.isEmpty
        case .array(let elements): elements.contains(where: \.isNested)
        default: false
        }
    }

    private var shownText: String {
        switch self {
        case .string(let text): escaped(text)
        case .array(let elements): elements.isEmpty ? "none" : elements.map(\.shownText).joined(separator: ", ")
        case .null: "–"
        default: text
        }
    }
}
