// Writes values as JSON. Integers keep all digits, doubles have the shortest form that reads back the same, other
// numbers and dates keep their original form, and bytes are base64. Rows are written directly from their encoding.

package import SynclineCore
package import SynclineGround

/// Builds JSON text in UTF-8. Copies share the text; only one of them may be written to.
package struct JSONWriter {
    private var output: ByteWriter

    package init(capacity: Int = 256) {
        output = ByteWriter(capacity: capacity)
    }

    /// A copy of the text.
    package var bytes: [UInt8] { output.bytes }

    /// The number of bytes written.
    package var count: Int { output.count }

    /// Removes what follows the first `count` bytes.
    package mutating func truncate(to count: Int) { output.truncate(to: count) }

    package mutating func write(_ value: Value) {
        switch value {
        case .null: raw("null")
        case .bool(let flag): raw(flag ? "true" : "false")
        case .integer(let number): raw(String(number))
        // JSON has no other numbers. A damaged log may have them.
        case .double(let number): raw(number.isFinite ? "\(number)" : "null")
        case .number(let number): raw(number.spelling)
        case .string(let text): write(string: text)
        case .date(let date): date.withText { write(utf8: $0) }
        case .bytes(let content): write(string: Base64.encode(content))
        case .array(let elements):
            raw("[")
            for (index, element) in elements.enumerated() {
                if index > 0 { raw(",") }
                write(element)
            }
            raw("]")
        case .object(let members):
            write(members: members)
        }
    }

    package mutating func write(members: some Sequence<Value.Member>) {
        var object = beginObject()
        for member in members { write(member.name, member.value, in: &object) }
        end(object)
    }

    /// Writes a row as an object, beginning with its id if it has one.
    package mutating func write(row: Row, id: String?) {
        var object = beginObject()
        if let id { write("id", .string(id), in: &object) }
        write(columns: row, in: &object)
        end(object)
    }

    // MARK: Objects

    /// An object being written.
    package struct Object {
        fileprivate var isEmpty = true
    }

    package mutating func beginObject() -> Object {
        raw("{")
        return Object()
    }

    package mutating func write(_ name: String, _ value: Value, in object: inout Object) {
        begin(name, in: &object)
        write(value)
    }

    /// Writes a row's columns, all or those with some names.
    package mutating func write(columns row: Row, selecting names: Set<ExactString>? = nil, in object: inout Object) {
        row.withView { view in
            var reader = ByteReader(view.bytes)
            for name in view.shape.names {
                if let names, !names.contains(name) {
                    _ = try? reader.skipValue()
                    continue
                }
                begin(name, in: &object)
                do throws(MalformedBytes) { try write(encoded: &reader) } catch { raw("null") }
            }
        }
    }

    package mutating func end(_ object: consuming Object) {
        raw("}")
    }

    private mutating func begin(_ name: String, in object: inout Object) {
        if !object.isEmpty { raw(",") }
        object.isEmpty = false
        write(string: name)
        raw(":")
    }

    /// Writes the next value of an encoding.
    private mutating func write(encoded reader: inout ByteReader) throws(MalformedBytes) {
        if try reader.withText({ write(utf8: $0) }) == nil { write(try reader.value()) }
    }

    // MARK: Strings

    package mutating func raw(_ text: String) {
        var text = text
        text.withUTF8 { output.append(UnsafeRawBufferPointer($0)) }
    }

    private mutating func write(string text: String) {
        var text = text
        text.withUTF8 { write(utf8: UnsafeRawBufferPointer($0)) }
    }

    private mutating func write(utf8: UnsafeRawBufferPointer) {
        output.append(UInt8(ascii: "\""))
        var (plain, index) = (0, 0)
        while true {
            index = utf8.endOfPlainJSON(from: index)
            guard index < utf8.count else { break }
            if utf8[index] < 0x80 {
                output.append(UnsafeRawBufferPointer(rebasing: utf8[plain..<index]))
                escape(utf8[index])
                plain = index + 1
            }
            index += 1
        }
        output.append(UnsafeRawBufferPointer(rebasing: utf8[plain...]))
        output.append(UInt8(ascii: "\""))
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
            output.append(Hexadecimal.digit(byte >> 4))
            output.append(Hexadecimal.digit(byte & 15))
        }
    }
}

extension Value {
    /// The value as JSON.
    package var json: String {
        var writer = JSONWriter(capacity: 64)
        writer.write(self)
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}
