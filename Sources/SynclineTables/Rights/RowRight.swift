// A caller's right to a row over time, and the row's place in the caller's order of changes.

/// A row's time in a bucket.
package struct RowStay: Hashable, Sendable {
    package var bucket: RuleBucket
    package var name: String
    package var interval: RightInterval
    /// Whether it ended because the row was deleted.
    package var endedByDeletion = false

    package init(_ bucket: RuleBucket, _ name: String, _ interval: RightInterval) {
        (self.bucket, self.name, self.interval) = (bucket, name, interval)
    }
}

/// A time in which a row of a table led from one name to another.
package struct RightEdge: Hashable, Sendable {
    package var ends: RuleEnds
    package var interval: RightInterval

    package init(_ ends: RuleEnds, _ interval: RightInterval) { (self.ends, self.interval) = (ends, interval) }
}

package struct RowRight: Hashable, Sendable {
    package enum Standing: Hashable, Sendable {
        /// The caller never had a right.
        case never
        /// The caller has one since a change.
        case held(since: Stamp)
        /// The last one ended.
        case lost(Stamp, byDeletion: Bool)
    }

    package private(set) var standing = Standing.never

    package init() {}

    package init(heldSince begin: Stamp) { standing = .held(since: begin) }

    /// Adds a stay, and the times in which the caller's paths led to its bucket. A right is held since the path leads
    /// there: the row's version is not before its own arrival.
    package mutating func add(_ stay: RowStay, _ times: RightIntervals) {
        for time in times.list {
            guard let part = time.intersection(stay.interval) else { continue }
            guard let end = part.end else {
                hold(since: time.begin)
                continue
            }
            lose(end, byDeletion: stay.endedByDeletion && end == stay.interval.end)
        }
    }

    private mutating func hold(since begin: Stamp) {
        if case .held(let since) = standing, since.change <= begin.change { return }
        standing = .held(since: begin)
    }

    private mutating func lose(_ end: Stamp, byDeletion: Bool) {
        switch standing {
        case .held: break
        case .lost(let last, _) where last.change >= end.change: break
        default: standing = .lost(end, byDeletion: byDeletion)
        }
    }

    package var isHeld: Bool { if case .held = standing { true } else { false } }

    /// The place of a row with a version: the later one of both. A departure's is the end of the right.
    package func place(ofVersion version: Int64) -> Int64? {
        switch standing {
        case .never: nil
        case .held(let since): max(since.change, version)
        case .lost(let end, _): end.change
        }
    }
}
