// The digest of a table's rows: their number, and the exclusive or of a hash of each. Every write changes it, and a sweep
// computes it from the rows, so that a difference shows writes by other programs. Deleted rows are not part of it: they
// may be purged at any time.

import SynclineCore
import SynclineGround
import SynclineTables
import SynclineWire

struct TableDigest: Hashable, Sendable {
    private(set) var rows: Int64 = 0
    private(set) var hash: UInt64 = 0

    init(rows: Int64 = 0, hash: UInt64 = 0) { (self.rows, self.hash) = (rows, hash) }

    var isEmpty: Bool { self == TableDigest() }

    mutating func add(_ row: TableRow?, _ schema: ServedTable) { count(row, schema, 1) }
    mutating func remove(_ row: TableRow?, _ schema: ServedTable) { count(row, schema, -1) }

    private mutating func count(_ row: TableRow?, _ schema: ServedTable, _ number: Int64) {
        guard let row, !row.isDeleted else { return }
        rows += number
        hash ^= schema.hash(row)
    }

    mutating func add(_ other: TableDigest) { self = TableDigest(rows: rows + other.rows, hash: hash ^ other.hash) }

    /// What must be added to another digest to get this one.
    func difference(from other: TableDigest) -> TableDigest {
        TableDigest(rows: rows - other.rows, hash: hash ^ other.hash)
    }
}

extension ServedTable {
    /// A hash of the row's id, version and values. Null has none, so it stays the same when the table gets a column.
    fileprivate func hash(_ row: TableRow) -> UInt64 {
        var sum: UInt64 = 0
        row.columns.withView { view in
            var reader = ByteReader(view.bytes)
            for place in columns.indices {
                let (start, isNull, isZero) = (reader.offset, reader.isAtNull, reader.isAtZero)
                guard (try? reader.skipValue()) != nil else { return }
                if isNull { continue }
                // PostgreSQL does not store the sign of zero.
                if isZero {
                    sum &+= nameHashes[place]
                } else {
                    sum &+= hash64(
                        UnsafeRawBufferPointer(rebasing: view.bytes[start..<reader.offset]), seed: nameHashes[place])
                }
            }
        }
        var (id, version) = (row.id, row.version)
        sum = id.withUTF8 { hash64(UnsafeRawBufferPointer($0), seed: sum) }
        return version.withUTF8 { hash64(UnsafeRawBufferPointer($0), seed: sum) }
    }
}
