// Notifies observers of commits. Each observer gets every change to its table, in order, and queries the state as of
// that change when it is ready. No change is missed or reordered, and the writer never waits for an observer.

import SynclineCore
import SynclineGround

final class ObserverList: Sendable {
    private struct Observer {
        /// The observed table; nil for all tables.
        var table: String?
        var continuation: AsyncStream<StateReader>.Continuation
    }

    private struct Content {
        var observers: [Int: Observer] = [:]
        /// Listeners to be told that the app changed something.
        var listeners: [Int: AsyncStream<Void>.Continuation] = [:]
        /// The number of changes the app had made by the last commit.
        var made: UInt64 = 0
        var next = 0
        var isFinished = false
    }

    private let content = Mutex(Content())

    /// Returns the current state, then the state after each change to a table, or to any table.
    func observe(_ table: String?, from current: @Sendable () -> StateReader) -> AsyncStream<StateReader> {
        let (stream, continuation) = AsyncStream.makeStream(of: StateReader.self)
        let number: Int? = content.withLock { content in
            guard !content.isFinished else { return nil }
            content.next += 1
            content.observers[content.next] = Observer(table: table, continuation: continuation)
            // Read under the lock that `tell` takes, so that no commit falls between the first state and the next.
            continuation.yield(current())
            return content.next
        }
        guard let number else {
            continuation.finish()
            return stream
        }
        continuation.onTermination = { [weak self] _ in
            self?.content.withLock { _ = $0.observers.removeValue(forKey: number) }
        }
        return stream
    }

    /// Returns a stream with an element after the app changes rows; several changes may share one element.
    func changes() -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let number: Int? = content.withLock { content in
            guard !content.isFinished else { return nil }
            content.next += 1
            content.listeners[content.next] = continuation
            return content.next
        }
        guard let number else {
            continuation.finish()
            return stream
        }
        continuation.onTermination = { [weak self] _ in
            self?.content.withLock { _ = $0.listeners.removeValue(forKey: number) }
        }
        return stream
    }

    /// Tells the listeners that there is something to send although no row changed.
    func notifyOfDecision() {
        for listener in content.withLock({ Array($0.listeners.values) }) { listener.yield() }
    }

    /// Announces a finished commit; `publish` makes it visible to readers.
    func tell(_ commit: StoreCommit, publish: () -> Void) {
        content.withLock { content in
            publish()
            if commit.totals.made != content.made {
                content.made = commit.totals.made
                for listener in content.listeners.values { listener.yield() }
            }
            for state in commit.states where !state.touched.isEmpty {
                for observer in content.observers.values
                where observer.table.map({ state.touched.contains($0) }) ?? true {
                    observer.continuation.yield(state.reader)
                }
            }
        }
    }

    func finish() {
        let all = content.withLock { content in
            content.isFinished = true
            defer {
                content.observers = [:]
                content.listeners = [:]
            }
            return (Array(content.observers.values), Array(content.listeners.values))
        }
        for observer in all.0 { observer.continuation.finish() }
        for listener in all.1 { listener.finish() }
    }
}

/// Runs a query on each state, and drops a result or error equal to the one before.
struct Answers<Content: Hashable & Sendable, Element: Sendable> {
    private let states: AsyncStream<StateReader>
    private let run: @Sendable (StateReader) throws(SyncError) -> Content
    private let make: @Sendable (Content) throws(SyncError) -> Element
    private var last: Result<Content, SyncError>?

    init(
        _ states: AsyncStream<StateReader>, _ run: @escaping @Sendable (StateReader) throws(SyncError) -> Content,
        _ make: @escaping @Sendable (Content) throws(SyncError) -> Element
    ) {
        self.states = states
        self.run = run
        self.make = make
    }

    mutating func next(isolation actor: isolated (any Actor)?) async -> Result<Element, SyncError>? {
        while let state = await nextState(isolation: actor) {
            let content = Result { () throws(SyncError) in try run(state) }
            if content == last { continue }
            last = content
            return content.flatMap { found in Result { () throws(SyncError) in try make(found) } }
        }
        return nil
    }

    /// The iterators of a stream take turns, so each state has one of its own, which may be used on any thread.
    private func nextState(isolation actor: isolated (any Actor)?) async -> StateReader? {
        var states = states.makeAsyncIterator()
        if #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) {
            return await states.next(isolation: actor)
        }
        return await states.next()
    }
}

/// The results of a query: the current ones first, then new ones after each commit that changes them.
///
/// An error, such as a row that a model can't decode, does not end the sequence: `next()` throws it once and then
/// waits for the next results. A `for` loop ends when an error is thrown; a loop over ``outcomes`` continues.
public struct QueryResults<Element: Sendable>: AsyncSequence, Sendable {
    let states: AsyncStream<StateReader>
    let run: @Sendable (StateReader) throws(SyncError) -> QueryResult
    let make: @Sendable (QueryResult) throws(SyncError) -> Element

    /// The iterator of the results.
    public struct Iterator: AsyncIteratorProtocol {
        var answers: Answers<QueryResult, Element>

        public mutating func next() async throws -> Element? {
            try await next(isolation: nil)
        }

        public mutating func next(isolation actor: isolated (any Actor)?) async throws(any Error) -> Element? {
            try await answers.next(isolation: actor)?.get()
        }
    }

    public func makeAsyncIterator() -> Iterator {
        Iterator(answers: Answers(states, run, make))
    }

    /// The same results, with errors as values: `for await outcome in query.observe().outcomes`.
    public var outcomes: QueryOutcomes<Element> { QueryOutcomes(results: self) }
}

/// The results and errors of an observed query, one element after each commit that changes them.
public struct QueryOutcomes<Content: Sendable>: AsyncSequence, Sendable {
    let results: QueryResults<Content>

    /// The iterator of the outcomes.
    public struct Iterator: AsyncIteratorProtocol {
        var answers: Answers<QueryResult, Content>

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
