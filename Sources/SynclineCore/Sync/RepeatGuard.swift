// Notices a server that gives the same pages again and again, whatever it is asked for, without keeping what it gave:
// the end of one page is remembered, then that of one twice as far on, and so forth.

struct RepeatGuard: Sendable {
    private var mark: String?
    private var steps = 0
    private var limit = 1

    /// Whether a page that ends with this row has been there before.
    mutating func isRepeat(_ id: String) -> Bool {
        if id == mark { return true }
        steps += 1
        if steps == limit {
            mark = id
            steps = 0
            limit *= 2
        }
        return false
    }
}
