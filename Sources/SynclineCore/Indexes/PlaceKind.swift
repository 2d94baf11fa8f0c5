// The kinds of values that an index tells apart, and the parts of its order that they have.

/// A kind of values in the order of an index. Null is none of them, and arrays and objects are one.
package enum PlaceKind: UInt16, CaseIterable, Sendable {
    case bool, uuid, number, date, string, bytes, structure, decimal, unfit

    /// The kind of a place with a first byte; nil for null.
    init?(_ tag: UInt8) {
        guard let kind = PlaceKind.allCases.first(where: { $0.tags.contains(tag) }) else { return nil }
        self = kind
    }

    /// The first bytes of its places.
    var tags: Range<UInt8> {
        switch self {
        case .bool: SortTag.bool..<SortTag.uuid
        case .uuid: SortTag.uuid..<SortTag.number
        case .number: SortTag.number..<SortTag.date
        case .date: SortTag.date..<SortTag.string
        case .string: SortTag.string..<SortTag.bytes
        case .bytes: SortTag.bytes..<SortTag.array
        case .structure: SortTag.array..<SortTag.decimal
        case .decimal: SortTag.decimal..<SortTag.unfit
        case .unfit: SortTag.unfit..<SortTag.unfit + 1
        }
    }
}

extension IndexInterval {
    /// The meanings of a kind from one to another, or to the end of the kind.
    package init(_ kind: PlaceKind, from lower: Meaning?, through upper: Meaning?) {
        let low = lower.map { IndexPlace($0) }
        let high = upper.map { IndexPlace($0).bytes }
        if var low, low.bytes == high {
            // Strings that were cut off may share it.
            low.isExact = true
            self.init(low)
        } else {
            self.init(
                from: low?.bytes ?? [kind.tags.lowerBound],
                to: high?.followed(by: IndexInterval.highest) ?? [kind.tags.upperBound], isExact: false)
        }
    }

    /// The same intervals in order, with those in one that have nothing between them.
    package static func joined(_ intervals: [IndexInterval]) -> [IndexInterval] {
        var joined: [IndexInterval] = []
        for interval in intervals.sorted(by: { isBefore($0.low, $1.low) }) {
            if let last = joined.last, last.high == interval.low {
                joined[joined.count - 1] = IndexInterval(from: last.low, to: interval.high, isExact: false)
            } else {
                joined.append(interval)
            }
        }
        return joined
    }
}
