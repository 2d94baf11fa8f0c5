// A part of an index, for a caller that knows the intervals of its columns.

/// From a first key of an index to the first key after it.
package struct IndexRange: Hashable, Sendable {
    var start: [UInt8]
    var end: [UInt8]

    init(start: [UInt8], end: [UInt8]) {
        self.start = start
        self.end = end
    }

    /// All keys that begin with some bytes.
    init(prefix: [UInt8]) {
        self.init(start: prefix, end: prefix.followed(by: IndexInterval.highest))
    }

    /// All keys of some ranges, in order and apart from each other.
    package static func joined(_ ranges: [IndexRange]) -> [IndexRange] {
        var joined: [IndexRange] = []
        for range in ranges.sorted(by: { IndexInterval.isBefore($0.start, $1.start) }) {
            guard let last = joined.last, !IndexInterval.isBefore(last.end, range.start) else {
                joined.append(range)
                continue
            }
            if IndexInterval.isBefore(last.end, range.end) { joined[joined.count - 1].end = range.end }
        }
        return joined
    }
}

extension TableIndex {
    /// The parts, in order and apart from each other, where each of the first columns is in one of its intervals. A
    /// column after one that is in an interval of several places is not looked at there.
    package func ranges(_ table: String, _ columns: [[IndexInterval]]) -> [IndexRange] {
        var prefixes = [prefix(table)]
        var ranges: [IndexRange] = []
        for intervals in columns {
            for interval in intervals where !interval.isPoint {
                ranges += prefixes.map { IndexRange(start: $0 + interval.low, end: $0 + interval.high) }
            }
            let points = intervals.compactMap(\.point)
            prefixes = prefixes.flatMap { prefix in points.map { prefix + $0 } }
        }
        ranges += prefixes.map { IndexRange(prefix: $0) }
        return ranges.sorted { IndexInterval.isBefore($0.start, $1.start) }
    }
}
