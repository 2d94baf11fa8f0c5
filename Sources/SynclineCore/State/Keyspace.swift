// The keys of the state. The first byte says what a key is for; the rest is encoded so that keys sort in reading order.
//   01 shape number (8)                         the names of its columns
//   02 table 00 query id                        a cursor
//   03 table 00 form id                         a row
//   04 name                                     a counter or a setting
//   06 a row's key                               its operation fails: the server answers 500 to it
//   07 table 00 number value* id                 an index
//   08 a row's key                               the server's row can't be read: `UnreadableRow.swift`
//   09 event (8)                                 an undo that can be redone: `UndoneTransaction.swift`
//   7f event (8) index (4)                      the journal: a change that is in the outbox
//
// A row's id has one of three forms: 01 a lower-case UUID in 16 bytes, 02 an upper-case one, 03 any other string.
// Within a form, keys sort like ids.

package import SynclineGround

package enum Keyspace {
    package static let shapes: UInt8 = 1
    package static let cursors: UInt8 = 2
    package static let rows = ColumnSplit.rows
    package static let settings: UInt8 = 4
    package static let failing: UInt8 = 6
    package static let indexes: UInt8 = 7
    package static let unreadable: UInt8 = 8
    package static let undone: UInt8 = 9
    /// The largest, so that its newest entry comes after every other key.
    package static var journal: UInt8 { KeyFilter.uncovered }
}

extension ByteWriter {
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

    package mutating func append(cursorKey table: String, _ queryID: String) {
        append(Keyspace.cursors)
        append(Array(table.utf8))
        append(0)
        append(Array(queryID.utf8))
    }

    mutating func append(rowKey table: Bytes, id: Bytes, _ comparison: IDComparison) {
        append(tablePrefix: table)
        if comparison == .ignoreCase {
            id.map(IDComparison.lowered).withBytes { append(idForm: $0) }
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

    /// An id in the form that keys have.
    mutating func append(idForm id: Bytes) {
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

extension Slice<UnsafeRawBufferPointer> {
    /// Two names with a zero between them; nil if there is none.
    package var names: (String, String)? {
        guard let end = firstIndex(of: 0) else { return nil }
        return (String(decoding: self[..<end], as: UTF8.self), String(decoding: self[(end + 1)...], as: UTF8.self))
    }
}
