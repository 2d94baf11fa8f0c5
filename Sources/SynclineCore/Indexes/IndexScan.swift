// The part of an index that a filter leaves: all rows that can match are in it.

import SynclineGround

struct IndexScan {
    /// From a first key to the first key after it.
    struct Range: Hashable {
        var start: [UInt8]
        var end: [UInt8]
    }

    let index: TableIndex
    /// In the order of the keys, and apart from each other.
    private(set) var ranges: [Range]
    /// The places of the first columns, those that have one value each in all of it.
    private(set) var pins: [[UInt8]] = []
    /// Whether the entries of all ranges together are in the order of the columns after those.
    private(set) var isInOrder = true
    /// What the keys have in common up to these columns.
    private(set) var pinnedPrefix: [UInt8]
    /// Whether the filter says no more than that rows are in it.
    private(set) var isExact = false
    /// How much the filter narrows it: more with each column, and more by a value than by a range. 0 is the whole index.
    private(set) var rank = 0

    /// - Parameter conditions: What every match satisfies; nil for a part of the filter that is not about one column.
    init(_ index: TableIndex, _ table: String, _ conditions: [ColumnCondition?]) {
        self.index = index
        var prefixes = [index.prefix(table)]
        pinnedPrefix = prefixes[0]
        var used = 0
        var areExact = true
        ranges = []
        for column in index.columns {
            let about = conditions.filter { $0?.column.utf8.elementsEqual(column.utf8) ?? false }
            let (intervals, narrowing) = IndexScan.intersection(about.compactMap { $0 }, index)
            guard let intervals else { break }
            used += narrowing
            areExact = areExact && intervals.allSatisfy(\.isExact)
            let points = intervals.compactMap(\.point)
            if points.count == intervals.count, prefixes.count * points.count <= IndexScan.rangeLimit {
                rank += 4
                prefixes = prefixes.flatMap { prefix in points.map { prefix + $0 } }
                isInOrder = prefixes.count <= 1
                if prefixes.count == 1 {
                    pins += points
                    pinnedPrefix = prefixes[0]
                }
                continue
            }
            rank += intervals.contains { $0.low.count > 1 && $0.high.count > 1 } ? 2 : 1
            ranges = prefixes.flatMap { prefix in
                intervals.map { Range(start: prefix + $0.low, end: prefix + $0.high) }
            }
            isExact = areExact && used == conditions.count
            return
        }
        ranges = prefixes.map { Range(start: $0, end: $0 + [IndexInterval.highest]) }
        isExact = areExact && used == conditions.count
    }

    /// More are not worth their time.
    private static let rangeLimit = 64

    /// The intervals that all conditions leave, and how many of the conditions they take into account; nil if none
    /// narrows the column.
    private static func intersection(
        _ conditions: [ColumnCondition], _ index: TableIndex
    ) -> (intervals: [IndexInterval]?, used: Int) {
        var result: [IndexInterval]?
        var used = 0
        for condition in conditions {
            guard let intervals = condition.intervals(index) else { continue }
            used += 1
            result =
                result.map { left in
                    left.flatMap { one in intervals.compactMap { one.intersection($0) } }
                } ?? intervals
        }
        return (result, used)
    }

    /// Leaves only what is not before, or not after, places of the columns after the pinned ones.
    func limited(to places: [UInt8], isBackward: Bool) -> IndexScan {
        var copy = self
        copy.ranges = ranges.compactMap { range in
            var range = range
            let edge = pinnedPrefix + places
            if isBackward {
                let end = edge + [IndexInterval.highest]
                if IndexInterval.isBefore(end, range.end) { range.end = end }
            } else if IndexInterval.isBefore(range.start, edge) {
                range.start = edge
            }
            return IndexInterval.isBefore(range.start, range.end) ? range : nil
        }
        return copy
    }
}

extension FilterExpression {
    /// Conditions that all hold for every match.
    var conjuncts: [FilterExpression] {
        if case .and(let left, let right) = self { return left.conjuncts + right.conjuncts }
        return [self]
    }
}
