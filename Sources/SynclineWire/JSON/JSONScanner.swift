// Reads JSON from bytes, one token after another, and builds nothing that is not requested. Strict: RFC 8259 and
// valid UTF-8 only. Numbers keep all their digits; one whose exponent has ten digits or more is an error.

import SynclineGround

/// Why bytes are not valid JSON, and where.
package struct JSONError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Reason: Hashable, Sendable {
        case endsEarly
        case unexpected(UInt8)
        case invalidUTF8
        case invalidEscape
        case controlCharacter
        case invalidNumber
        /// A number beyond what can be compared.
        case numberOutOfRange
        case tooDeep
        case trailingBytes
        case wrongShape(String)
    }

    /// The offset in bytes, from 0.
    package var offset: Int
    package var reason: Reason

    package init(offset: Int, reason: Reason) {
        self.offset = offset
        self.reason = reason
    }

    package var description: String { "\(reason.sentence) (byte \(offset))" }
}

extension JSONError.Reason {
    /// The reason for people, without the place.
    var sentence: String {
        switch self {
        case .endsEarly: "the JSON ends too early"
        case .unexpected(let byte): "unexpected byte 0x\(String(byte, radix: 16))"
        case .invalidUTF8: "the bytes are not UTF-8"
        case .invalidEscape: "an escape in a string is invalid"
        case .controlCharacter: "a string contains a control character"
        case .invalidNumber: "a number is malformed"
        case .numberOutOfRange: "a number has an exponent of ten digits or more"
        case .tooDeep: "the value nests deeper than \(JSONScanner.depthLimit)"
        case .trailingBytes: "there is something after the value"
        case .wrongShape(let what): what
        }
    }
}

/// A cursor over JSON text.
package struct JSONScanner {
    /// The kind of the next token.
    package enum Token: Hashable, Sendable {
        case object, array, string, number, bool, null
    }

    /// The maximum depth of nesting.
    package static let depthLimit = 128

    let bytes: UnsafeRawBufferPointer
    /// The offset of the next byte.
    package internal(set) var offset = 0
    /// Whether two members with the same name are an error; otherwise the last one counts.
    var refusesDuplicates = false

    /// Reads the given memory, which must outlive the scanner.
    package init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    func error(_ reason: JSONError.Reason, at offset: Int? = nil) -> JSONError {
        JSONError(offset: offset ?? self.offset, reason: reason)
    }

    @inline(__always)
    mutating func skipSpaces() {
        while offset < bytes.count, bytes[offset] <= 0x20 {
            switch bytes[offset] {
            case 0x20, 0x09, 0x0a, 0x0d: offset += 1
            default: return
            }
        }
    }

    /// Returns the kind of the next value.
    package mutating func peek() throws(JSONError) -> Token {
        skipSpaces()
        guard offset < bytes.count else { throw error(.endsEarly) }
        switch bytes[offset] {
        case UInt8(ascii: "{"): return .object
        case UInt8(ascii: "["): return .array
        case UInt8(ascii: "\""): return .string
        case UInt8(ascii: "-"), 0x30...0x39: return .number
        case UInt8(ascii: "t"), UInt8(ascii: "f"): return .bool
        case UInt8(ascii: "n"): return .null
        default: throw error(.unexpected(bytes[offset]))
        }
    }

    /// Throws if anything but white space follows.
    package mutating func finish() throws(JSONError) {
        skipSpaces()
        if offset < bytes.count { throw error(.trailingBytes) }
    }

    // MARK: Containers

    /// Enters an object or array; returns false and moves past it if it is empty.
    mutating func enter(_ open: Unicode.Scalar, _ close: Unicode.Scalar) throws(JSONError) -> Bool {
        try expect(open)
        return try !skip(close)
    }

    /// Moves past the comma before the next element; returns false after the last one.
    mutating func hasNext(_ close: Unicode.Scalar) throws(JSONError) -> Bool {
        if try skip(close) { return false }
        try expect(",")
        return true
    }

    /// Moves past an object. `body` is given the name of each member, and reads its value.
    mutating func forEachMember(
        _ body: (inout JSONScanner, String) throws(JSONError) -> Void
    ) throws(JSONError) {
        var more = try enter("{", "}")
        while more {
            let name = try string()
            try expect(":")
            try body(&self, name)
            more = try hasNext("}")
        }
    }

    @inline(__always)
    mutating func expect(_ sign: Unicode.Scalar) throws(JSONError) {
        guard try skip(sign) else { throw error(.unexpected(bytes[offset])) }
    }

    @inline(__always)
    private mutating func skip(_ sign: Unicode.Scalar) throws(JSONError) -> Bool {
        skipSpaces()
        guard offset < bytes.count else { throw error(.endsEarly) }
        guard bytes[offset] == UInt8(ascii: sign) else { return false }
        offset += 1
        return true
    }

    // MARK: Scalars

    mutating func word(_ word: StaticString) throws(JSONError) {
        let length = word.utf8CodeUnitCount
        guard bytes.count - offset >= length else { throw error(.endsEarly) }
        for index in 0..<length where bytes[offset + index] != word.utf8Start[index] {
            throw error(.unexpected(bytes[offset + index]), at: offset + index)
        }
        offset += length
    }

    /// Reads a number's text and whether it has the form of an integer.
    mutating func number() throws(JSONError) -> (text: UnsafeRawBufferPointer, isInteger: Bool) {
        let start = offset
        if offset < bytes.count, bytes[offset] == UInt8(ascii: "-") { offset += 1 }
        let first = offset
        guard skipDigits(), bytes[first] != 0x30 || offset == first + 1 else {
            throw error(.invalidNumber, at: start)
        }
        var isInteger = true
        if offset < bytes.count, bytes[offset] == UInt8(ascii: ".") {
            offset += 1
            isInteger = false
            guard skipDigits() else { throw error(.invalidNumber, at: start) }
        }
        if offset < bytes.count, bytes[offset] | 0x20 == UInt8(ascii: "e") {
            offset += 1
            isInteger = false
            if offset < bytes.count, bytes[offset] == UInt8(ascii: "+") || bytes[offset] == UInt8(ascii: "-") {
                offset += 1
            }
            guard skipDigits() else { throw error(.invalidNumber, at: start) }
        }
        return (UnsafeRawBufferPointer(rebasing: bytes[start..<offset]), isInteger)
    }

    private mutating func skipDigits() -> Bool {
        let start = offset
        while offset < bytes.count, bytes[offset] >= 0x30, bytes[offset] <= 0x39 { offset += 1 }
        return offset > start
    }

    /// Reads a string.
    package mutating func string() throws(JSONError) -> String {
        // These bytes have already been validated as UTF-8.
        if let text = try plainString() { return String(decoding: text, as: UTF8.self) }
        try expect("\"")
        return try stringWithEscapes(from: offset)
    }

    /// Returns a string's bytes in place, which are valid UTF-8; returns nil and reads nothing if the string has
    /// escapes. Nearly all strings have none.
    mutating func plainString() throws(JSONError) -> UnsafeRawBufferPointer? {
        skipSpaces()
        let begin = offset
        try expect("\"")
        let start = offset
        var isASCII = true
        while true {
            offset = bytes.endOfPlainJSON(from: offset)
            guard offset < bytes.count else { throw error(.endsEarly) }
            switch bytes[offset] {
            case UInt8(ascii: "\""):
                let text = UnsafeRawBufferPointer(rebasing: bytes[start..<offset])
                if !isASCII, String(validUTF8: text) == nil { throw error(.invalidUTF8, at: start) }
                offset += 1
                return text
            case UInt8(ascii: "\\"):
                offset = begin
                return nil
            case 0..<0x20: throw error(.controlCharacter)
            default:
                isASCII = false
                offset += 1
            }
        }
    }

    private func utf8(_ range: Range<Int>) throws(JSONError) -> String {
        guard let text = String(validUTF8: UnsafeRawBufferPointer(rebasing: bytes[range])) else {
            throw error(.invalidUTF8, at: range.lowerBound)
        }
        return text
    }

    private mutating func stringWithEscapes(from start: Int) throws(JSONError) -> String {
        var text = ""
        var plain = start
        while offset < bytes.count {
            switch bytes[offset] {
            case UInt8(ascii: "\""):
                text += try utf8(plain..<offset)
                offset += 1
                return text
            case UInt8(ascii: "\\"):
                text += try utf8(plain..<offset)
                text.unicodeScalars.append(try escape())
                plain = offset
            case 0..<0x20:
                throw error(.controlCharacter)
            default:
                offset += 1
            }
        }
        throw error(.endsEarly)
    }

    private mutating func escape() throws(JSONError) -> Unicode.Scalar {
        guard bytes.count - offset >= 2 else { throw error(.endsEarly) }
        let sign = bytes[offset + 1]
        offset += 2
        switch sign {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(sign)
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{c}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): return try unicodeEscape()
        default: throw error(.invalidEscape, at: offset - 2)
        }
    }

    /// Reads `\uXXXX`, or a surrogate pair of two; a single surrogate is an error.
    private mutating func unicodeEscape() throws(JSONError) -> Unicode.Scalar {
        let start = offset - 2
        let unit = try hexadecimal()
        if let scalar = Unicode.Scalar(unit) { return scalar }
        guard unit < 0xdc00, bytes.count - offset >= 6, bytes[offset] == UInt8(ascii: "\\"),
            bytes[offset + 1] == UInt8(ascii: "u")
        else { throw error(.invalidEscape, at: start) }
        offset += 2
        let second = try hexadecimal()
        guard (0xdc00...0xdfff).contains(second),
            let scalar = Unicode.Scalar(0x10000 + (UInt32(unit) - 0xd800) << 10 + UInt32(second) - 0xdc00)
        else { throw error(.invalidEscape, at: start) }
        return scalar
    }

    private mutating func hexadecimal() throws(JSONError) -> UInt16 {
        guard bytes.count - offset >= 4 else { throw error(.endsEarly) }
        var value: UInt16 = 0
        for index in offset..<offset + 4 {
            guard let digit = Hexadecimal.value(bytes[index]) else { throw error(.invalidEscape, at: index) }
            value = value << 4 | UInt16(digit)
        }
        offset += 4
        return value
    }
}
