// Detects a server that returns the same pages again and again, without storing them: remembers the end of one page,
// then of the one twice as far on, and so forth.

import SynclineGround

struct RepeatGuard: Sendable {
    private var mark: String?
    private var steps = 0
    private var limit = 1

    /// Returns whether a page that ends with this row was seen before.
    mutating func isRepeat(_ id: String) -> Bool {
        if mark?.hasSameBytes(as: id) == true { return true }
        steps += 1
        if steps == limit {
            mark = id
            steps = 0
            limit *= 2
        }
        return false
    }
}
