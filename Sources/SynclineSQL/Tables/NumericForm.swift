// The number that SQL reads in a string. It compares a string with an expression of a numeric type, such as
// `cast(? as integer)`, as a number if the string looks like one. The type of the other side is not known to a table.

import SynclineCore

/// What a string is as a number.
enum NumericForm: Hashable {
    /// It does not look like a number.
    case none
    /// An integer in digits alone.
    case integer(Int64)
    /// A number in another form.
    case other

    init(_ utf8: UnsafeRawBufferPointer) {
        self = .none
        // Most strings begin with a letter.
        guard let first = utf8.first, first <= UInt8(ascii: "9") else { return }
        var start = 0
        var end = utf8.count
        while start < end, NumericForm.isSpace(utf8[start]) { start += 1 }
        while start < end, NumericForm.isSpace(utf8[end - 1]) { end -= 1 }
        let text = UnsafeRawBufferPointer(rebasing: utf8[start..<end])
        guard let isInteger = NumericForm.grammar(text) else { return }
        let integer = isInteger ? Int64(String(decoding: text, as: UTF8.self)) : nil
        self = integer.map(NumericForm.integer) ?? .other
    }

    /// The number; nil if a string does not look like one.
    static func number(in text: String) -> Value? {
        var text = text
        switch text.withUTF8({ NumericForm(UnsafeRawBufferPointer($0)) }) {
        case .none: return nil
        case .integer(let number): return .integer(number)
        case .other:
            let digits = text.utf8.drop(while: isSpace).reversed().drop(while: isSpace).reversed()
            return Double(String(decoding: digits, as: UTF8.self)).map(Value.double)
        }
    }

    /// Whether a string is an integer; nil if it is not a number: a sign, digits, a point, more digits, and an exponent.
    private static func grammar(_ text: UnsafeRawBufferPointer) -> Bool? {
        var place = 0
        func next(_ signs: StaticString) -> Bool {
            place < text.count && (0..<signs.utf8CodeUnitCount).contains { signs.utf8Start[$0] == text[place] }
        }
        func digits() -> Int {
            let start = place
            while next("0123456789") { place += 1 }
            return place - start
        }
        if next("+-") { place += 1 }
        var count = digits()
        var isInteger = true
        if next(".") {
            place += 1
            isInteger = false
            count += digits()
        }
        if count == 0 { return nil }
        if next("eE") {
            place += 1
            isInteger = false
            if next("+-") { place += 1 }
            if digits() == 0 { return nil }
        }
        return place == text.count ? isInteger : nil
    }

    /// The spaces of C.
    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0d).contains(byte) }
}
