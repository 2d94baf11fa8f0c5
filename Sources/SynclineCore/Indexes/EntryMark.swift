// The mark of an index's entry, for details of its row's values that its key does not tell. Whole numbers have one
// place, whether they are integers or doubles; and some values are not in the key unchanged. An entry without a mark
// leaves nothing open.
//
//   mark := nothing, or one byte: 01 the row has to be read, or the sum of 02 (first column), 04, … 80 (seventh column)
//           for each column that has a whole number that is a double, or a UUID in lower case

import SynclineGround

struct EntryMark: Hashable {
    private(set) var byte: UInt8 = 0

    private static let row: UInt8 = 1

    init() {}

    /// The mark of an entry with a value.
    init(of value: Bytes) throws(MalformedBytes) {
        guard value.count < 2 else { throw MalformedBytes() }
        byte = value.first ?? 0
    }

    var bytes: [UInt8] { byte == 0 ? [] : [byte] }

    /// Whether the row has to be read.
    var needsRow: Bool { byte & EntryMark.row != 0 }

    /// Whether a column whose number is whole has a double, or one with a UUID has it in lower case.
    func isOther(_ column: Int) -> Bool { byte & EntryMark.bit(column) != 0 }

    /// Takes the value of a column into account.
    mutating func add(_ value: Value, as type: ColumnType, at column: Int) {
        guard !needsRow else { return }
        switch EntryForm(value, Meaning(value, as: type)) {
        case .key: break
        case .other where EntryMark.bit(column) != 0: byte |= EntryMark.bit(column)
        case .other, .row: byte = EntryMark.row
        }
    }

    /// The bit of a column; 0 if it has none.
    private static func bit(_ column: Int) -> UInt8 { column < 7 ? 2 << UInt8(column) : 0 }
}

/// Where the value of a column is found.
private enum EntryForm {
    case key
    /// In the key, as a whole number that is a double, or as a UUID in lower case.
    case other
    /// In the row only.
    case row

    init(_ value: Value, _ meaning: Meaning) {
        self =
            switch meaning {
            case .uuid(let digits): EntryForm(value, digits)
            case .null, .bool, .integer, .date, .plain(.null), .plain(.bool), .plain(.integer): .key
            case .number(let number), .plain(.double(let number)): EntryForm(number)
            // A zero within is written in two bytes.
            case .string(let text), .plain(.string(let text)):
                text.utf8.count <= IndexKey.textLimit && !text.utf8.contains(0) ? .key : .row
            case .bytes(let content), .plain(.bytes(let content)):
                content.count <= IndexKey.textLimit && !content.contains(0) ? .key : .row
            case .decimal, .plain, .unfit: .row
            }
    }

    private init(_ value: Value, _ digits: UUIDDigits) {
        let lower = UUIDDigits(first: digits.first, second: digits.second, isUpper: false)
        self = value == .string(digits.text) ? .key : value == .string(lower.text) ? .other : .row
    }

    private init(_ number: Double) {
        if !number.isFinite || number == 0 && number.sign == .minus {
            self = .row
        } else {
            self = Int64(exactly: number) == nil ? .key : .other
        }
    }
}

extension ByteReader {
    /// Reads a place that no mark says to read the row for.
    /// - Parameter isOther: Whether a whole number is a double, or a UUID in lower case.
    mutating func entryValue(isOther: Bool) throws(MalformedBytes) -> EntryValue {
        let start = offset
        switch try byte() {
        case SortTag.null: return .null
        case SortTag.bool: return .bool(try byte() != 0)
        case SortTag.number: return try sortedNumber(isDouble: isOther)
        case SortTag.date: return .date(try sortedInstant())
        case SortTag.uuid: return .uuid(TextForm.text(ofUUID: try take(16), isUpper: !isOther))
        case let tag where tag == SortTag.string || tag == SortTag.bytes:
            offset = start
            guard try skipSortValue() == nil else { throw MalformedBytes() }
            let content = Bytes(rebasing: bytes[start + 1..<offset - 2])
            return tag == SortTag.string ? .text(content) : .bytes(content)
        default: throw MalformedBytes()
        }
    }

    private mutating func sortedNumber(isDouble: Bool) throws(MalformedBytes) -> EntryValue {
        let (floor, rest) = try sortedNumber()
        guard !isDouble, let whole = Int64(exactly: floor) else { return .double(floor) }
        return .integer(whole &+ Int64(rest))
    }
}
