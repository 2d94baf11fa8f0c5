// The order of an index: rows by the values of its columns, then by id. Long strings are cut off, so two that differ
// may share a place, and the rows decide.
//
//   07 table 00 number place* row-id            place: see `SortEncoding`; the value: see `EntryMark`, or included columns
//
// The form of older stores rounds numbers too, and has no place for null, dates, bytes, arrays and objects:
//
//   05 table 00 column 00 place row-id          place := 02 bool | 04 number (8) | 06 string 00 00

import SynclineGround

enum IndexKey {
    static let textLimit = 64
    static let olderTextLimit = 48
}

extension TableIndex {
    /// What the keys of its entries have in common.
    func prefix(_ table: String) -> [UInt8] {
        var bytes: [UInt8] = []
        // With room for what follows in a key.
        bytes.reserveCapacity(table.utf8.count + 64)
        bytes.append(number == nil ? Keyspace.indexes : Keyspace.orderedIndexes)
        bytes.append(contentsOf: table.utf8)
        bytes.append(0)
        if let number {
            bytes.append(number)
        } else {
            bytes.append(contentsOf: columns[0].utf8)
            bytes.append(0)
        }
        return bytes
    }

    /// The id of a row, in the form that keys have, at the end of an entry's key. The places begin at `start`.
    func rowID(in key: Bytes, from start: Int) throws(StateError) -> Bytes {
        var reader = ByteReader(key, at: start)
        do throws(MalformedBytes) {
            for _ in columns { try reader.skipPlace(in: self) }
        } catch {
            throw .malformed("an index")
        }
        return reader.rest
    }

    /// Returns whether its entries have the value of a column.
    func keeps(_ column: String) -> Bool { including.contains(column) || columns.contains(column) }

    /// Returns whether its entries have the values of all these columns, so that rows need not be read.
    func covers(_ names: some Sequence<String>) -> Bool { !including.isEmpty && names.allSatisfy(covers) }

    /// Returns whether it is such an index and its entries have the value of a column.
    func covers(_ name: String) -> Bool { !including.isEmpty && (name == "id" || keeps(name)) }

    /// The place of a value, and whether other values can't share it; nil if the index has none for it.
    func place(of value: Value) -> (bytes: [UInt8], isExact: Bool)? {
        var writer = ByteWriter()
        return writer.append(placeOf: value, in: self) ? (writer.bytes, isExact(value)) : nil
    }

    /// Whether other values can't share a value's place.
    func isExact(_ value: Value) -> Bool {
        switch value {
        case .string(let text): text.utf8.count <= textLimit
        case .bytes(let content): content.count <= textLimit
        case .integer(let number) where self.number == nil: number.magnitude < 1 << 53
        case .double(let number) where self.number == nil: number.magnitude < 0x1p53
        case .number: number != nil
        default: true
        }
    }

    /// The place where strings with this beginning start, and whether all strings from there to `ff` have it.
    func placeOfPrefix(_ prefix: String) -> (bytes: [UInt8], isExact: Bool) {
        var writer = ByteWriter()
        writer.append(SortTag.string)
        Array(prefix.utf8.prefix(textLimit)).withBytes { writer.append(escaped: $0) }
        return (writer.bytes, prefix.utf8.count <= textLimit)
    }

    /// A string of the limit's length is whole in the newer form; in the older one, longer strings share its place.
    private var textLimit: Int { number == nil ? IndexKey.olderTextLimit - 1 : IndexKey.textLimit }
}

extension ByteWriter {
    /// Appends a value's place in an index; returns false if it has none.
    mutating func append(placeOf value: Value, in index: TableIndex) -> Bool {
        if index.number == nil { return append(olderPlaceOf: value) }
        append(sortOf: value, limit: IndexKey.textLimit)
        return true
    }

    private mutating func append(olderPlaceOf value: Value) -> Bool {
        switch value {
        case .bool(let flag):
            append(SortTag.bool)
            append(flag ? 1 : 0)
        case .integer(let number): append(olderNumber: Double(number))
        case .double(let number): append(olderNumber: number)
        case .number(let number): append(olderNumber: number.rounded)
        case .string(let text):
            append(SortTag.string)
            Array(text.utf8.prefix(IndexKey.olderTextLimit)).withBytes { append(escaped: $0) }
            append(0)
            append(0)
        case .null, .date, .bytes, .array, .object: return false
        }
        return true
    }

    /// Rounding keeps the order, so that both kinds of numbers share it.
    private mutating func append(olderNumber number: Double) {
        append(SortTag.number)
        // Zero has two bit patterns.
        let bits = (number == 0 ? 0 : number).bitPattern
        append(ordered: bits >> 63 == 1 ? ~bits : bits | 1 << 63)
    }
}

extension ByteReader {
    /// Steps over a place in an index; the row's id follows, as in a row's key. Returns how many of its bytes the
    /// whole value's place begins with, if it was cut off.
    @discardableResult
    mutating func skipPlace(in index: TableIndex) throws(MalformedBytes) -> Int? {
        if index.number != nil { return try skipSortValue() }
        switch try byte() {
        case SortTag.bool: try skip(1)
        case SortTag.number: try skip(8)
        case SortTag.string:
            while true {
                guard try byte() == 0 else { continue }
                if try byte() == 0 { return nil }
            }
        default: throw MalformedBytes()
        }
        return nil
    }
}
