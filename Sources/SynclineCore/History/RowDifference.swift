// The row-by-row difference between two states, found by two parallel walks over the rows an app sees.

import SynclineGround

/// A row that differs.
public struct RowDifference: Hashable, Sendable {
    /// The row's table.
    public var table: String
    /// The row's id.
    public var id: String
    /// The row before; nil if it did not exist.
    public var before: Row?
    /// The row after; nil if it did not exist.
    public var after: Row?
    /// The types of the columns at the later moment. Two spellings of one value are no difference.
    private let types: TableTypes

    package init(table: String, id: String, before: Row?, after: Row?, _ types: TableTypes) {
        self.table = table
        self.id = id
        self.before = before
        self.after = after
        self.types = types
    }

    /// The columns whose values differ, sorted, with both values; a value is nil if the row or the column does not
    /// exist. The order of the members of an object makes no difference.
    public var fields: [(name: String, before: Value?, after: Value?)] {
        let names = (before?.columns ?? []).exact.union((after?.columns ?? []).exact)
        return names.sorted().map(\.text)
            .map { ($0, before?[$0], after?[$0]) }
            .filter { !RowDifference.isSame($0.before, $0.after, types[$0.name]) }
    }
}

extension StateChanges {
    /// The rows that an app sees differently, by table and id.
    package var differences: [RowDifference] {
        rows.sorted { left, right in
            left.key.withBytes { left in right.key.withBytes { left.compare($0) < 0 } }
        }
        .map { difference(of: $0) }
        .filter { !$0.isEmpty }
    }

    /// What an app sees of a change.
    package func difference(of row: RowChange) -> RowDifference {
        RowDifference(
            table: row.table, id: row.id, before: row.before?.visible, after: row.after?.visible, types[row.table])
    }
}

extension RowDifference {
    /// The difference in the other direction.
    package var reversed: RowDifference { RowDifference(table: table, id: id, before: after, after: before, types) }

    /// Whether the row is the same before and after. A different order of columns, or of the members of an object, does
    /// not count.
    package var isEmpty: Bool {
        guard let before, let after else { return before == after }
        return before == after || fields.isEmpty
    }

    private static func isSame(_ before: Value?, _ after: Value?, _ type: ColumnType) -> Bool {
        guard let before, let after else { return before == after }
        return before.isSame(as: after) || !type.isPlain && type.areSame(before, after)
    }
}

extension StateReader {
    /// Returns the rows that differ in another state of any store.
    package func differences(
        to other: StateReader, _ body: (RowDifference) throws(SyncError) -> Void
    ) throws(SyncError) {
        var left = try RowWalk(self)
        var right = try RowWalk(other)
        let types = try other.types
        while let order = left.order(to: right), let name = (order <= 0 ? left : right).place?.name {
            let difference = RowDifference(
                table: name.table, id: name.id, before: order <= 0 ? left.place?.row : nil,
                after: order >= 0 ? right.place?.row : nil, types[name.table])
            if order <= 0 { try left.advance() }
            if order >= 0 { try right.advance() }
            if !difference.isEmpty { try body(difference) }
        }
    }

    /// Returns which of some rows, by their keys, differ in another state of any store.
    package func differences(
        of keys: some Sequence<[UInt8]>, to other: StateReader, _ body: (RowDifference) throws(SyncError) -> Void
    ) throws(SyncError) {
        let types = try other.types
        for key in keys {
            let (before, after) = (try entry(key: key), try other.entry(key: key))
            var name = try RowKey(malformed: key)
            if let spelling = (before?.isPresent == true ? before : after)?.spelling { name.id = spelling }
            let difference = RowDifference(
                table: name.table, id: name.id, before: before?.visible, after: after?.visible, types[name.table])
            if !difference.isEmpty { try body(difference) }
        }
    }
}

/// A walk over the rows of a state.
private struct RowWalk {
    private let reader: StateReader
    private var cursor: StateCursor
    /// The row it is at; nil at the end.
    private(set) var place: (key: [UInt8], name: RowKey, row: Row)?

    init(_ reader: StateReader) throws(SyncError) {
        self.reader = reader
        cursor = try [Keyspace.rows].withBytes { start throws(SyncError) in try reader.snapshot.cursor(from: start) }
        try settle()
    }

    /// Moves to the next row an app sees.
    private mutating func settle() throws(SyncError) {
        place = nil
        while let bytes = cursor.key, let value = cursor.value, bytes.first == Keyspace.rows {
            let entry = try RowEntry(value, reader.shapes)
            if let row = entry.visible {
                let key = [UInt8](bytes)
                var name = try RowKey(malformed: key)
                if let spelling = entry.spelling { name.id = spelling }
                place = (key, name, row)
                return
            }
            try cursor.advance()
        }
    }

    mutating func advance() throws(SyncError) {
        try cursor.advance()
        try settle()
    }

    /// Returns whether its row is before that of another walk (less than 0) or after it; nil if both are at the end.
    func order(to other: RowWalk) -> Int? {
        guard let key = place?.key else { return other.place == nil ? nil : 1 }
        guard let otherKey = other.place?.key else { return -1 }
        return key.withBytes { left in otherKey.withBytes { left.compare($0) } }
    }
}
