// Times as intervals in the one order of changes: when a row was in a bucket, when a path led there, and when a caller
// therefore had a right.

/// The changes from one up to another, which is not part of it.
package struct RightInterval: Hashable, Sendable {
    package var begin: Stamp
    /// Nil while it lasts.
    package var end: Stamp?

    package init(from begin: Stamp, to end: Stamp? = nil) { (self.begin, self.end) = (begin, end) }

    package static let always = RightInterval(from: Stamp(change: 0, time: 0))

    /// What both have in common; nil if they have nothing.
    package func intersection(_ other: RightInterval) -> RightInterval? {
        let begin = begin.change >= other.begin.change ? begin : other.begin
        let end = RightInterval.earlier(end, other.end)
        if let end, end.change <= begin.change { return nil }
        return RightInterval(from: begin, to: end)
    }

    private static func earlier(_ one: Stamp?, _ other: Stamp?) -> Stamp? {
        guard let one, let other else { return one ?? other }
        return one.change <= other.change ? one : other
    }
}

/// Intervals in order, none of which touches another.
package struct RightIntervals: Hashable, Sendable {
    package private(set) var list: [RightInterval] = []

    package init() {}

    package init(_ interval: RightInterval) { list = [interval] }

    package static let always = RightIntervals(.always)

    package var isEmpty: Bool { list.isEmpty }

    /// Adds an interval; those that touch become one.
    package mutating func insert(_ interval: RightInterval) {
        if let end = interval.end, end.change <= interval.begin.change { return }
        var (whole, rest) = (interval, [RightInterval]())
        for other in list {
            let isApart =
                other.end.map { $0.change < whole.begin.change } == true
                || whole.end.map { $0.change < other.begin.change } == true
            if isApart {
                rest.append(other)
                continue
            }
            if other.begin.change < whole.begin.change { whole.begin = other.begin }
            if let end = whole.end, other.end.map({ $0.change > end.change }) ?? true { whole.end = other.end }
        }
        list = rest
        list.insert(whole, at: list.firstIndex { $0.begin.change > whole.begin.change } ?? list.endIndex)
    }

    package func intersection(_ interval: RightInterval) -> RightIntervals {
        var common = RightIntervals()
        common.list = list.compactMap { $0.intersection(interval) }
        return common
    }

    package mutating func formUnion(_ other: RightIntervals) {
        for interval in other.list { insert(interval) }
    }
}
