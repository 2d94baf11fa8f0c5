// A live query of one observer: its window, and the version of the table that the window describes. Commits change the
// window on a queue of the store; the observer takes the newest result when it is ready for one, and so misses those
// that were replaced meanwhile.

import SynclineCore
import SynclineGround

final class LiveList: Sendable {
    private struct State {
        var window: LiveWindow
        /// Whether the query was run.
        var isLoaded = false
        /// The version of the table; nil if it is not known, and the next change has to run the query again.
        var version: UInt64?
        var failure: SyncError?

        /// Changes the window; if that fails, the query has to be run again.
        mutating func change(_ body: (inout LiveWindow) throws(StateError) -> Bool) -> Bool {
            isLoaded = true
            do throws(StateError) {
                let isChanged = try body(&window)
                failure = nil
                return isChanged
            } catch {
                failure = SyncError(error)
                version = nil
                return true
            }
        }
    }

    /// The UTF-8 of the table's name.
    let table: [UInt8]
    private let state: Mutex<State>
    /// Wakes the observer.
    private let signal: AsyncStream<Void>.Continuation

    init(_ query: RowQuery, _ signal: AsyncStream<Void>.Continuation) {
        table = Array(query.table.utf8)
        self.signal = signal
        state = Mutex(State(window: LiveWindow(query)))
        signal.yield()
    }

    func finish() { signal.finish() }

    /// Returns the current result. The first call runs the query, on the calling thread.
    func result(from lists: LiveLists, current: () -> StateReader) -> Result<QueryResult, SyncError> {
        state.withLock { state in
            if !state.isLoaded {
                let (reader, version) = lists.newest(of: table, current: current)
                state.version = version
                _ = state.change { window throws(StateError) in
                    try window.load(reader)
                    return true
                }
            }
            if let failure = state.failure { return .failure(failure) }
            return .success(state.window.result)
        }
    }

    /// Takes changes into account that lead from one version of the table to the next; nil if it is not known what
    /// they are.
    func update(_ changes: TableChanges?, to reader: StateReader, from version: UInt64) {
        let isChanged = state.withLock { state in
            // Until the observer asks, there is nothing to keep up to date.
            guard state.isLoaded else { return false }
            let isNext = state.version == version
            state.version = version + 1
            return state.change { window throws(StateError) in
                if isNext, let changes { return try window.update(changes) }
                try window.load(reader)
                return true
            }
        }
        if isChanged { signal.yield() }
    }

    /// The store could not be read. The next change runs the query again.
    func fail(_ error: SyncError) {
        state.withLock { state in
            state.failure = error
            state.version = nil
        }
        signal.yield()
    }
}
