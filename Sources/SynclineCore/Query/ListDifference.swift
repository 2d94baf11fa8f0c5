// The difference between two results of a query, in the form by which lists on a screen are updated.

/// The difference between two results of a live query. Applied in this order, it makes the old rows the new ones:
/// remove, insert, update. A row that moved is removed and inserted. No more rows are removed and inserted than
/// necessary. The rows of a typed query are its models.
public struct ListDifference<Row: Sendable>: Sendable {
    /// A row and its index in the new result.
    public struct Element: Sendable {
        /// The index in the new result.
        public var index: Int
        /// The row.
        public var row: Row
    }

    /// The indexes in the old result of rows to remove, in descending order.
    public private(set) var removed: [Int] = []
    /// The rows to insert, in ascending order.
    public private(set) var inserted: [Element] = []
    /// The rows whose columns changed.
    public private(set) var updated: [Element] = []

    /// Whether the results are equal.
    public var isEmpty: Bool { removed.isEmpty && inserted.isEmpty && updated.isEmpty }

    /// Applies the difference to the old rows.
    public func apply(to rows: inout [Row]) {
        for index in removed { rows.remove(at: index) }
        for element in inserted { rows.insert(element.row, at: element.index) }
        for element in updated { rows[element.index] = element.row }
    }

    /// Returns the same difference with something else in place of each row.
    package func map<Other, Failure: Error>(
        _ body: (Element) throws(Failure) -> Other
    ) throws(Failure) -> ListDifference<Other> {
        func changed(_ element: Element) throws(Failure) -> ListDifference<Other>.Element {
            .init(index: element.index, row: try body(element))
        }
        var difference = ListDifference<Other>()
        difference.removed = removed
        difference.inserted = try inserted.map(changed)
        difference.updated = try updated.map(changed)
        return difference
    }
}

extension ListDifference: Equatable where Row: Equatable {}
extension ListDifference: Hashable where Row: Hashable {}
extension ListDifference.Element: Equatable where Row: Equatable {}
extension ListDifference.Element: Hashable where Row: Hashable {}

extension ListDifference where Row == StoredRow {
    /// Compares two results.
    public init(from old: [StoredRow], to new: [StoredRow]) {
        var (oldIndex, newIndex) = (0, 0)
        func replace(upTo place: Place) {
            removed += oldIndex..<place.old
            inserted += (newIndex..<place.new).map { Element(index: $0, row: new[$0]) }
            (oldIndex, newIndex) = (place.old + 1, place.new + 1)
        }
        for place in ListDifference.staying(from: old, to: new) {
            replace(upTo: place)
            if old[place.old] != new[place.new] { updated.append(Element(index: place.new, row: new[place.new])) }
        }
        replace(upTo: Place(old: old.count, new: new.count))
        removed.reverse()
    }
}

// MARK: Rows that stay

/// The indexes of a row in both results.
private struct Place {
    var old: Int
    var new: Int
}

extension ListDifference where Row == StoredRow {
    /// Returns the places of the most rows that have the same order in both results.
    private static func staying(from old: [StoredRow], to new: [StoredRow]) -> [Place] {
        let shared = min(old.count, new.count)
        func haveSameID(_ left: Int, _ right: Int) -> Bool { old[left].compactID == new[right].compactID }
        let start = (0..<shared).first { !haveSameID($0, $0) } ?? shared
        let end =
            (0..<shared - start).first { !haveSameID(old.count - 1 - $0, new.count - 1 - $0) } ?? shared - start
        let known = Dictionary((start..<old.count - end).map { (old[$0].compactID, $0) }) { first, _ in first }
        let common = (start..<new.count - end).compactMap { index in
            known[new[index].compactID].map { Place(old: $0, new: index) }
        }
        return (0..<start).map { Place(old: $0, new: $0) } + longestRising(common)
            + (0..<end).reversed().map { Place(old: old.count - 1 - $0, new: new.count - 1 - $0) }
    }

    /// Returns as many of the places as possible whose old indexes rise.
    private static func longestRising(_ places: [Place]) -> [Place] {
        // Of all rising sequences of each length so far, where the one with the least end has its end.
        var ends: [Int] = []
        // What comes before each place in the longest sequence that it ends.
        var before: [Int?] = []
        for (index, place) in places.enumerated() {
            let shorter = ends.countOfFirst { places[$0].old < place.old }
            before.append(shorter == 0 ? nil : ends[shorter - 1])
            if shorter == ends.count { ends.append(index) } else { ends[shorter] = index }
        }
        guard let last = ends.last else { return [] }
        return sequence(first: last) { before[$0] }.map { places[$0] }.reversed()
    }
}
