// Times as intervals in the one order of changes: when a row was in a bucket, when a path led there, and when a caller
// therefore had a right.

/// The changes from one up to another, which is not part of it.
package struct RightInterval: Hashable, Sendable {
    package var begin: Stamp
    /// Nil while it lasts.
    package var end: Stamp?

    package init(from begin: Stamp, to end: Stamp? = nil) { (self.begin, self.end) = (begin, end) }

    package static let always = RightInterval(from: Stamp(change: 0, time: 0))

    package var isEmpty: Bool { end.map { $0.change <= begin.change } ?? false }

    /// What both have in common; nil if they have nothing. It begins at the later number and at the later time, which may
    /// be those of different writes.
    package func intersection(_ other: RightInterval) -> RightInterval? {
        let begin = Stamp(
            change: max(begin.change, other.begin.change), time: max(begin.time, other.begin.time))
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

    /// When the one that lasts began; nil if none does.
    package var since: Stamp? { list.last.flatMap { $0.end == nil ? $0.begin : nil } }

    /// Intervals in any order; those that touch become one, with the times of the one that begins first.
    package init(merging intervals: [RightInterval]) {
        func isBefore(_ left: RightInterval, _ right: RightInterval) -> Bool {
            (left.begin.change, left.begin.time) < (right.begin.change, right.begin.time)
        }
        for next in intervals.sorted(by: isBefore) where !next.isEmpty {
            guard let last = list.last, last.end.map({ $0.change >= next.begin.change }) ?? true else {
                list.append(next)
                continue
            }
            guard let end = last.end, next.end.map({ $0.change > end.change }) ?? true else { continue }
            list[list.count - 1].end = next.end
        }
    }

    package func has(_ change: Int64) -> Bool {
        list.contains { $0.begin.change <= change && $0.end.map { change < $0.change } ?? true }
    }

    package func intersection(_ interval: RightInterval) -> RightIntervals {
        var common = RightIntervals()
        common.list = list.compactMap { $0.intersection(interval) }
        return common
    }
}
