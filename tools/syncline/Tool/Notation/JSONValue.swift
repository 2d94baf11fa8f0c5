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
    }

    package static func number(_ value: some FixedWidthInteger) -> JSONValue { .numeral(String(value)) }

    /// Returns a number with a fixed number of decimals.
    package static func number(_ value: Double, places: Int) -> JSONValue { .numeral(decimal(value, places: places)) }

    /// Returns a string, or null.
    package static func optional(_ text: String?) -> JSONValue { text.map(JSONValue.string) ?? .null }
}

extension JSONValue: ExpressibleByDictionaryLiteral, ExpressibleByArrayLiteral, ExpressibleByStringLiteral {
    /// The members that have a value.
    package init(dictionaryLiteral members: (String, JSONValue?)...) {
        self = .object(members.compactMap { key, value in value.map { Member(key: key, value: $0) } })
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
    package var text: String { String(decoding: utf8, as: UTF8.self) }

    /// The text in bytes.
    package var utf8: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(512)
        write(into: &bytes)
        return bytes
    }

    private func write(into bytes: inout [UInt8]) {
        switch self {
        case .null: bytes += "null".utf8
        case .boolean(let value): bytes += (value ? "true" : "false").utf8
        case .numeral(let numeral): bytes += numeral.utf8
        case .string(let string): JSONValue.quote(string, into: &bytes)
        case .array(let elements):
            bytes.append(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                element.write(into: &bytes)
            }
            bytes.append(UInt8(ascii: "]"))
        case .object(let members):
            bytes.append(UInt8(ascii: "{"))
            for (index, member) in members.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                JSONValue.quote(member.key, into: &bytes)
                bytes.append(UInt8(ascii: ":"))
                member.value.write(into: &bytes)
            }
            bytes.append(UInt8(ascii: "}"))
        }
    }

    /// Escapes control characters, including those above ASCII, so that the output is safe on a terminal.
    private static func quote(_ string: String, into bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        var string = string
        let isPlain = string.withUTF8 { utf8 in
            // Without an early end, the compiler looks at many bytes at once.
            var special: UInt8 = 0
            for byte in utf8 { special |= byte < 0x20 || byte >= 0x7f || byte == 0x22 || byte == 0x5c ? 1 : 0 }
            if special == 0 { bytes.append(contentsOf: utf8) }
            return special == 0
        }
        for scalar in isPlain ? "".unicodeScalars : string.unicodeScalars {
            switch scalar {
            case "\"": bytes += "\\\"".utf8
            case "\\": bytes += "\\\\".utf8
            case "\n": bytes += "\\n".utf8
            case "\r": bytes += "\\r".utf8
            case "\t": bytes += "\\t".utf8
            case _ where scalar.isUnsafeToShow: bytes += ("\\u" + Hexadecimal.text(scalar.value, digits: 4)).utf8
            default: bytes += scalar.utf8
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }
}
