// Values of every kind and form, from a seed: what a column can have, and similar ones.

import LogTesting
import SynclineGround

@testable import SynclineCore

extension Chance {
    mutating func value(depth: Int = 0) -> Value {
        switch below(depth < 3 ? 12 : 9) {
        case 0: .null
        case 1: .bool(once(in: 2))
        case 2: .integer(integer())
        case 3: once(in: 3) ? spelled() : .double(double())
        case 4, 5, 6: .string(text())
        case 7: .date(date())
        case 8: .bytes(bytes(below(40)))
        case 9: .array((0..<below(4)).map { _ in value(depth: depth + 1) })
        default:
            .object(
                (0..<below(4)).map { _ in .init(once(in: 2) ? pick(["x", "y"]) : text(), value(depth: depth + 1)) })
        }
    }

    mutating func integer() -> Int64 {
        switch below(4) {
        case 0: pick([0, 1, -1, 63, 64, -64, 127, 128, .min, .max, .min + 1, 1 << 53, 1 << 31])
        case 1: Int64(below(200)) - 100
        default: Int64(bitPattern: next() >> UInt64(below(64)))
        }
    }

    mutating func double() -> Double {
        switch below(3) {
        case 0: return pick([0, -0.0, 0.5, .leastNonzeroMagnitude, .greatestFiniteMagnitude, -1e300, 0x1p63, 1 / 3])
        case 1: return Double(below(1000)) / 8
        default:
            let number = Double(bitPattern: next())
            return number.isFinite ? number : 1
        }
    }

    /// Numbers in other spellings, and numbers that no integer and no double holds.
    mutating func spelled() -> Value {
        let wide = [
            "18446744073709551615", "9223372036854775808", "-9223372036854775809", "-18446744073709551616", "1E400",
            "-1e400", "1e309",
            "179769313486231580793728971405303415079934132710037826936173778980444968292764750946649",
        ]
        let others = ["1.50", "1e3", "-0", "0.0e5", "1E-400", "12345678901234567890.12", "0.12345678901234567890123"]
        let spelling =
            switch below(4) {
            case 0: pick(wide)
            case 1: pick(others)
            case 2: (once(in: 2) ? "-" : "") + "1" + digits(19 + below(300), "0123456789")
            default: "\(integer()).\(digits(1 + below(25), "0123456789"))" + (once(in: 3) ? "e\(below(600) - 300)" : "")
            }
        return Value(number: spelling) ?? .null
    }

    mutating func digits(_ count: Int, _ alphabet: String = "0123456789abcdef") -> String {
        let letters = Array(alphabet)
        return String((0..<count).map { _ in pick(letters) })
    }

    mutating func uuid(_ alphabet: String = "0123456789abcdef") -> String {
        [8, 4, 4, 4, 12].map { digits($0, alphabet) }.joined(separator: "-")
    }

    /// Strings that have an encoding of their own, strings that nearly have, and others.
    mutating func text() -> String {
        switch below(14) {
        case 0: uuid()
        case 1: uuid("0123456789ABCDEF")
        case 2: uuid("0123456789abcdefABCDEFg-")
        case 3: uuid("0123456789")
        case 4: Timestamp(.init(milliseconds: Int64(below(1 << 50)) - 60_000_000_000_000), decimals: 3).description
        case 5: date().description
        case 6: digits(pick([15, 16, 17, 32, 40, 64, 63]))
        case 7: digits(pick([16, 32, 40, 64]), "0123456789abcdefF")
        case 8: pick(["", " ", "é", "e\u{301}", "\u{0}", "日本語", "👩‍👩‍👧‍👦", "0000-00-00T00:00:00.000Z", "id", "a.b"])
        case 10: Base64.encode(bytes(below(50)))
        case 11: digits(pick([8, 12, 24, 64]), "AQgw+/09=-") + pick(["", "=", "=="])
        case 9: digits(pick([126, 127, 128, 129, 300]), "abcé")
        default: digits(below(20), "abcxyz ")
        }
    }

    mutating func date() -> Timestamp {
        let zone: Timestamp.Zone = pick([.utc, .none, .dateOnly, .offset(Int16(below(2879)) - 1439), .offset(330)])
        let decimals = UInt8(below(10))
        let seconds = Int64(next() % 315_537_897_600) - 62_135_596_800
        return Timestamp(
            .init(seconds: seconds, nanoseconds: UInt32(below(1_000_000_000))), decimals: decimals, zone: zone)
    }

    mutating func row(columns: Int = 6) -> Row {
        var builder = RowBuilder()
        for _ in 0..<below(columns) { builder.set(once(in: 8) ? text() : pick(["a", "b", "c", "version"]), value()) }
        return builder.row
    }

    mutating func cursor() -> CursorState {
        let moment = Timestamp(.init(milliseconds: Int64(below(1 << 41))))
        let place: CursorState.Place =
            once(in: 2)
            ? .time(moment, drain: once(in: 2) ? nil : text()) : .changes("#" + text(), isAuditDue: once(in: 2))
        return CursorState(place, query: text(), updated: integer())
    }
}

extension ByteReader {
    /// Reads bytes as far as a body goes; nil if it rejects them.
    static func reading<Result>(
        _ bytes: [UInt8], _ body: (inout ByteReader) throws(MalformedBytes) -> Result
    ) -> Result? {
        bytes.withUnsafeBytes { bytes in
            var reader = ByteReader(bytes)
            return try? body(&reader)
        }
    }
}
