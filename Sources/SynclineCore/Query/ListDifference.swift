// What differs between two results of a query, in the form that lists on a screen are updated by.

import SynclineGround

/// The difference between two results of a live query. Applied in this order, it makes the old rows the new ones:
/// remove, insert, update. A row that moved is removed and inserted.
public struct ListDifference: Hashable, Sendable {
    /// A row and its index in the new result.
    public struct Element: Hashable, Sendable {
        /// The index in the new result.
        public var index: Int
        /// The row.
        public var row: StoredRow
    }

    /// The indexes in the old result of rows to remove, in descending order.
    public private(set) var removed: [Int] = []
    /// The rows to insert, in ascending order.
    public private(set) var inserted: [Element] = []
    /// The rows whose columns changed.
    public private(set) var updated: [Element] = []

    /// Whether the results are equal.
    public var isEmpty: Bool { removed.isEmpty && inserted.isEmpty && updated.isEmpty }

    /// Between more rows than this, the smallest difference is not worth its time: all are replaced.
    private static let searchLimit = 2000

    /// Compares two results.
    public init(from old: [StoredRow], to new: [StoredRow]) {
        let shared = min(old.count, new.count)
        let start = (0..<shared).first { !old[$0].id.hasSameBytes(as: new[$0].id) } ?? shared
        let end =
            (0..<shared - start).first { place in
                !old[old.count - 1 - place].id.hasSameBytes(as: new[new.count - 1 - place].id)
            } ?? shared - start
        let (before, after) = (old[start..<old.count - end], new[start..<new.count - end])
        if before.count + after.count > ListDifference.searchLimit {
            removed = before.indices.reversed()
            inserted = after.indices.map { Element(index: $0, row: new[$0]) }
        } else {
            let ids = (before.map { ExactString($0.id) }, after.map { ExactString($0.id) })
            for change in ids.1.difference(from: ids.0) {
                switch change {
                case .remove(let offset, _, _): removed.append(start + offset)
                case .insert(let offset, _, _):
                    inserted.append(Element(index: start + offset, row: new[start + offset]))
                }
            }
        }
        // Rows that stay have the same order in both.
        let (gone, fresh) = (Set(removed), Set(inserted.map(\.index)))
        var place = 0
        for (index, row) in new.enumerated() where !fresh.contains(index) {
            while gone.contains(place) { place += 1 }
            if old[place] != row { updated.append(Element(index: index, row: row)) }
            place += 1
        }
    }

    /// Applies the difference to the old rows.
    public func apply(to rows: inout [StoredRow]) {
        for index in removed { rows.remove(at: index) }
        for element in inserted { rows.insert(element.row, at: element.index) }
        for element in updated { rows[element.index] = element.row }
    }
}
