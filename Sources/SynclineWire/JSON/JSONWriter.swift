// Writes values as JSON. Integers keep all digits, doubles their shortest form that reads back the same, dates the text
// they came as, bytes base64.

package import SynclineCore

/// Builds JSON text in UTF-8.
package struct JSONWriter {
    package private(set) var bytes: [UInt8] = []

    package init() {}

    package mutating func write(_ value: Value) {
        switch value {
        case .null: raw("null")
        case .bool(let flag): raw(flag ? "true" : "false")
        case .integer(let number): raw(String(number))
        case .double(let number): raw("\(number)")
        case .string(let text): write(string: text)
        case .date(let date): write(string: date.description)
        case .bytes(let content): write(string: Base64.encode(content))
        case .array(let elements):
            bytes.append(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                write(element)
            }
            bytes.append(UInt8(ascii: "]"))
        case .object(let members):
            write(members: members)
        }
    }

    package mutating func write(members: some Sequence<Value.Member>) {
        bytes.append(UInt8(ascii: "{"))
        append(members: members, isFirst: true)
        bytes.append(UInt8(ascii: "}"))
    }

    /// A row as an object, with its id in front where there is one.
    package mutating func write(row: Row, id: String?) {
        bytes.append(UInt8(ascii: "{"))
        if let id { append(members: CollectionOfOne(Value.Member("id", .string(id))), isFirst: true) }
        append(members: row.members, isFirst: id == nil)
        bytes.append(UInt8(ascii: "}"))
    }

    private mutating func append(members: some Sequence<Value.Member>, isFirst: Bool) {
        var isFirst = isFirst
        for member in members {
            if !isFirst { bytes.append(UInt8(ascii: ",")) }
            isFirst = false
            write(string: member.name)
            bytes.append(UInt8(ascii: ":"))
            write(member.value)
        }
    }

    package mutating func raw(_ text: String) {
        bytes.append(contentsOf: text.utf8)
    }

    private mutating func write(string text: String) {
        var text = text
        bytes.append(UInt8(ascii: "\""))
        text.withUTF8 { utf8 in
            var plain = 0
            for (index, byte) in utf8.enumerated() {
                guard byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") else { continue }
                bytes.append(contentsOf: utf8[plain..<index])
                plain = index + 1
                escape(byte)
            }
            bytes.append(contentsOf: utf8[plain...])
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private mutating func escape(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""): raw("\\\"")
        case UInt8(ascii: "\\"): raw("\\\\")
        case 0x0a: raw("\\n")
        case 0x0d: raw("\\r")
        case 0x09: raw("\\t")
        default:
            raw("\\u00")
            bytes.append(JSONWriter.digit(byte >> 4))
            bytes.append(JSONWriter.digit(byte & 15))
        }
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? 0x30 + value : 0x61 + value - 10
    }
}

extension Value {
    /// The value's JSON text.
    package var json: String {
        var writer = JSONWriter()
        writer.write(self)
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}
