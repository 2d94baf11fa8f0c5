// Turns states of a store into an observer's answers.

import SynclineCore

/// Runs a query on each state, and drops a result or error equal to the one before.
struct Answers<State: Sendable, Content: Hashable & Sendable, Element: Sendable>: Sendable {
    private let states: AsyncStream<State>
    private let run: @Sendable (State) throws(SyncError) -> Content
    private let make: @Sendable (Content) throws(SyncError) -> Element
    private var last: Result<Content, SyncError>?

    init(
        _ states: AsyncStream<State>, _ run: @escaping @Sendable (State) throws(SyncError) -> Content,
        _ make: @escaping @Sendable (Content) throws(SyncError) -> Element
    ) {
        self.states = states
        self.run = run
        self.make = make
    }

    mutating func next(isolation actor: isolated (any Actor)?) async -> Result<Element, SyncError>? {
        while let state = await states.next(isolation: actor) {
            guard let answer = await answer(to: state) else { continue }
            last = answer.content
            return answer.element
        }
        return nil
    }

    /// Runs the query and makes the element on another thread, because the caller may be the main actor. Returns nil
    /// if the result is the same as before.
    @concurrent
    private func answer(
        to state: State
    ) async -> (content: Result<Content, SyncError>, element: Result<Element, SyncError>)? {
        let content = Result { () throws(SyncError) in try run(state) }
        if content == last { return nil }
        return (content, content.flatMap { found in Result { () throws(SyncError) in try make(found) } })
    }
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
