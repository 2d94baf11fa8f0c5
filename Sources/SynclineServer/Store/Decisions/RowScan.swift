// A scan of a table with rules: whether rows are read in the order of the whole table. They are neighbours there, and telling
// them apart costs less than a merge of the orders of buckets, unless most of them are others'.

struct RowScan {
    private(set) var isWorthIt: Bool
    private var own = 0
    private var others = 0
    /// How many rows of others may be read in any case.
    static let some = 16

    init(isWorthIt: Bool) { self.isWorthIt = isWorthIt }

    /// Notes a row. Returns whether it is the last one to read in this order.
    mutating func ends(after isOwn: Bool) -> Bool {
        if isOwn { own += 1 } else { others += 1 }
        isWorthIt = isWorthIt && others <= own + RowScan.some
        return !isWorthIt
    }
}
