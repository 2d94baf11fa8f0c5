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

    package init(table: String, id: String, before: Row?, after: Row?) {
        self.table = table
        self.id = id
        self.before = before
        self.after = after
    }

    /// The columns whose values differ, sorted, with both values; a value is nil if the row or the column does not
    /// exist. The order of the members of an object makes no difference.
    public var fields: [(name: String, before: Value?, after: Value?)] {
        let names = Set(before?.columns ?? []).union(after?.columns ?? [])
        return names.sorted { Value.compare(.string($0), .string($1)) == .less }
            .map { ($0, before?[$0], after?[$0]) }
            .filter { !RowDifference.isSame($0.before, $0.after) }
    }
}

extension StateChanges {
    /// The rows that an app sees differently, by table and id.
    package var differences: [RowDifference] {
        rows.sorted { left, right in
            left.key.withBytes { left in right.key.withBytes { left.compare($0) < 0 } }
        }
        .map { RowDifference(table: $0.table, id: $0.id, before: $0.before?.visible, after: $0.after?.visible) }
        .filter { !$0.isEmpty }
    }
}

extension RowDifference {
    /// The difference in the other direction.
    package var reversed: RowDifference { RowDifference(table: table, id: id, before: after, after: before) }

    /// Whether the row is the same before and after. A different order of columns, or of the members of an object, does
    /// not count.
    package var isEmpty: Bool {
        guard let before, let after else { return before == after }
        return before == after || fields.isEmpty
    }

    private static func isSame(_ before: Value?, _ after: Value?) -> Bool {
        guard let before, let after else { return before == after }
        return before.isSame(as: after)
    }
}

extension StateReader {
    /// Returns the rows that differ in another state of any store.
    package func differences(
        to other: StateReader, _ body: (RowDifference) throws(StateError) -> Void
    ) throws(StateError) {
        var left = try RowWalk(self)
        var right = try RowWalk(other)
        while left.key != nil || right.key != nil {
            let order =
                left.key == nil ? 1 : right.key == nil ? -1 : left.compare(right)
            var difference = try (order <= 0 ? left : right).difference
            if order <= 0 {
                difference.before = left.row
                try left.advance()
            }
            if order >= 0 {
                difference.after = right.row
                try right.advance()
            }
            if !difference.isEmpty { try body(difference) }
        }
    }
}

/// A walk over the rows of a state.
private struct RowWalk {
    private let reader: StateReader
    private var cursor: StateCursor
    private(set) var key: [UInt8]?
    private(set) var row: Row?
    private var id = ""

    init(_ reader: StateReader) throws(StateError) {
        self.reader = reader
        cursor = try [Keyspace.rows].withBytes { start throws(StateError) in try reader.snapshot.cursor(from: start) }
        try settle()
    }

    /// Moves to the next row an app sees.
    private mutating func settle() throws(StateError) {
        key = nil
        while let bytes = cursor.key, let value = cursor.value, bytes.first == Keyspace.rows {
            let entry = try RowEntry(value, reader.shapes)
            if let visible = entry.visible {
                let found = [UInt8](bytes)
                key = found
                row = visible
                id = try RowKey(malformed: found).id
                if let spelling = entry.spelling { id = spelling }
                return
            }
            try cursor.advance()
        }
    }

    mutating func advance() throws(StateError) {
        try cursor.advance()
        try settle()
    }

    func compare(_ other: RowWalk) -> Int {
        guard let key, let otherKey = other.key else { return 0 }
        return key.withBytes { left in otherKey.withBytes { left.compare($0) } }
    }

    var difference: RowDifference {
        get throws(StateError) {
            RowDifference(table: try RowKey(malformed: key ?? []).table, id: id, before: nil, after: nil)
        }
    }
}
