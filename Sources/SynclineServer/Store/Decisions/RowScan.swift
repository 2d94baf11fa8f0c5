// A scan of a table with rules: whether rows are read in the order of the whole table. They are neighbours there, and telling
// them apart costs less than a merge of the orders of buckets, unless most of them are others'.

struct RowScan {
    private(set) var isWorthIt = true
    private var own = 0
    private var others = 0
    /// How many rows of others may be read in any case.
    static let some = 16

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

    /// - Parameter page: The number of rows that are wanted.
    func part(of page: Int, isFinite: Bool) -> Part {
        if !isFinite { return Part(limit: nil) }
        let most = own == 0 ? 4 * RowScan.some : 16 * own
        return Part(limit: min(page + RowScan.some, most))
    }

    /// Notes a row. Returns whether it is the last one to read in this order.
    mutating func ends(after isOwn: Bool) -> Bool {
        if isOwn { own += 1 } else { others += 1 }
        isWorthIt = isWorthIt && others <= own + RowScan.some
        return !isWorthIt
    }
}
