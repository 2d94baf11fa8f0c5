// Turns states of a store into an observer's answers.

import SynclineCore

/// Runs a query on each state, and drops a result or error equal to the one before.
struct Answers<State: Sendable, Content: Hashable & Sendable, Element: Sendable> {
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
        while let state = await nextState(isolation: actor) {
            let content = Result { () throws(SyncError) in try run(state) }
            if content == last { continue }
            last = content
            return content.flatMap { found in Result { () throws(SyncError) in try make(found) } }
        }
        return nil
    }

    /// The iterators of a stream take turns, so each state has one of its own, which may be used on any thread.
    private func nextState(isolation actor: isolated (any Actor)?) async -> State? {
        var states = states.makeAsyncIterator()
        if #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) {
            return await states.next(isolation: actor)
        }
        return await states.next()
    }
}
