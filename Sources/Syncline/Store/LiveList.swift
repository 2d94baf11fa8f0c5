// Live content of one observer, and the version of its tables that the content describes. Commits change the content on a
// queue of the store; the observer takes the newest result when it is ready for one, and so misses those that were
// replaced meanwhile.

import SynclineCore
import SynclineGround

/// Live content as the store sees it, which tells it of commits.
protocol LiveFollower: AnyObject, Sendable {
    /// The UTF-8 of the names of its tables, each once; nil for all tables.
    var tables: [[UInt8]]? { get }

    /// Takes changes into account. Returns whether its observer has to be told.
    func update(_ update: LiveUpdate) -> Bool
}

final class LiveList<Content: LiveContent>: LiveFollower {
    private struct State {
        var content: Content
        /// Whether the content was loaded.
        var isLoaded = false
        /// The version of the tables; nil if it is not known, and the next change has to load the content again.
        var version: UInt64?
        var failure: SyncError?
        /// What the observer took last.
        var taken: Result<Content.Result, SyncError>?

        /// Changes the content; if that fails, it has to be loaded again.
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

    let tables: [[UInt8]]?
    private let state: Mutex<State>
    private let writer: StoreWriter
    private let check: @Sendable () throws(SyncError) -> Void

    /// - Parameter check: Called before the content is loaded.
    init(
        _ content: sending Content, _ writer: StoreWriter, check: @escaping @Sendable () throws(SyncError) -> Void
    ) {
        tables = content.tables?.map { Array($0.utf8) }
        self.writer = writer
        self.check = check
        state = Mutex(State(content: content))
    }

    /// Returns the current result or error; nil if it equals the one before, or if the store is closed. The first call
    /// loads the content, on the calling thread.
    func take() -> Result<Content.Result, SyncError>? {
        state.withLock { state in
            do throws(SyncError) {
                // In this order: changes that are being passed on may have passed this list, but not the state read then.
                let known = state.isLoaded ? nil : writer.observers.state(of: tables)
                let current = try writer.current.reader
                if !state.isLoaded {
                    state.version = known?.version
                    _ = state.change { content throws(SyncError) in try load(&content, known?.reader ?? current) }
                }
            } catch {
                return nil
            }
            let result = state.failure.map(Result.failure) ?? .success(state.content.result)
            if result == state.taken || state.failure?.endsReads ?? false { return nil }
            state.taken = result
            return result
        }
    }

    func update(_ update: LiveUpdate) -> Bool {
        state.withLock { state in
            // Until the observer asks, there is nothing to keep up to date.
            guard state.isLoaded else { return false }
            let isNext = state.version == update.oldVersion
            state.version = update.newVersion
            return state.change { content throws(SyncError) in
                guard isNext, let changes = update.changes else { return try load(&content, update.reader) }
                var isChanged = false
                for part in changes { isChanged = try content.update(part) || isChanged }
                return isChanged
            }
        }
    }

    private func load(_ content: inout Content, _ reader: StateReader) throws(SyncError) -> Bool {
        try check()
        try content.load(reader)
        return true
    }
}
