// The notation that reports print and commands accept: `@41`, `@41..57`, `@-1`, `s7:5209663`, `s7`, and
// for the checkpoint of an event `c40:4096`, `c40`.

package import SegmentLog

/// An address in a log, as a person writes it.
package enum Address: Hashable, Sendable {
    /// `@41`, `@41..57`, or `@-1` for the last record
    case records(RecordAddress)
    /// `s7`
    case segment(UInt64)
    /// `s7:5209663`
    case position(LogPosition)
    /// `c40:4096`, or `c40` for its first byte
    case checkpoint(SequenceNumber, offset: UInt64)
    /// A small file: `HEAD`, `LOCK`, `ERASE`, one in `leases/` or in `tributaries/`
    case file(String)

    /// Parses an address; nil if the string is not one.
    package init?(_ text: String) {
        if Address.isSmallFile(text) {
            self = .file(text)
        } else if text.hasPrefix("@") {
            self.init(record: text.dropFirst())
        } else if text.hasPrefix("s") {
            self.init(position: text.dropFirst())
        } else if text.hasPrefix("c") {
            self.init(checkpoint: text.dropFirst())
        } else {
            return nil
        }
    }

    private init?(record text: Substring) {
        if text.hasPrefix("-") {
            guard let back = Address.number(text.dropFirst()), back > 0 else { return nil }
            self = .records(.fromEnd(back))
        } else if let dots = text.firstIndex(of: ".") {
            guard text[dots...].hasPrefix(".."), let first = Address.number(text[..<dots]), first > 0,
                let last = Address.number(text[dots...].dropFirst(2)), last >= first
            else { return nil }
            let range = SequenceRange(first: SequenceNumber(rawValue: first), last: SequenceNumber(rawValue: last))
            self = .records(.range(range))
        } else {
            guard let number = Address.number(text), number > 0 else { return nil }
            self = .records(.number(SequenceNumber(rawValue: number)))
        }
    }

    private init?(position text: Substring) {
        guard let (segment, offset) = Address.place(text), segment > 0 else { return nil }
        self = offset.map { .position(LogPosition(segment: segment, offset: $0)) } ?? .segment(segment)
    }

    private init?(checkpoint text: Substring) {
        guard let (through, offset) = Address.place(text) else { return nil }
        self = .checkpoint(SequenceNumber(rawValue: through), offset: offset ?? 0)
    }

    package static func isSmallFile(_ text: String) -> Bool {
        if [FileName.head, FileName.lock, FileName.erasure].contains(text) { return true }
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, [FileName.leases, FileName.tributaries].contains(String(parts[0])) else { return false }
        let isName = parts[1].utf8.allSatisfy { (0x61...0x7a).contains($0) || (0x2d...0x39).contains($0) && $0 != 0x2f }
        return isName && parts[1].first != "." && !parts[1].isEmpty
    }

    /// `7:512` or `7`
    private static func place(_ text: Substring) -> (file: UInt64, offset: UInt64?)? {
        guard let colon = text.firstIndex(of: ":") else { return number(text).map { ($0, nil) } }
        guard let file = number(text[..<colon]), let offset = number(text[colon...].dropFirst()) else { return nil }
        return (file, offset)
    }

    /// Digits only: a sign would have another meaning.
    private static func number(_ text: Substring) -> UInt64? {
        text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? UInt64(text) : nil
    }

    /// The records, for a command that takes no other address.
    func records() throws(LogError) -> RecordAddress {
        guard case .records(let records) = self else {
            throw LogError(
                .invalidArgument, "records are addressed by number, not by position",
                hint: "`syncline inspect frames` shows which records are at a position.")
        }
        return records
    }
}

extension FrameSelection {
    /// Selects the frames at an address or after it.
    init(at address: Address?, segment: UInt64? = nil) {
        self.init(segment: segment)
        switch address {
        case nil, .checkpoint?, .file?: break
        case .records(let records)?: self.records = records
        case .segment(let ordinal)?: position = LogPosition(segment: ordinal, offset: 0)
        case .position(let place)?: position = place
        }
    }
}
