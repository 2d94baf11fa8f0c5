// The compact encoding of one value. A tag says what follows; small integers and short strings are part of the tag.
// Strings of frequent forms (UUIDs, instants, hexadecimal, base64 with padding) are stored as what they mean, and decode to the same
// string.
//
//   00 null · 01 false · 02 true · 03 integer (zigzag) · 04 double (8) · 05 text (length) · 06 date · 07 bytes (length)
//   08 array (count) · 09 object (count) · 0a uuid text (16) · 0b UUID text (16) · 0c instant text (zigzag ms)
//   0d hexadecimal text (length in bytes) · 0e number as it is spelled (length) · 0f base64 text (length in bytes)
//   40…7f integer 0…63 · 80…ff text of 0…127 bytes
//
// A value has one encoding, so equal bytes are equal values.

package import SynclineGround

package enum ValueTag {
    package static let null: UInt8 = 0
    package static let no: UInt8 = 1
    package static let yes: UInt8 = 2
    static let integer: UInt8 = 3
    static let double: UInt8 = 4
    static let text: UInt8 = 5
    static let date: UInt8 = 6
    static let bytes: UInt8 = 7
    package static let array: UInt8 = 8
    package static let object: UInt8 = 9
    static let lowerUUID: UInt8 = 10
    static let upperUUID: UInt8 = 11
    static let instant: UInt8 = 12
    static let hexadecimal: UInt8 = 13
    static let spelledNumber: UInt8 = 14
    static let base64: UInt8 = 15
    static let smallInteger: UInt8 = 0x40
    package static let shortText: UInt8 = 0x80

    /// Whether a tag is that of a string, in any form.
    static func isText(_ tag: UInt8) -> Bool {
        switch tag {
        case shortText..., text, lowerUUID, upperUUID, instant, hexadecimal, base64: true
        default: false
        }
    }
}

extension Value {
    /// The encoded value. Strings and integers have the same bytes only if they are equal, scalar by scalar.
    package var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.append(value: self)
        return writer.bytes
    }
}

/// The maximum depth of nested values.
package let valueDepthLimit = 128

extension ByteWriter {
    package mutating func append(value: Value) {
        switch value {
        case .null: append(ValueTag.null)
        case .bool(let flag): append(flag ? ValueTag.yes : ValueTag.no)
        case .integer(let number): append(integer: number)
        case .double(let number):
            append(ValueTag.double)
            append(fixed: number.bitPattern)
        case .number(let number):
            append(ValueTag.spelledNumber)
            append(text: number.spelling)
        case .string(let text): append(textValue: text)
        case .date(let date): append(date: date)
        case .bytes(let content):
            append(ValueTag.bytes)
            append(counted: content)
        case .array(let elements):
            append(ValueTag.array)
            append(varint: elements.count)
            for element in elements { append(value: element) }
        case .object(let members):
            append(ValueTag.object)
            append(varint: members.count)
            for member in members {
                append(text: member.name)
                append(value: member.value)
            }
        }
    }

    package mutating func append(integer number: Int64) {
        if (0..<64).contains(number) {
            append(ValueTag.smallInteger | UInt8(number))
        } else {
            append(ValueTag.integer)
            append(zigzag: number)
        }
    }

    mutating func append(textValue text: String) {
        var text = text
        text.withUTF8 { append(textValue: UnsafeRawBufferPointer($0)) }
    }

    /// Appends a string value, given as UTF-8.
    package mutating func append(textValue utf8: UnsafeRawBufferPointer) {
        if let form = TextForm(utf8) { return append(form: form, of: utf8) }
        if utf8.count < 128 {
            append(ValueTag.shortText | UInt8(utf8.count))
            append(utf8)
        } else {
            append(ValueTag.text)
            append(counted: utf8)
        }
    }

    private mutating func append(form: TextForm, of utf8: UnsafeRawBufferPointer) {
        switch form {
        case .uuid(let uuid):
            append(uuid.isUpper ? ValueTag.upperUUID : ValueTag.lowerUUID)
            append(uuid)
        case .hexadecimal:
            append(ValueTag.hexadecimal)
            append(varint: utf8.count / 2)
            append(hexadecimal: utf8)
        case .instant(let milliseconds):
            append(ValueTag.instant)
            append(zigzag: milliseconds)
        case .base64:
            append(ValueTag.base64)
            withTextMemory(utf8.count) { memory in
                let count = Base64.decode(utf8, into: UnsafeMutableRawBufferPointer(memory)) ?? 0
                append(varint: count)
                append(memory.filled(count))
            }
        }
    }

    private mutating func append(date: Timestamp) {
        append(ValueTag.date)
        append(zigzag: date.instant.seconds)
        append(varint: UInt64(date.instant.nanoseconds))
        append(date.decimals)
        switch date.zone {
        case .utc: append(0)
        case .none: append(1)
        case .dateOnly: append(2)
        case .offset(let minutes):
            append(3)
            append(zigzag: Int64(minutes))
        }
    }
}

extension ByteReader {
    package mutating func value(depth: Int = 0) throws(MalformedBytes) -> Value {
        let tag = try byte()
        if tag >= ValueTag.shortText { return .string(try text(of: try take(Int(tag & 0x7f)))) }
        if tag >= ValueTag.smallInteger { return .integer(Int64(tag & 0x3f)) }
        switch tag {
        case ValueTag.null: return .null
        case ValueTag.no: return .bool(false)
        case ValueTag.yes: return .bool(true)
        case ValueTag.integer: return .integer(try zigzag())
        case ValueTag.double: return .double(Double(bitPattern: try fixed()))
        case ValueTag.text: return .string(try text())
        case ValueTag.date: return .date(try date())
        case ValueTag.bytes: return .bytes([UInt8](try counted()))
        case ValueTag.array:
            guard depth < valueDepthLimit else { throw MalformedBytes() }
            var elements: [Value] = []
            for _ in 0..<(try count()) { elements.append(try value(depth: depth + 1)) }
            return .array(elements)
        case ValueTag.object:
            guard depth < valueDepthLimit else { throw MalformedBytes() }
            var members: [Value.Member] = []
            for _ in 0..<(try count()) {
                let name = try text()
                members.append(.init(name, try value(depth: depth + 1)))
            }
            return .object(members)
        case ValueTag.lowerUUID: return .string(TextForm.text(ofUUID: try take(16), isUpper: false))
        case ValueTag.upperUUID: return .string(TextForm.text(ofUUID: try take(16), isUpper: true))
        case ValueTag.instant: return .string(TextForm.text(ofMilliseconds: try zigzag()))
        case ValueTag.hexadecimal: return .string(Hexadecimal.text(of: try counted()))
        case ValueTag.base64: return .string(TextForm.text(ofBase64: try counted()))
        case ValueTag.spelledNumber:
            // Any other number has an encoding of its own.
            guard let value = Value(number: try text()), case .number = value else { throw MalformedBytes() }
            return value
        default: throw MalformedBytes()
        }
    }

    /// Calls `body` with the UTF-8 of the next value, if it is a string in any form, and steps over it. Returns nil
    /// and reads nothing if it is another kind of value.
    package mutating func withText<Result>(
        _ body: (UnsafeRawBufferPointer) -> Result
    ) throws(MalformedBytes) -> Result? {
        guard !isAtEnd else { throw MalformedBytes() }
        let (tag, start) = (bytes[offset], self)
        if tag >= ValueTag.shortText {
            try skip(1)
            return body(try utf8(Int(tag & 0x7f)))
        }
        try skip(1)
        switch tag {
        case ValueTag.text: return body(try utf8(try count()))
        case ValueTag.lowerUUID, ValueTag.upperUUID:
            let digits = try take(16)
            return withTextMemory(36) { memory in
                body(memory.filled(TextForm.write(uuid: digits, isUpper: tag == ValueTag.upperUUID, memory)))
            }
        case ValueTag.instant: return TextForm.moment(try zigzag()).withText(body)
        case ValueTag.hexadecimal:
            let digits = try counted()
            return withTextMemory(digits.count * 2) { memory in
                body(memory.filled(Hexadecimal.write(digits, into: memory)))
            }
        case ValueTag.base64:
            let bytes = try counted()
            return withTextMemory(Base64.length(of: bytes.count)) { memory in
                body(memory.filled(Base64.write(bytes, into: memory)))
            }
        default:
            self = start
            return nil
        }
    }

    private mutating func utf8(_ length: Int) throws(MalformedBytes) -> UnsafeRawBufferPointer {
        let text = try take(length)
        guard text.isUTF8 else { throw MalformedBytes() }
        return text
    }

    private mutating func date() throws(MalformedBytes) -> Timestamp {
        let seconds = try zigzag()
        let nanoseconds = try varint()
        let decimals = try byte()
        guard nanoseconds < 1_000_000_000, decimals <= 9 else { throw MalformedBytes() }
        let zone: Timestamp.Zone
        switch try byte() {
        case 0: zone = .utc
        case 1: zone = .none
        case 2: zone = .dateOnly
        case 3: zone = .offset(Int16(truncatingIfNeeded: try zigzag()))
        default: throw MalformedBytes()
        }
        return Timestamp(
            .init(seconds: seconds, nanoseconds: UInt32(nanoseconds)), decimals: decimals, zone: zone)
    }

    /// Steps over a short string or a small integer, as most values are; returns false at any other value.
    @inline(__always)
    mutating func skipShortValue() -> Bool {
        guard !isAtEnd else { return false }
        let tag = bytes[offset]
        guard tag >= ValueTag.smallInteger || tag <= ValueTag.yes else { return false }
        let length = tag >= ValueTag.shortText ? Int(tag & 0x7f) + 1 : 1
        guard length <= remaining else { return false }
        offset += length
        return true
    }

    /// Whether the next value is null.
    package var isAtNull: Bool { !isAtEnd && bytes[offset] == ValueTag.null }

    /// Whether the next value is a double of zero, with either sign.
    package var isAtZero: Bool {
        remaining >= 9 && bytes[offset] == ValueTag.double
            && UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset + 1, as: UInt64.self)) & ~(1 << 63) == 0
    }

    /// Steps over a value without decoding it.
    package mutating func skipValue(depth: Int = 0) throws(MalformedBytes) {
        let tag = try byte()
        if tag >= ValueTag.shortText { return try skip(Int(tag & 0x7f)) }
        if tag >= ValueTag.smallInteger { return }
        switch tag {
        case ValueTag.null, ValueTag.no, ValueTag.yes: return
        case ValueTag.integer, ValueTag.instant: _ = try varint()
        case ValueTag.double: try skip(8)
        case ValueTag.text, ValueTag.bytes, ValueTag.hexadecimal, ValueTag.base64, ValueTag.spelledNumber:
            _ = try counted()
        case ValueTag.lowerUUID, ValueTag.upperUUID: try skip(16)
        case ValueTag.date: _ = try date()
        case ValueTag.array, ValueTag.object:
            guard depth < valueDepthLimit else { throw MalformedBytes() }
            for _ in 0..<(try count()) {
                if tag == ValueTag.object { _ = try counted() }
                try skipValue(depth: depth + 1)
            }
        default: throw MalformedBytes()
        }
    }
}
