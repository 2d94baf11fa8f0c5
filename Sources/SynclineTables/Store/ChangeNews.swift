// What listeners are told: the latest change mark, and the tables that changed since an earlier one.

package import SynclineWire

package struct ChangeNews: Hashable, Sendable {
    package var mark: ChangeMark
    /// The tables with changes; nil: any may have some.
    package var tables: Set<String>?
    /// What is told only to some, by tables with rules.
    package var rights: [String: RightsNews] = [:]

    package init(_ mark: ChangeMark, _ tables: Set<String>? = nil) { (self.mark, self.tables) = (mark, tables) }

    package var cursor: String { ChangeCursor(epoch: mark.epoch, change: mark.change).text }
}

/// What a listener wants to hear.
package struct EventInterest: Hashable, Sendable {
    package var tables: Set<String>
    /// The caller, if one of the tables has a rule about what callers see.
    package var subject: String?

    package init(_ tables: Set<String>, subject: String? = nil) { (self.tables, self.subject) = (tables, subject) }
}

/// The buckets of a caller, by tables with rules.
package typealias CallerBuckets = [String: HeldBuckets]

extension ChangeMark {
    /// Whether both are the same place in the order of changes.
    package func isAt(_ other: ChangeMark) -> Bool { change == other.change && epoch == other.epoch }
}

extension TableStore {
    package func touched(_ table: String, after change: Int64, through last: Int64) -> Set<NamedBucket>? { nil }

    package func buckets(_ table: String, of subject: String, at change: Int64) -> HeldBuckets? { nil }

    package func news(since known: ChangeMark?, isWhole: Bool) throws(StoreFailure) -> ChangeNews {
        ChangeNews(try mark())
    }
}
