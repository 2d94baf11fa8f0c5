// Texts in columns.

extension String {
    /// The text, and at least one space.
    func padded(to columns: Int) -> String {
        self + String(repeating: " ", count: max(1, columns - count))
    }
}
