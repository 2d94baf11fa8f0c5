// The values of a result as JSON, whatever the form of the output is, for a caller that goes by them.

package final class WatchedValues {
    private(set) var values: [JSONValue] = []
    private let limit: Int

    /// Keeps the first `limit` values.
    init(limit: Int) {
        self.limit = limit
    }

    func add(_ value: @autoclosure () -> JSONValue) {
        if values.count < limit { values.append(value()) }
    }
}
