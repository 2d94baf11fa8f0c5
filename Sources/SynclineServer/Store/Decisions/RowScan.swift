// A scan of a table with rules: whether rows are read in the order of the whole table. They are neighbours there, and telling
// them apart costs less than a merge of the orders of buckets, unless most of them are others'.

import SynclineCore
import SynclineGround

struct RowScan {
    private(set) var isWorthIt = true
    /// How many rows of others the caller's last one read, if it was worth it.
    private let last: Int?
    /// The rows of the caller so far.
    private(set) var own = 0
    private var others = 0
    /// How many rows of others may be read in any case.
    static let some = 16

    enum End {
        /// All rows were read.
        case complete
        /// No more are wanted.
        case full
        /// Most are others'. More may follow.
        case others
    }

    /// The next rows that one statement reads.
    struct Part {
        /// How many at most; nil for all. A statement of PostgreSQL that is stopped ends the transaction, so it has few.
        let limit: Int?
        private var count = 0

        fileprivate init(limit: Int?) { self.limit = limit }

        /// Notes a row. Returns whether it is the last one.
        mutating func ends(_ scanEnds: Bool) -> Bool {
            count += 1
            return scanEnds || count == limit
        }
    }

    /// - Parameter last: How many rows of others the caller's last scan read, if most were the caller's.
    init(last: Int? = nil) { self.last = last }

    /// Whether the caller's last one was worth it.
    var wasWorthIt: Bool { last != nil }

    /// What the caller's next scan begins with.
    var lesson: Int? { isWorthIt && own > RowScan.some ? others : nil }

    /// - Parameter rest: The number of rows that are still wanted. A filter may pass over more.
    func part(of rest: Int, isFinite: Bool) -> Part {
        if !isFinite { return Part(limit: nil) }
        let first = 4 * RowScan.some
        let rest = rest > 0 ? rest : first
        if let last { return Part(limit: rest + min(max(last, others), RowScan.some)) }
        return Part(limit: min(rest + RowScan.some, own == 0 ? first : 16 * own))
    }

    /// Notes a row. Returns whether it is the last one to read in this order.
    mutating func ends(after isOwn: Bool) -> Bool {
        if isOwn { own += 1 } else { others += 1 }
        isWorthIt = isWorthIt && others <= own + RowScan.some
        return !isWorthIt
    }
}
