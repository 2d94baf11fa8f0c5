// The number of rows that a page asks for: fewer while answers are too large to be accepted, more again later.

struct PageSize: Hashable, Sendable {
    private let usual: Int
    private(set) var rows: Int

    init(_ rows: Int) {
        usual = rows
        self.rows = rows
    }

    /// Halves the page that was too large. Returns false if it had only one row.
    mutating func shrink(from asked: Int) -> Bool {
        guard asked > 1 else { return false }
        rows = asked / 2
        return true
    }

    mutating func grow() { rows = min(usual, rows * 2) }
}
