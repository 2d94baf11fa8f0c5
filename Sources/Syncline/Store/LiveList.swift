// A live query of one observer: its content, and the version of its tables that the content describes. Commits change the
// content on a queue of the store; the observer takes the newest result when it is ready for one, and so misses those
// that were replaced meanwhile.

import SynclineCore
import SynclineGround

/// A live query as the queue sees it, which tells it of commits.
protocol LiveFollower: AnyObject, Sendable {
    /// The UTF-8 of the names of its tables, each once.
    var tables: [[UInt8]] { get }

    /// Takes the changes of some of its tables into account, which lead from a version of all of them to a state; nil
    /// if it is not known what they are, and every table may have changed.
    func update(_ changes: [TableChanges]?, to reader: StateReader, from version: UInt64)

    /// The store could not be read. The next change runs the query again.
    func fail(_ error: SyncError)

    func finish()
}

final class LiveList<Content: LiveContent>: LiveFollower {
    private struct State {
        var content: Content
        /// Whether the query was run.
        var isLoaded = false
        /// The version of the tables; nil if it is not known, and the next change has to run the query again.
        var version: UInt64?
        var failure: SyncError?

        /// Changes the content; if that fails, the query has to be run again.
        mutating func change(_ body: (inout Content) throws(SyncError) -> Bool) -> Bool {
            isLoaded = true
            do throws(SyncError) {
                let isChanged = try body(&content)
                failure = nil
                return isChanged
            } catch {
                failure = error
                version = nil
                return true
            }
        }
    }

    let tables: [[UInt8]]
    private let state: Mutex<State>
    /// Wakes the observer.
    private let signal: AsyncStream<Void>.Continuation

    init(_ content: sending Content, _ signal: AsyncStream<Void>.Continuation) {
        tables = content.tables.map { Array($0.utf8) }
        self.signal = signal
        state = Mutex(State(content: content))
        signal.yield()
    }

    func finish() { signal.finish() }

    /// Returns the current result. The first call runs the query, on the calling thread.
    func result(
        from lists: LiveLists, current: () throws(SyncError) -> StateReader
    ) -> Result<Content.Result, SyncError> {
        state.withLock { state in
            if !state.isLoaded {
                let reader: StateReader
                do throws(SyncError) {
                    (reader, state.version) = try lists.newest(of: tables, current: current)
                } catch {
                    return .failure(error)
                }
                _ = state.change { content throws(SyncError) in
                    try content.load(reader)
                    return true
                }
            }
            if let failure = state.failure { return .failure(failure) }
            return .success(state.content.result)
        }
    }

    func update(_ changes: [TableChanges]?, to reader: StateReader, from version: UInt64) {
        let isChanged = state.withLock { state in
            // Until the observer asks, there is nothing to keep up to date.
            guard state.isLoaded else { return false }
            let isNext = state.version == version
            state.version = version + UInt64(changes?.count ?? tables.count)
            return state.change { content throws(SyncError) in
                guard isNext, let changes else {
                    try content.load(reader)
                    return true
                }
                var isChanged = false
                for part in changes { isChanged = try content.update(part) || isChanged }
                return isChanged
            }
        }
        if isChanged { signal.yield() }
    }

    func fail(_ error: SyncError) {
        state.withLock { state in
            state.failure = error
            state.version = nil
        }
        signal.yield()
    }
}
