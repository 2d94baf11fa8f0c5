// The results of live queries as sequences: as a whole, with errors as values, and as differences.

public import SynclineCore

/// The results of a query: the current ones first, then the newest ones after commits that change them. A reader that
/// is slower than the commits misses results that were replaced meanwhile, never the last one.
///
/// An error, such as a row that a model can't decode, does not end the sequence: `next()` throws it once and then
/// waits for the next results. A `for` loop ends when an error is thrown; a loop over ``outcomes`` continues.
public struct QueryResults<Element: Sendable>: AsyncSequence, Sendable {
    let signals: AsyncStream<Void>
    let run: @Sendable () throws(SyncError) -> LiveAnswer<Element>

    /// The iterator of the results.
    public struct Iterator: AsyncIteratorProtocol {
        var answers: Answers<Void, LiveAnswer<Element>, Element>

        public mutating func next() async throws -> Element? {
            try await next(isolation: nil)
        }

        public mutating func next(isolation actor: isolated (any Actor)?) async throws(any Error) -> Element? {
            try await answers.next(isolation: actor)?.get()
        }
    }

    public func makeAsyncIterator() -> Iterator {
        let run = run
        return Iterator(
            answers: Answers(signals, { () throws(SyncError) in try run() }) { answer throws(SyncError) in
                try answer.make()
            })
    }

    /// The same results, with errors as values: `for await outcome in query.observe().outcomes`.
    public var outcomes: QueryOutcomes<Element> { QueryOutcomes(results: self) }
}

/// What a live query found, and how its element is made of that.
struct LiveAnswer<Element: Sendable>: Hashable, Sendable {
    private let content: any Hashable & Sendable
    let make: @Sendable () throws(SyncError) -> Element

    init<Content: Hashable & Sendable>(
        _ content: Content, make: @escaping @Sendable (Content) throws(SyncError) -> Element
    ) {
        self.content = content
        self.make = { () throws(SyncError) in try make(content) }
    }

    static func == (left: Self, right: Self) -> Bool { AnyHashable(left.content) == AnyHashable(right.content) }
    func hash(into hasher: inout Hasher) { hasher.combine(content) }
}

/// The results and errors of an observed query, one element after commits that change them.
public struct QueryOutcomes<Content: Sendable>: AsyncSequence, Sendable {
    let results: QueryResults<Content>

    /// The iterator of the outcomes.
    public struct Iterator: AsyncIteratorProtocol {
        var answers: Answers<Void, LiveAnswer<Content>, Content>

        public mutating func next() async -> Result<Content, SyncError>? {
            await next(isolation: nil)
        }

        public mutating func next(isolation actor: isolated (any Actor)?) async -> Result<Content, SyncError>? {
            await answers.next(isolation: actor)
        }
    }

    public func makeAsyncIterator() -> Iterator {
        Iterator(answers: results.makeAsyncIterator().answers)
    }
}

/// The results of a live query with what differs from the one before: all rows are inserted first. An error does not
/// end the sequence: see ``QueryResults``.
public struct QueryDifferences: AsyncSequence, Sendable {
    /// A result, and how it differs from the one before.
    public struct Element: Hashable, Sendable {
        /// The whole result.
        public var result: QueryResult
        /// What differs from the result before.
        public var difference: ListDifference
    }

    let results: QueryResults<QueryResult>

    /// The iterator of the differences.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate var results: QueryResults<QueryResult>.Iterator
        private var last: [StoredRow] = []

        fileprivate init(_ results: QueryResults<QueryResult>.Iterator) {
            self.results = results
        }

        public mutating func next() async throws -> Element? {
            try await next(isolation: nil)
        }

        public mutating func next(isolation actor: isolated (any Actor)?) async throws(any Error) -> Element? {
            guard let result = try await results.next(isolation: actor) else { return nil }
            let difference = await Iterator.difference(from: last, to: result.rows)
            last = result.rows
            return Element(result: result, difference: difference)
        }

        @concurrent
        private static func difference(from old: [StoredRow], to new: [StoredRow]) async -> ListDifference {
            ListDifference(from: old, to: new)
        }
    }

    public func makeAsyncIterator() -> Iterator { Iterator(results.makeAsyncIterator()) }
}

extension QueryResults where Element == QueryResult {
    /// The same results, each with what differs from the one before, for lists that are updated row by row.
    public var differences: QueryDifferences { QueryDifferences(results: self) }
}
