// A row's key in the state: its table and its id in one of three forms, as `Keyspace.swift` describes them.

package import SynclineGround

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
        id = try RowKey.id(in: key, skipping: end + 1).text
    }
}

extension RowKey {
    /// Splits a key that was read from the state.
    package init(malformed key: [UInt8]) throws(SyncError) {
        do throws(MalformedBytes) {
            self = try key.withBytes { bytes throws(MalformedBytes) in try RowKey(bytes) }
        } catch {
            throw .malformed("a row's key")
        }
    }
}
