// The entries that may be rows of a block in columns: rows of an app whose columns are followed by nothing but numbers.

import SynclineGround

enum ColumnSplit {
    /// The first byte of the keys of rows.
    static let rows: UInt8 = 3

    /// Where the length of the columns' values is in an entry; nil if it is not such a row.
    static func lengthPlace(_ key: Bytes, _ value: Bytes) -> Int? {
        guard key.first == rows, let shape = shapePlace(value) else { return nil }
        var reader = ByteReader(value, at: shape)
        return (try? reader.varint()) == nil ? nil : reader.offset
    }

    /// The number of the shape, with which the head of such a row ends.
    static func shape(_ head: Bytes) -> Int? {
        guard let place = shapePlace(head) else { return nil }
        var reader = ByteReader(head, at: place)
        return (try? reader.varint()).flatMap { Int(exactly: $0) }
    }

    private static func shapePlace(_ value: Bytes) -> Int? {
        guard let flags = value.first.map(RowFlags.init) else { return nil }
        if flags.subtracting(.answered) == .base { return value.count > 1 ? 1 : nil }
        guard flags == .pending, value.count > 2 else { return nil }
        let pending = PendingFlags(rawValue: value[1])
        return pending.contains(.present) && pending.isDisjoint(with: [.several, .frozen]) ? 2 : nil
    }

    /// Whether two keys of rows have one table, and ids of one form.
    static func haveOneTable(_ one: Bytes, _ other: Bytes) -> Bool {
        guard let end = one.firstIndex(of: 0), end + 2 <= min(one.count, other.count) else { return false }
        return one.slice(0, end + 2).hasSameBytes(as: other.slice(0, end + 2))
    }
}
