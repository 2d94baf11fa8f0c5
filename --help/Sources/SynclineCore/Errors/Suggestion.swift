// "Did you mean": finds the known word with the fewest typing mistakes, if it is close enough.

package enum Suggestion {
    /// Returns the closest of the known words, or nil if none is close.
    package static func nearest(to word: String, in known: [String]) -> String? {
        let limit = max(1, word.count / 3)
        let near = known.map { (word: $0, distance: distance(word, $0)) }.min { $0.distance < $1.distance }
        if let near, near.distance <= limit { return near.word }
        // The beginning of a known word.
        let begun = known.filter { word.count >= 2 && $0.hasPrefix(word) }
        return begun.count == 1 ? begun.first : nil
    }

    /// Returns how many letters must be changed, added, removed or swapped with their neighbour.
    package static func distance(_ left: String, _ right: String) -> Int {
        let left = Array(left)
        let right = Array(right)
        var rows = [[Int]](repeating: [Int](repeating: 0, count: right.count + 1), count: left.count + 1)
        for row in 0...left.count { rows[row][0] = row }
        for column in 0...right.count { rows[0][column] = column }
        for (row, one) in left.enumerated() {
            for (column, other) in right.enumerated() {
                var best = min(rows[row][column + 1], rows[row + 1][column]) + 1
                best = min(best, rows[row][column] + (one == other ? 0 : 1))
                if row > 0, column > 0, one == right[column - 1], left[row - 1] == other {
                    best = min(best, rows[row - 1][column - 1] + 1)
                }
                rows[row + 1][column + 1] = best
            }
        }
        return rows[left.count][right.count]
    }
}
