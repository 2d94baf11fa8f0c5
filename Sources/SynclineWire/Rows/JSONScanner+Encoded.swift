// Converts JSON values directly to the encoding of rows, without building anything in between.

import SynclineCore
import SynclineGround

extension JSONScanner {
    /// Reads the next value and writes its encoding.
    mutating func encodeValue(into writer: inout ByteWriter) throws(JSONError) {
        switch try peek() {
        case .string: try encodeString(into: &writer)
        case .number: try encodeNumber(into: &writer)
        default: writer.append(value: try value(depth: JSONScanner.columnDepth))
        }
    }

    /// The depth of a column's value in a list of rows.
    static let columnDepth = 2

    /// Reads the value of a date column: a string is written as a date, which is returned, if it can be parsed as
    /// one.
    mutating func encodeDate(into writer: inout ByteWriter) throws(JSONError) -> Timestamp? {
        let start = offset
        if try peek() == .string, let text = try plainString(),
            let date = Timestamp(utf8: text.bindMemory(to: UInt8.self))
        {
            writer.append(value: .date(date))
            return date
        }
        offset = start
        try encodeValue(into: &writer)
        return nil
    }

    private mutating func encodeString(into writer: inout ByteWriter) throws(JSONError) {
        if let text = try plainString() {
            writer.append(textValue: text)
        } else {
            writer.append(value: .string(try string()))
        }
    }

    private mutating func encodeNumber(into writer: inout ByteWriter) throws(JSONError) {
        let start = offset
        let (text, isInteger) = try number()
        if isInteger, let integer = JSONScanner.integer(text), integer != 0 || text.count == 1 {
            writer.append(integer: integer)
            return
        }
        offset = start
        writer.append(value: try value(depth: JSONScanner.columnDepth))
    }

    /// Nil if it does not fit.
    private static func integer(_ digits: UnsafeRawBufferPointer) -> Int64? {
        let isNegative = digits[0] == UInt8(ascii: "-")
        var number: Int64 = 0
        for byte in digits.dropFirst(isNegative ? 1 : 0) {
            let (product, isLarge) = number.multipliedReportingOverflow(by: 10)
            let digit = Int64(byte & 15)
            let (sum, isLarger) = product.subtractingReportingOverflow(digit)
            if isLarge || isLarger { return nil }
            number = sum
        }
        // Counted in negative numbers, of which there is one more.
        if isNegative { return number }
        return number == .min ? nil : -number
    }

    /// Moves past a string if it is exactly the given one with its quotes; otherwise reads nothing.
    mutating func skip(exactly text: UnsafeRawBufferPointer) -> Bool {
        skipSpaces()
        guard bytes.count - offset >= text.count else { return false }
        for index in 0..<text.count where bytes[offset + index] != text[index] { return false }
        offset += text.count
        return true
    }
}
