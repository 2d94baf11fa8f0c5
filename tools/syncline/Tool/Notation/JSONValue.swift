// JSON as commands print it: keys keep their order and numbers are exact; there is no parser. It avoids Foundation, so
// that the command starts in a few milliseconds.

import SynclineGround

/// A JSON value whose objects keep the order of their keys.
package enum JSONValue: Hashable, Sendable {
    case null
    case boolean(Bool)
    /// A number as it is to be written.
    case numeral(String)
    case string(String)
    case array([JSONValue])
    case object([Member])

    /// A key and its value.
    package struct Member: Hashable, Sendable {
        package var key: String
        package var value: JSONValue

        package init(key: String, value: JSONValue) {
            self.key = key
            self.value = value
        }
    }

    package static func number(_ value: some FixedWidthInteger) -> JSONValue { .numeral(String(value)) }

    /// Returns a number with a fixed number of decimals.
    package static func number(_ value: Double, places: Int) -> JSONValue { .numeral(decimal(value, places: places)) }

    /// Returns a string, or null.
    package static func optional(_ text: String?) -> JSONValue { text.map(JSONValue.string) ?? .null }
}

extension JSONValue: ExpressibleByDictionaryLiteral, ExpressibleByArrayLiteral, ExpressibleByStringLiteral {
    package init(dictionaryLiteral members: (String, JSONValue)...) {
        self = .object(members.map { Member(key: $0.0, value: $0.1) })
    }

    package init(arrayLiteral elements: JSONValue...) {
        self = .array(elements)
    }

    package init(stringLiteral text: String) {
        self = .string(text)
    }
}

extension JSONValue {
    /// Returns an object with further members appended; keys without a value are left out.
    package func adding(_ members: KeyValuePairs<String, JSONValue?>) -> JSONValue {
        guard case .object(var all) = self else { return self }
        for (key, value) in members {
            if let value { all.append(Member(key: key, value: value)) }
        }
        return .object(all)
    }

    /// Returns an object with the members of another one appended.
    package func adding(membersOf other: JSONValue) -> JSONValue {
        guard case .object(let all) = self, case .object(let members) = other else { return self }
        return .object(all + members)
    }

    /// The value as JSON on one line.
    package var text: String {
        var text = ""
        write(into: &text)
        return text
    }

    private func write(into text: inout String) {
        switch self {
        case .null: text += "null"
        case .boolean(let value): text += value ? "true" : "false"
        case .numeral(let numeral): text += numeral
        case .string(let string): JSONValue.quote(string, into: &text)
        case .array(let elements):
            text += "["
            for (index, element) in elements.enumerated() {
                if index > 0 { text += "," }
                element.write(into: &text)
            }
            text += "]"
        case .object(let members):
            text += "{"
            for (index, member) in members.enumerated() {
                if index > 0 { text += "," }
                JSONValue.quote(member.key, into: &text)
                text += ":"
                member.value.write(into: &text)
            }
            text += "}"
        }
    }

    /// Escapes control characters, including those above ASCII, so that the output is safe on a terminal.
    private static func quote(_ string: String, into text: inout String) {
        text += "\""
        for scalar in string.unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case "\n": text += "\\n"
            case "\r": text += "\\r"
            case "\t": text += "\\t"
            case _ where scalar.isUnsafeToShow: text += "\\u" + Hexadecimal.text(scalar.value, digits: 4)
            default: text.unicodeScalars.append(scalar)
            }
        }
        text += "\""
    }
}
