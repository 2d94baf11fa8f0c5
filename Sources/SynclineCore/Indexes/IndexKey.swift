// The order of an index: rows by the values of its columns, then by id. Long strings are cut off, so two that differ
// may share a place, and the rows decide.
//
//   07 table 00 number place* row-id            place: see `SortEncoding`; the value: see `EntryMark`, or included columns

import SynclineGround

enum IndexKey {
    static let textLimit = 64
}

extension TableIndex {
    /// What the keys of its entries have in common.
    func prefix(_ table: String) -> [UInt8] {
        var bytes: [UInt8] = []
        // With room for what follows in a key.
        bytes.reserveCapacity(table.utf8.count + 64)
        bytes.append(Keyspace.indexes)
        bytes.append(contentsOf: table.utf8)
        bytes.append(0)
        bytes.append(number)
        return bytes
    }

    /// The id of a row, in the form that keys have, at the end of an entry's key. The places begin at `start`.
    func rowID(in key: Bytes, from start: Int) throws(SyncError) -> Bytes {
        var reader = ByteReader(key, at: start)
        do throws(MalformedBytes) {
            for _ in columns { _ = try reader.skipSortValue() }
        } catch {
            throw .malformed("an index")
        }
        return reader.rest
    }

    /// Returns whether its entries have the value of a column.
    func keeps(_ column: String) -> Bool {
        including.containsExactly(column) || columns.containsExactly(column)
    }

    /// Returns whether its entries have the values of all these columns, so that rows need not be read.
    func covers(_ names: some Sequence<String>) -> Bool { !including.isEmpty && names.allSatisfy(covers) }

    /// Returns whether it is such an index and its entries have the value of a column.
    func covers(_ name: String) -> Bool { !including.isEmpty && (name == "id" || keeps(name)) }
}

/// A place in the order of an index, and whether all values with this place have one meaning.
package struct IndexPlace {
    var bytes: [UInt8]
    var isExact: Bool

    init(_ value: Value, as type: ColumnType) {
        self.init(Meaning(value, as: type))
    }

    init(_ meaning: Meaning) {
        var writer = ByteWriter()
        writer.append(sortOf: meaning, limit: IndexKey.textLimit)
        bytes = writer.bytes
        isExact = meaning.hasOwnPlace
    }

    /// The place where strings with this beginning start. It is exact if all strings from there to `ff` have it.
    init(prefix: String) {
        var writer = ByteWriter()
        writer.append(SortTag.string)
        Array(prefix.utf8.prefix(IndexKey.textLimit)).withBytes { writer.append(escaped: $0) }
        bytes = writer.bytes
        isExact = prefix.utf8.count <= IndexKey.textLimit
    }
}

extension Meaning {
    /// Whether no other meaning shares its place in an index. A string of the limit's length is whole.
    var hasOwnPlace: Bool {
        switch self {
        case .string(let text), .plain(.string(let text)), .unfit(.string(let text)):
            text.utf8.count <= IndexKey.textLimit
        case .bytes(let content), .plain(.bytes(let content)), .unfit(.bytes(let content)):
            content.count <= IndexKey.textLimit
        default: true
        }
    }
}

extension ByteWriter {
    /// Appends a value's place in an index.
    mutating func append(placeOf value: Value, as type: ColumnType) {
        append(sortOf: value, as: type, limit: IndexKey.textLimit)
    }
}
