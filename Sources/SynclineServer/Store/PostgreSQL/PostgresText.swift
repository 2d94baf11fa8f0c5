// Values in PostgreSQL's text form. A column of type numeric stores integers, doubles and decimals: a double is written
// with a decimal point, which the type keeps, and this distinguishes it from an integer.

import SynclineCore
import SynclineTables

extension SQLValue {
    /// The text of a bound value; nil for null.
    var postgresText: String? {
        switch self {
        case .null: nil
        case .bool(let flag): flag ? "t" : "f"
        case .integer(let number): String(number)
        case .double(let number): SQLValue.decimal(number)
        case .text(let text), .decimal(let text), .uuid(let text), .json(let text): text
        case .date(let instant): Timestamp(kept: instant).description
        }
    }

    /// All digits, with a decimal point.
    static func decimal(_ number: Double) -> String {
        let text = "\(number)"
        guard let mark = text.firstIndex(of: "e"), let exponent = Int(text[text.index(after: mark)...]), exponent > 0
        else { return text }
        let isNegative = text.hasPrefix("-")
        let sides = text[..<mark].drop { $0 == "-" }.split(separator: ".")
        let fraction = sides.count > 1 ? String(sides[1]) : ""
        // Only numbers without a fraction have such a large exponent.
        let zeros = String(repeating: "0", count: max(0, exponent - fraction.count))
        return (isNegative ? "-" : "") + sides[0] + fraction + zeros + ".0"
    }

    /// Reads a value by its type's OID.
    init(postgresText text: String, type: UInt32) {
        switch type {
        case 16: self = .bool(text == "t")
        case 20, 21, 23: self = Int64(text).map { .integer($0) } ?? .text(text)
        case 700, 701: self = Double(text).map { SQLValue(number: $0) } ?? .text(text)
        case 1700:
            let isNumber = text.utf8.last.map { $0 &- 0x30 < 10 } ?? false
            self = isNumber ? Int64(text).map { .integer($0) } ?? .decimal(text) : .text(text)
        case 1114, 1184: self = .text(SQLValue.moment(text))
        case 114, 3802: self = .json(text)
        default: self = .text(text)
        }
    }

    /// Whether a type, by its OID, is one of strings.
    static func isPostgresText(_ type: UInt32) -> Bool { type == 25 || type == 1043 }

    /// Converts `2026-05-19 21:30:00.12+00` to the usual form of moments. Years before the first and infinite times
    /// stay unchanged.
    private static func moment(_ text: String) -> String {
        if text.hasSuffix("infinity") || text.hasSuffix("BC") { return text }
        let utc = text.hasSuffix("+00") ? text.dropLast(3) : text[...]
        return utc.replacing(" ", with: "T") + "Z"
    }
}

extension Timestamp.Instant {
    /// Reads `2026-05-19 21:30:00.12+00`, or the same without a zone, by its type's OID. Nil for other forms.
    init?(postgresText text: UnsafeBufferPointer<UInt8>, type: UInt32) {
        let hasZone = type == 1184
        guard hasZone || type == 1114, (19...29).contains(text.count), text[10] == UInt8(ascii: " "),
            !hasZone || text.suffix(3).elementsEqual("+00".utf8)
        else { return nil }
        let count = text.count - (hasZone ? 3 : 0)
        let parsed = withUnsafeTemporaryAllocation(of: UInt8.self, capacity: count + 1) { bytes in
            _ = bytes.initialize(from: text.prefix(count))
            bytes[count] = UInt8(ascii: "Z")
            bytes[10] = UInt8(ascii: "T")
            return Timestamp(utf8: UnsafeBufferPointer(bytes))
        }
        guard let parsed else { return nil }
        self = parsed.instant
    }
}
