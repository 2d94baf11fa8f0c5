// Converts values of an SQLite file to values of a row, by the type of the column and the way the client writes dates.
// The code is pure.

import SynclineCore
import SynclineGround
import SynclineWire

/// How a client writes dates into SQLite.
enum ForeignDates {
    /// Core Data: seconds since 2001.
    case secondsSince2001
    /// Entity Framework Core: `2026-05-19 21:30:00.123+00:00`; without an offset, UTC.
    case text
    /// Microsoft.Datasync.Client: milliseconds since 1970.
    case millisecondsSince1970
}

enum ForeignValue {
    /// The value of a column, or nil if a value of this kind can't have that type.
    static func value(_ raw: Value, as type: ForeignType, _ dates: ForeignDates) -> Value? {
        if raw.isNull { return .null }
        switch type {
        case .skip: return .null
        case .string:
            if case .string = raw { return raw }
            return nil
        case .integer:
            if case .integer = raw { return raw }
            return nil
        case .number: return number(raw)
        case .bool:
            switch raw {
            case .integer(0): return .bool(false)
            case .integer(1): return .bool(true)
            default: return nil
            }
        // The server's rows have dates as strings, except for the system columns.
        case .date: return date(raw, dates).map { .string($0.description) }
        case .uuid: return uuid(raw)
        case .bytes: return bytes(raw, dates)?.asStored
        case .json:
            guard case .string(let text) = raw else { return nil }
            return try? Value(json: text.utf8)
        }
    }

    /// The value of a system column.
    static func systemValue(_ raw: Value, of name: String, _ dates: ForeignDates) -> Value? {
        switch name {
        case "createdAt", "updatedAt": return raw.isNull ? .null : date(raw, dates).map { .date($0) }
        case "deleted": return value(raw, as: .bool, dates)
        // A version may be bytes, which JSON has in base 64.
        default:
            if case .bytes(let bytes) = raw { return .string(Base64.encode(bytes)) }
            return value(raw, as: .string, dates)
        }
    }

    /// The system columns of an item that was queued as JSON.
    static func systemColumns(of item: [Value.Member]) -> [Value.Member] {
        item.compactMap { member in
            guard Item.systemColumns.contains(member.name) else { return nil }
            guard ["createdAt", "updatedAt"].contains(member.name), case .string(let text) = member.value else {
                return member
            }
            return Timestamp(text).map { .init(member.name, .date($0)) } ?? member
        }
    }

    private static func number(_ raw: Value) -> Value? {
        switch raw {
        case .integer, .number: return raw
        case .double(let number): return number.isFinite ? raw : nil
        case .string(let text):
            if let number = Int64(text) { return .integer(number) }
            return Double(text).flatMap { $0.isFinite ? .double($0) : nil }
        default: return nil
        }
    }

    private static func uuid(_ raw: Value) -> Value? {
        switch raw {
        case .string: return raw
        case .bytes(let bytes) where bytes.count == 16:
            let digits = Hexadecimal.text(of: bytes).uppercased()
            var text = ""
            for (place, digit) in digits.enumerated() {
                if [8, 12, 16, 20].contains(place) { text += "-" }
                text.append(digit)
            }
            return .string(text)
        default: return nil
        }
    }

    /// Core Data stores a large value in a file of its own, and writes its name here: 2, a UUID and 0.
    private static func bytes(_ raw: Value, _ dates: ForeignDates) -> Value? {
        switch raw {
        case .bytes(let bytes):
            if dates == .secondsSince2001, bytes.count == 38, bytes.first == 2, bytes.last == 0 { return nil }
            return raw
        case .string(let text) where dates == .millisecondsSince1970: return Base64.decode(text).map { .bytes($0) }
        default: return nil
        }
    }

    // MARK: Dates

    /// From 1970 to 2001, in milliseconds.
    private static let millisecondsTo2001 = 978_307_200_000.0

    private static func date(_ raw: Value, _ dates: ForeignDates) -> Timestamp? {
        switch (dates, raw.unspelled) {
        case (.secondsSince2001, .double(let seconds)): timestamp(milliseconds: seconds * 1000 + millisecondsTo2001)
        case (.secondsSince2001, .integer(let seconds)):
            timestamp(milliseconds: Double(seconds) * 1000 + millisecondsTo2001)
        case (.millisecondsSince1970, .double(let milliseconds)): timestamp(milliseconds: milliseconds)
        case (.millisecondsSince1970, .integer(let milliseconds)): timestamp(milliseconds: Double(milliseconds))
        case (.text, .string(let text)): timestamp(text: text)
        default: nil
        }
    }

    /// The years 1 to 9999.
    private static let range = -62_135_596_800_000.0...253_402_300_799_999.0

    private static func timestamp(milliseconds: Double) -> Timestamp? {
        let rounded = milliseconds.rounded()
        return range.contains(rounded) ? Timestamp(.init(milliseconds: Int64(rounded))) : nil
    }

    private static func timestamp(text: String) -> Timestamp? {
        var parts = text.split(separator: " ", maxSplits: 1).map(String.init)
        guard parts.count == 2 else { return Timestamp(text) }
        // The offset is part of the time.
        parts[1].removeAll { $0 == " " }
        guard let date = Timestamp(parts.joined(separator: "T")) else { return nil }
        return Timestamp(.init(milliseconds: date.instant.milliseconds))
    }
}
