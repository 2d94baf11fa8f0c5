// What changed about the rows of a table with rules, and whom it concerns: those who have a right to a bucket in which a row
// changed, and those whose rights changed.

package import SynclineGround

/// A bucket of a table by its name: a list, a household.
package struct NamedBucket: Hashable, Sendable {
    package var bucket: RuleBucket
    package var name: ExactString

    package init(_ bucket: RuleBucket, _ name: ExactString) { (self.bucket, self.name) = (bucket, name) }
}

/// The buckets to which a caller has a right at a change, and the last change until then at which a right of the caller
/// began or ended.
package struct HeldBuckets: Hashable, Sendable {
    package var buckets: Set<NamedBucket> = []
    package var changed: Int64 = 0

    package init() {}
}

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
        if !touched.isDisjoint(with: now.buckets) { return true }
        guard let before else { return changesRights }
        // A right that ended and began again tells its rows again. One that began and ended may have been used by a pull.
        return before != now || !touched.isDisjoint(with: before.buckets)
    }
}

extension KnownRights {
    /// The buckets to which the caller had a right at a change.
    package func buckets(at change: Int64) -> HeldBuckets {
        var held = HeldBuckets()
        for right in buckets {
            for interval in right.intervals.list {
                for bound in [interval.begin.change, interval.end?.change ?? 0] where bound <= change {
                    held.changed = max(held.changed, bound)
                }
            }
            if right.intervals.has(change) {
                held.buckets.insert(NamedBucket(right.bucket, ExactString(right.name)))
            }
        }
        return held
    }
}
