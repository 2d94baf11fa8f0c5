// What changed about the rows of a table with rules, and whom it concerns: those who have a right to a bucket in which a row
// changed, and those whose rights changed.

package import SynclineGround

/// A bucket of a table by its name: a list, a household.
package struct NamedBucket: Hashable, Sendable {
    package var bucket: RuleBucket
    package var name: ExactString

    package init(_ bucket: RuleBucket, _ name: ExactString) { (self.bucket, self.name) = (bucket, name) }
}

/// The buckets to which a caller has a right, and the change with which it began.
package typealias HeldBuckets = [NamedBucket: Int64]

package struct RightsNews: Hashable, Sendable {
    /// The buckets with rows that were changed, came or left.
    package var touched: Set<NamedBucket>
    /// Whether rows changed that lead callers to the table's.
    package var changesRights: Bool

    package init(_ touched: Set<NamedBucket>, changesRights: Bool) {
        (self.touched, self.changesRights) = (touched, changesRights)
    }

    /// Whether it concerns a caller, by the buckets before it and after it; nil if they are not known.
    package func concerns(_ before: HeldBuckets?, _ now: HeldBuckets?) -> Bool {
        guard let now = now ?? (changesRights ? nil : before) else { return true }
        if touched.contains(where: { now[$0] != nil }) { return true }
        guard let before else { return changesRights }
        // Where a right ended and began again, its rows are told again.
        return before != now || touched.contains { before[$0] != nil }
    }
}

extension KnownRights {
    /// The buckets to which the caller had a right at a change.
    package func buckets(at change: Int64) -> HeldBuckets {
        var found: HeldBuckets = [:]
        for right in buckets {
            let interval = right.intervals.list.first { $0.has(change) }
            if let interval { found[NamedBucket(right.bucket, ExactString(right.name))] = interval.begin.change }
        }
        return found
    }
}
