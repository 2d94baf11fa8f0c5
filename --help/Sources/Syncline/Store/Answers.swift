// Turns signals of a store into an observer's answers.

import SynclineCore

/// Runs a query after each signal, and drops a result or error equal to the one before. Ends with the store.
struct Answers<Content: Hashable & Sendable, Element: Sendable>: Sendable {
    private let signals: AsyncStream<Void>
    private let run: @Sendable () throws(SyncError) -> Content
    private let make: @Sendable (Content) throws(SyncError) -> Element
    private var last: Result<Content, SyncError>?

    init(
        _ signals: AsyncStream<Void>, _ run: @escaping @Sendable () throws(SyncError) -> Content,
        _ make: @escaping @Sendable (Content) throws(SyncError) -> Element
    ) {
        self.signals = signals
        self.run = run
        self.make = make
    }

    mutating func next(isolation actor: isolated (any Actor)?) async -> Result<Element, SyncError>? {
        while await signals.next(isolation: actor) != nil {
            guard let answer = await answer() else { continue }
            if case .failure(let error) = answer.content, error.endsReads { return nil }
            last = answer.content
            return answer.element
        }
        return nil
    }

    /// Runs the query and makes the element on another thread, because the caller may be the main actor. Returns nil
    /// if the result is the same as before.
    @concurrent
    private func answer() async -> (content: Result<Content, SyncError>, element: Result<Element, SyncError>)? {
        let content = Result { () throws(SyncError) in try run() }
        if content == last { return nil }
        return (content, content.flatMap { found in Result { () throws(SyncError) in try make(found) } })
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
