// The keys of the state. The first byte says what a key is for; the rest is encoded so that keys sort in reading order.
//   01 shape number (8)                         the names of its columns
//   02 table 00 query id                        a cursor
//   03 table 00 form id                         a row
//   04 name                                     a counter or a setting
//   05 table 00 column 00 value id              an index in the form of older stores
//   06 a row's key                               its operation fails: the server answers 500 to it
//   07 table 00 number value* id                 an index
//   7f event (8) index (4)                      the journal: a change that is in the outbox
//
// A row's id has one of three forms: 01 a lower-case UUID in 16 bytes, 02 an upper-case one, 03 any other string.
// Within a form, keys sort like ids.

package import SynclineGround

enum Keyspace {
    static let shapes: UInt8 = 1
    static let cursors: UInt8 = 2
    static let rows: UInt8 = 3
    static let settings: UInt8 = 4
    static let indexes: UInt8 = 5
    static let failing: UInt8 = 6
    static let orderedIndexes: UInt8 = 7
    /// The largest, so that its newest entry comes after every other key.
    static var journal: UInt8 { KeyFilter.uncovered }
}

/// The place of a change: its event and its index in the event. Positions order the outbox.
package struct Position: Hashable, Comparable, Sendable {
    package var event: UInt64
    package var index: UInt32

    package init(event: UInt64, index: UInt32 = 0) {
        self.event = event
        self.index = index
    }

    package static func < (left: Self, right: Self) -> Bool {
        (left.event, left.index) < (right.event, right.index)
    }

    /// Calls `body` with the key of the change here.
    func withJournalKey<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        withUnsafeTemporaryAllocation(byteCount: 13, alignment: 8) { key in
            key.storeBytes(of: Keyspace.journal, as: UInt8.self)
            key.storeBytes(of: event.bigEndian, toByteOffset: 1, as: UInt64.self)
            key.storeBytes(of: index.bigEndian, toByteOffset: 9, as: UInt32.self)
            return body(UnsafeRawBufferPointer(key))
        }
    }

    /// After every change of an event: where the event stores what applies to all of them.
    static func end(of event: UInt64) -> Position { Position(event: event, index: .max) }
}

/// How ids that differ only in the case of ASCII letters are compared.
public enum IDComparison: UInt8, Sendable {
    /// They are different rows.
    case exact
    /// They are the same row.
    case ignoreCase
}

extension ByteWriter {
    package mutating func append(position: Position) {
        append(varint: position.event)
        append(varint: UInt64(position.index))
    }

    mutating func append(journalKey position: Position) {
        append(Keyspace.journal)
        append(ordered: position.event)
        withUnsafeBytes(of: position.index.bigEndian) { append($0) }
    }

    mutating func append(shapeKey number: Int) {
        append(Keyspace.shapes)
        append(ordered: UInt64(number))
    }

    mutating func append(tablePrefix table: Bytes) {
        append(Keyspace.rows)
        append(table)
        append(0)
    }

    mutating func append(cursorKey table: String, _ queryID: String) {
        append(Keyspace.cursors)
        append(Array(table.utf8))
        append(0)
        append(Array(queryID.utf8))
    }

    mutating func append(rowKey table: Bytes, id: Bytes, _ comparison: IDComparison) {
        append(tablePrefix: table)
        if comparison == .ignoreCase {
            id.map { (0x41...0x5a).contains($0) ? $0 | 0x20 : $0 }.withBytes { append(idForm: $0) }
        } else {
            append(idForm: id)
        }
    }

    /// The key of a row whose id is an encoded value; false if the value is not a string.
    mutating func append(rowKey table: Bytes, encodedID id: Bytes) -> Bool {
        append(tablePrefix: table)
        guard let tag = id.first else { return false }
        let content = Bytes(rebasing: id[1...])
        switch tag {
        case ValueTag.lowerUUID:
            append(1)
            append(content)
        case ValueTag.upperUUID:
            append(2)
            append(content)
        case ValueTag.shortText...:
            append(3)
            append(content)
        default:
            // Long strings, and strings of another compact form.
            var reader = ByteReader(id)
            guard case .string(var text)? = try? reader.value() else { return false }
            text.withUTF8 { append(idForm: Bytes($0)) }
        }
        return true
    }

    private mutating func append(idForm id: Bytes) {
        switch id.count == 36 ? TextForm(id) : nil {
        case .uuid(let uuid)?:
            append(uuid.isUpper ? 2 : 1)
            append(uuid)
        default:
            append(3)
            append(id)
        }
    }
}

extension ByteReader {
    package mutating func position() throws(MalformedBytes) -> Position {
        let event = try varint()
        let index = try varint()
        guard index <= UInt64(UInt32.max) else { throw MalformedBytes() }
        return Position(event: event, index: UInt32(index))
    }
}

/// The content of a row's key.
package struct RowKey: Hashable, Sendable {
    package var table: String
    package var id: String

    package init(table: String, id: String) {
        self.table = table
        self.id = id
    }

    /// The key of a row in the state.
    package static func bytes(_ table: String, _ id: String, _ comparison: IDComparison) -> [UInt8] {
        var writer = ByteWriter()
        var (table, id) = (table, id)
        table.withUTF8 { table in id.withUTF8 { writer.append(rowKey: Bytes(table), id: Bytes($0), comparison) } }
        return writer.bytes
    }

    /// The forms of an id in a key.
    package static let forms: [UInt8] = [1, 2, 3]

    /// What the keys of a table's rows have in common.
    static func prefix(_ table: String) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(table.utf8.count + 2)
        bytes.append(Keyspace.rows)
        bytes.append(contentsOf: table.utf8)
        bytes.append(0)
        return bytes
    }

    static func prefixLength(_ table: String) -> Int { table.utf8.count + 2 }

    /// Splits a key of the state into its parts.
    package init(_ key: UnsafeRawBufferPointer) throws(MalformedBytes) {
        guard key.first == Keyspace.rows, let end = key.dropFirst().firstIndex(of: 0) else { throw MalformedBytes() }
        table = String(decoding: UnsafeRawBufferPointer(rebasing: key[1..<end]), as: UTF8.self)
        id = try RowKey.id(in: key, skipping: end + 1)
    }
}

extension Slice<UnsafeRawBufferPointer> {
    /// Two names with a zero between them; nil if there is none.
    var names: (String, String)? {
        guard let end = firstIndex(of: 0) else { return nil }
        return (String(decoding: self[..<end], as: UTF8.self), String(decoding: self[(end + 1)...], as: UTF8.self))
    }
}
