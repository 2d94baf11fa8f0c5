// Medians.

extension [Double] {
    /// The middle value; of an even number, the mean of the two in the middle; nil of none.
    var median: Double? {
        guard !isEmpty else { return nil }
        let sorted = sorted()
        let middle = count / 2
        return count.isMultiple(of: 2) ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
    }
}
