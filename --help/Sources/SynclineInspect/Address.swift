// The notation that reports print and commands accept: `@41`, `@41..57`, `@-1`, `s7:5209663`, `s7`.

package import SegmentLog

/// An address in a log, as a person writes it.
package enum Address: Hashable, Sendable, CustomStringConvertible {
    /// `@41`
    case record(SequenceNumber)
    /// `@41..57`
    case records(SequenceRange)
    /// `@-1` is the last record, `@-2` the one before.
    case fromEnd(UInt64)
    /// `s7`
    case segment(UInt64)
    /// `s7:5209663`
    case position(LogPosition)

    /// Parses an address; nil if the string is not one.
    package init?(_ text: String) {
        if text.hasPrefix("@") {
            self.init(record: text.dropFirst())
        } else if text.hasPrefix("s") {
            self.init(position: text.dropFirst())
        } else {
            return nil
        }
    }

    private init?(record text: Substring) {
        if text.hasPrefix("-") {
            guard let back = Address.number(text.dropFirst()), back > 0 else { return nil }
            self = .fromEnd(back)
        } else if let dots = text.firstIndex(of: ".") {
            guard text[dots...].hasPrefix(".."), let first = Address.number(text[..<dots]), first > 0,
                let last = Address.number(text[dots...].dropFirst(2)), last >= first
            else { return nil }
            self = .records(
                SequenceRange(first: SequenceNumber(rawValue: first), last: SequenceNumber(rawValue: last)))
        } else {
            guard let number = Address.number(text), number > 0 else { return nil }
            self = .record(SequenceNumber(rawValue: number))
        }
    }

    private init?(position text: Substring) {
        guard let colon = text.firstIndex(of: ":") else {
            guard let segment = Address.number(text), segment > 0 else { return nil }
            self = .segment(segment)
            return
        }
        guard let segment = Address.number(text[..<colon]), segment > 0,
            let offset = Address.number(text[colon...].dropFirst())
        else { return nil }
        self = .position(LogPosition(segment: segment, offset: offset))
    }

    /// Digits only: a sign would have another meaning.
    private static func number(_ text: Substring) -> UInt64? {
        text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? UInt64(text) : nil
    }

    package var description: String {
        switch self {
        case .record(let number): "\(number)"
        case .records(let range): "\(range)"
        case .fromEnd(let back): "@-\(back)"
        case .segment(let segment): "s\(segment)"
        case .position(let position): "\(position)"
        }
    }
}
