// The edge of a result: the last wanted row's value in the first column of an order, with which the encoded values of
// other rows are compared. Most rows of a long table come after it, and then nothing more of them is read.

import SynclineGround

struct OrderEdge {
    /// The values that are compared; any other value needs a whole position.
    enum Content {
        case integer(Int64)
        /// Milliseconds of a string in a column without a type, and of a date.
        case instant(Int64)
        /// Without a zero, so that its bytes sort as their encoding does.
        case text([UInt8])
    }

    let content: Content
    let isDescending: Bool

    /// Nil if the value at the beginning of a position is none of those.
    init?(_ position: [UInt8], isDescending: Bool, _ type: ColumnType) {
        guard OrderEdge.types.contains(type) else { return nil }
        self.isDescending = isDescending
        let bytes = isDescending ? position.map { ~$0 } : position
        let found = bytes.withBytes { bytes -> Content? in
            var reader = ByteReader(bytes)
            switch try? reader.byte() {
            case SortTag.number?: return (try? reader.sortedInteger()).flatMap { $0 }.map { .integer($0) }
            case SortTag.date?:
                return (try? reader.sortedInstant()).flatMap {
                    $0.nanoseconds % 1_000_000 == 0 ? .instant($0.milliseconds) : nil
                }
            case SortTag.string?:
                let rest = reader.rest
                guard let end = rest.firstIndex(of: 0), end + 1 < rest.count, rest[end + 1] == SortTag.whole else {
                    return nil
                }
                let text = Bytes(rebasing: rest[..<end])
                if case .instant(let milliseconds)? = TextForm(text) { return .instant(milliseconds) }
                return .text([UInt8](text))
            default: return nil
            }
        }
        guard let found else { return nil }
        content = found
    }

    /// The types whose encoded values can be compared with an edge. In any other column, a value with such an encoding may
    /// not fit, or mean something else.
    private static let types: Set<ColumnType> = [.any, .string, .date, .integer]

    /// Whether it is certain that an encoded value, which may be followed by other bytes, comes after it.
    @inline(__always)
    func isBefore(_ value: Bytes) -> Bool {
        guard let tag = value.first else { return false }
        let order: Int
        switch content {
        case .instant(let edge):
            guard tag == ValueTag.instant, let number = OrderEdge.number(value) else { return false }
            order = number < edge ? -1 : number > edge ? 1 : 0
        case .integer(let edge):
            let number: Int64
            if tag & 0xc0 == ValueTag.smallInteger {
                number = Int64(tag & 0x3f)
            } else {
                guard tag == ValueTag.integer, let other = OrderEdge.number(value) else { return false }
                number = other
            }
            order = number < edge ? -1 : number > edge ? 1 : 0
        case .text(let edge):
            let length = Int(tag & 0x7f)
            guard tag >= ValueTag.shortText, value.count > length else { return false }
            order = edge.withBytes { Bytes(rebasing: value[1..<1 + length]).compare($0) }
        }
        return isDescending ? order < 0 : order > 0
    }

    @inline(__always)
    private static func number(_ value: Bytes) -> Int64? {
        var reader = ByteReader(value, at: 1)
        return try? reader.zigzag()
    }
}
