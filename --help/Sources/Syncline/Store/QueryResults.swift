// The results of live queries as sequences: as a whole, and with errors as values.

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
        var answers: Answers<LiveAnswer<Element>, Element>

        public mutating func next() async throws -> Element? {
            try await next(isolation: nil)
        }

        public mutating func next(isolation actor: isolated (any Actor)?) async throws(any Error) -> Element? {
            try await answers.next(isolation: actor)?.get()
        }
    }

    public func makeAsyncIterator() -> Iterator {
        Iterator(answers: answers { answer throws(SyncError) in try answer.make() })
    }

    func answers<Made: Sendable>(
        make: @escaping @Sendable (LiveAnswer<Element>) throws(SyncError) -> Made
    ) -> Answers<LiveAnswer<Element>, Made> {
        Answers(signals, run, make)
    }

    /// The same results, with errors as values: `for await outcome in query.observe().outcomes`.
    public var outcomes: QueryOutcomes<Element> { QueryOutcomes(results: self) }
}

/// What a live query found, and how its element is made of that.
struct LiveAnswer<Element: Sendable>: Hashable, Sendable {
    private let content: any Hashable & Sendable
    /// The rows that the element is made of; none if it is not a list.
    let rows: [StoredRow]
    private let part: @Sendable ([StoredRow]) throws(SyncError) -> Element

    /// - Parameter rows: Where the content has its rows; nil if it is not a list.
    init<Content: Hashable & Sendable>(
        _ content: Content, rows place: (any WritableKeyPath<Content, [StoredRow]> & Sendable)?,
        make: @escaping @Sendable (Content) throws(SyncError) -> Element
    ) {
        self.content = content
        rows = place.map { content[keyPath: $0] } ?? []
        part = { rows throws(SyncError) in
            var part = content
            if let place { part[keyPath: place] = rows }
            return try make(part)
        }
    }

    func make() throws(SyncError) -> Element { try part(rows) }

    /// Makes the element of some of the rows.
    func make(of rows: [StoredRow]) throws(SyncError) -> Element { try part(rows) }

    static func == (left: Self, right: Self) -> Bool { AnyHashable(left.content) == AnyHashable(right.content) }
    func hash(into hasher: inout Hasher) { hasher.combine(content) }
}

/// The results and errors of an observed query, one element after commits that change them.
public struct QueryOutcomes<Content: Sendable>: AsyncSequence, Sendable {
    let results: QueryResults<Content>

    /// The iterator of the outcomes.
    public struct Iterator: AsyncIteratorProtocol {
        var answers: Answers<LiveAnswer<Content>, Content>

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
