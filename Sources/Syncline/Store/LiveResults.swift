// What an app observes, as a sequence: the results of live queries, computed values, conflicts; with errors as values, or
// with what differs from the result before.

public import SynclineCore

/// What is observed: its current value first, in each loop, then the newest one after commits that change it. A reader that
/// is slower than the commits misses values that were replaced meanwhile, never the last one.
///
/// An error, such as a row that a model can't decode, does not end the sequence: `next()` throws it once and then
/// waits for the next value. A `for` loop ends when an error is thrown; a loop over ``outcomes`` continues. The sequence
/// ends when the store is closed.
public struct LiveResults<Element: Sendable, Failure: Error>: AsyncSequence, Sendable {
    /// The iterator of the results.
    public struct Iterator: AsyncIteratorProtocol, Sendable {
        /// Has an element when there may be something to take.
        let signals: AsyncStream<Void>
        /// Returns nil if the result is the same as before.
        let take: @Sendable () -> Result<Element, Failure>?

        public mutating func next() async throws(Failure) -> Element? {
            try await next(isolation: nil)
        }

        public mutating func next(isolation actor: isolated (any Actor)?) async throws(Failure) -> Element? {
            while await signals.next(isolation: actor) != nil {
                if let result = await taken() { return try result.get() }
            }
            return nil
        }

        /// Runs on another thread, because the caller may be the main actor.
        @concurrent
        private func taken() async -> Result<Element, Failure>? { take() }
    }

    /// Begins to observe.
    let begin: @Sendable () -> Iterator
    /// Nil if a result is not made of rows.
    private(set) var list: LiveRows<Element>?

    public func makeAsyncIterator() -> Iterator { begin() }
}

/// The rows that results are made of.
struct LiveRows<Element: Sendable>: Sendable {
    let begin: @Sendable () -> LiveResults<QueryResult, SyncError>.Iterator
    let make: @Sendable (QueryResult) throws(SyncError) -> Element
}

extension LiveResults where Failure == SyncError {
    /// The same results, with errors as values: `for await outcome in query.observe().outcomes`.
    public var outcomes: LiveResults<Result<Element, SyncError>, Never> {
        LiveResults<Result<Element, SyncError>, Never> { [begin] in
            let results = begin()
            return .init(signals: results.signals) { [take = results.take] in take().map { .success($0) } }
        }
    }

    func map<Made>(
        _ make: @escaping @Sendable (Element) throws(SyncError) -> Made
    ) -> LiveResults<Made, SyncError> {
        LiveResults<Made, SyncError> { [begin] in begin().map(make) }
    }
}

extension LiveResults.Iterator where Failure == SyncError {
    func map<Made>(
        _ make: @escaping @Sendable (Element) throws(SyncError) -> Made
    ) -> LiveResults<Made, SyncError>.Iterator {
        .init(signals: signals) { [take] in
            take()?.flatMap { element in Result { () throws(SyncError) in try make(element) } }
        }
    }
}

extension LiveResults<QueryResult, SyncError> {
    /// Makes another result of the rows. Its ``differences`` make only what is new.
    func mapRows<Made>(
        _ make: @escaping @Sendable (QueryResult) throws(SyncError) -> Made
    ) -> LiveResults<Made, SyncError> {
        var made = map(make)
        made.list = LiveRows(begin: begin, make: make)
        return made
    }
}

extension StoreWriter {
    /// Observes live content.
    /// - Parameters:
    ///   - content: Makes the content of each reader.
    ///   - check: Called before the content is loaded.
    func observe<Content: LiveContent>(
        _ content: @escaping @Sendable () -> sending Content,
        check: @escaping @Sendable () throws(SyncError) -> Void = {}
    ) -> LiveResults<Content.Result, SyncError> {
        LiveResults { [self] in
            let list = LiveList(content(), self, check: check)
            return .init(signals: observers.signals(for: list) { try? current.reader }) { list.take() }
        }
    }
}

extension SyncError {
    /// Whether it is thrown by every read from now on.
    package var endsReads: Bool { code == .closed || code == .storeReplaced }
}

extension AsyncStream where Element: Sendable {
    /// Waits for the next element. The iterators of a stream take turns, so each element has one of its own, which may
    /// be used on any thread.
    package func next(isolation actor: isolated (any Actor)?) async -> Element? {
        var elements = makeAsyncIterator()
        if #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) {
            return await elements.next(isolation: actor)
        }
        return await elements.next()
    }
}
