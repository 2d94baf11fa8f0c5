// A part of the order of one column of an index.

import SynclineGround

/// A part of the order of one column.
package struct IndexInterval: Hashable, Sendable {
    /// Its first bytes.
    var low: [UInt8]
    /// The first bytes after it; nil if it is a single place.
    private var end: [UInt8]?
    /// Whether every row in it satisfies the condition.
    var isExact: Bool

    /// A single place.
    init(_ place: IndexPlace) {
        low = place.bytes
        end = place.isExact ? nil : place.bytes.followed(by: IndexInterval.highest)
        isExact = place.isExact
    }

    init(from low: [UInt8], to high: [UInt8], isExact: Bool) {
        self.low = low
        end = high
        self.isExact = isExact
    }

    /// The first bytes after it.
    var high: [UInt8] { end ?? low.followed(by: IndexInterval.highest) }

    /// Whether it is a single place.
    var isPoint: Bool { end == nil }

    /// The place it consists of, if it is a single one.
    var point: [UInt8]? { isPoint ? low : nil }

    /// Greater than every byte that can follow a place.
    static let highest: UInt8 = 0xff

    /// The part that both have.
    func intersection(_ other: IndexInterval) -> IndexInterval? {
        if let point { return other.contains(point) ? self.limited(other) : nil }
        if let place = other.point { return contains(place) ? other.limited(self) : nil }
        let (low, high) = (IndexInterval.isBefore(low, other.low) ? other.low : low, min(high, other.high))
        guard IndexInterval.isBefore(low, high) else { return nil }
        return IndexInterval(from: low, to: high, isExact: isExact && other.isExact)
    }

    private func limited(_ other: IndexInterval) -> IndexInterval {
        var copy = self
        copy.isExact = isExact && other.isExact
        return copy
    }

    private func contains(_ place: [UInt8]) -> Bool {
        !IndexInterval.isBefore(place, low) && IndexInterval.isBefore(place, high)
    }

    private func min(_ left: [UInt8], _ right: [UInt8]) -> [UInt8] {
        IndexInterval.isBefore(left, right) ? left : right
    }

    static func isBefore(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        left.withBytes { left in right.withBytes { left.compare($0) < 0 } }
    }
}
