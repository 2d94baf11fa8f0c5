// Rows that a server sent and that can't be read. Each is listed until it comes readable or as a tombstone, or its table
// is purged; one without an id, until a pull of the whole table does not receive it. What the store has of it stays.
//
//   key    08 and the key of the row; without an id, 08 03 table 00 00 and a hash of the row's bytes
//   value  id or null · place · reason

package import SynclineGround

/// A row that a server sent and that can't be read.
public struct UnreadableRow: Hashable, Sendable {
    /// The row's table.
    public var table: String
    /// The row's id; nil if that can't be read, either.
    public var id: String?
    /// The row's number in the page that it came with, from 1.
    public var place: Int
    /// Why it can't be read.
    public var reason: String
    /// A hash of the row's bytes, by which a row without an id is recognized.
    package var digest: UInt64
}

extension Keyspace {
    static func unreadable(_ rowKey: [UInt8]) -> [UInt8] { [unreadable] + rowKey }
}

extension UnreadableRow {
    package func key(_ ids: IDComparison) -> [UInt8] {
        if let id { return Keyspace.unreadable(RowKey.bytes(table, id, ids)) }
        return UnreadableRow.key(of: table, digest: digest)
    }

    /// The key of a row without an id.
    static func key(of table: String, digest: UInt64) -> [UInt8] {
        var key = ByteWriter()
        key.append(ordered: digest)
        return UnreadableRow.keys(of: table) + [0] + key.bytes
    }

    /// Reads an entry of the state.
    package init(_ key: UnsafeRawBufferPointer, _ reader: inout ByteReader) throws(MalformedBytes) {
        guard key.count > 2, let end = key[2...].firstIndex(of: 0) else { throw MalformedBytes() }
        self = try reader.unreadable(String(decoding: key[2..<end], as: UTF8.self))
        guard id == nil else { return }
        var hash = ByteReader(UnsafeRawBufferPointer(rebasing: key[(end + 2)...]))
        digest = try hash.ordered()
    }

    /// What the keys of a table have in common.
    static func keys(of table: String) -> [UInt8] { Keyspace.unreadable(RowKey.prefix(table)) }
}

extension ByteWriter {
    /// Appends everything but the table and the digest.
    package mutating func append(unreadable row: UnreadableRow) {
        append(value: row.id.map { .string($0) } ?? .null)
        append(varint: row.place)
        append(text: row.reason)
    }
}

extension ByteReader {
    mutating func unreadable(_ table: String, digest: UInt64 = 0) throws(MalformedBytes) -> UnreadableRow {
        let id: String?
        switch try value() {
        case .null: id = nil
        case .string(let text): id = text
        default: throw MalformedBytes()
        }
        let place = try varint()
        return UnreadableRow(
            table: table, id: id, place: Int(truncatingIfNeeded: place), reason: try text(), digest: digest)
    }
}

extension StateReader {
    /// The hashes of a table's rows without an id that can't be read.
    package func namelessRows(of table: String) throws(SyncError) -> [UInt64] {
        try unreadableRows(UnreadableRow.keys(of: table) + [0]).map(\.digest)
    }

    /// Whether there is a row that can't be read.
    package var hasUnreadableRows: Bool {
        get throws(SyncError) { try snapshot.firstKey(from: [Keyspace.unreadable])?.first == Keyspace.unreadable }
    }

    /// Whether the server's row can't be read, by the key of the row.
    package func isUnreadable(_ key: [UInt8]) throws(SyncError) -> Bool { try value(Keyspace.unreadable(key)) != nil }

    /// The rows that can't be read, by table and id.
    package func unreadableRows() throws(SyncError) -> [UnreadableRow] {
        try unreadableRows([Keyspace.unreadable])
    }

    private func unreadableRows(_ prefix: [UInt8]) throws(SyncError) -> [UnreadableRow] {
        var rows: [UnreadableRow] = []
        try snapshot.forEach(prefix: prefix) { key, value throws(SyncError) in
            rows.append(
                try value.decoded(as: "an unreadable row") { reader throws(MalformedBytes) in
                    try UnreadableRow(key, &reader)
                })
            return true
        }
        return rows
    }
}
