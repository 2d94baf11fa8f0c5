// Binary search.

extension Array {
    /// How many elements at the beginning fit, in an array in which none fits after one that does not.
    @inline(__always)
    package func countOfFirst(where fits: (Element) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if fits(self[middle]) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
