// The results of live queries with what differs from the one before. Of a typed query, only models of rows that are new
// or changed are decoded.

public import SynclineCore

/// The results of a live query with what differs from the one before: all rows are inserted first. An error does not
/// end the sequence: see ``QueryResults``.
public struct QueryDifferences<Whole: Sendable, Row: Sendable>: AsyncSequence, Sendable {
    /// A result, and how it differs from the one before.
    public struct Element: Sendable {
        /// The whole result.
        public var result: Whole
        /// What differs from the result before.
        public var difference: ListDifference<Row>
    }

    let results: QueryResults<Whole>
    /// Where a result has its rows.
    let list: any WritableKeyPath<Whole, [Row]> & Sendable

    /// The iterator of the differences.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate var answers: Answers<LiveAnswer<Whole>, LiveAnswer<Whole>>
        fileprivate let list: any WritableKeyPath<Whole, [Row]> & Sendable
        fileprivate var last = ShownRows<Row>()

        public mutating func next() async throws -> Element? {
            try await next(isolation: nil)
        }

        public mutating func next(isolation actor: isolated (any Actor)?) async throws(any Error) -> Element? {
            guard let answer = try await answers.next(isolation: actor)?.get() else { return nil }
            let (shown, element) = try await Iterator.element(of: answer, after: last, list)
            last = shown
            return element
        }

        /// Runs on another thread, because the caller may be the main actor.
        @concurrent
        private static func element(
            of answer: LiveAnswer<Whole>, after last: ShownRows<Row>,
            _ list: any WritableKeyPath<Whole, [Row]> & Sendable
        ) async throws(SyncError) -> (ShownRows<Row>, Element) {
            let (shown, difference) = try last.replaced(by: answer.rows) { row throws(SyncError) in
                try answer.make(of: [row])[keyPath: list].first
            }
            var whole = try answer.make(of: [])
            whole[keyPath: list] = shown.made
            return (shown, Element(result: whole, difference: difference))
        }
    }

    public func makeAsyncIterator() -> Iterator {
        Iterator(answers: results.answers { $0 }, list: list)
    }
}

extension QueryDifferences.Element: Equatable where Whole: Equatable, Row: Equatable {}
extension QueryDifferences.Element: Hashable where Whole: Hashable, Row: Hashable {}

extension QueryResults where Element == QueryResult {
    /// The same results, each with what differs from the one before, for lists that are updated row by row.
    public var differences: QueryDifferences<QueryResult, StoredRow> {
        QueryDifferences(results: self, list: \.rows)
    }
}

/// The rows of a result that are shown, and what was made of each.
private struct ShownRows<Made: Sendable>: Sendable {
    var rows: [StoredRow] = []
    var made: [Made] = []

    /// Returns what is shown of other rows, and what differs. Calls `make` only with rows that are new, have moved or
    /// changed; if it returns nil, the row is left out.
    func replaced(
        by new: [StoredRow], make: (StoredRow) throws(SyncError) -> Made?
    ) throws(SyncError) -> (ShownRows, ListDifference<Made>) {
        var difference = ListDifference(from: rows, to: new)
        var all: [Made?] = made
        try difference.map { element throws(SyncError) in try make(element.row) }.apply(to: &all)
        var shown = ShownRows()
        for (row, made) in zip(new, all) {
            guard let made else { continue }
            shown.rows.append(row)
            shown.made.append(made)
        }
        if shown.rows.count < new.count { difference = ListDifference(from: rows, to: shown.rows) }
        return (shown, difference.map { shown.made[$0.index] })
    }
}
