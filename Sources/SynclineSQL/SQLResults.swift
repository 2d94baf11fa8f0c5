// The results of an observed statement. It runs on the newest state when the reader asks for the next result: a slow reader
// may miss results, but never gets an old one.

import Syncline

/// The results of an observed statement: the current rows first, then new ones after each commit that changes them.
///
/// An error, such as a table that does not exist yet, does not end the sequence: `next()` throws it once and then
/// waits for the next commit.
public struct SQLResults<Item: Hashable & Sendable>: AsyncSequence, Sendable {
    let database: SyncDatabase
    /// The tables that the results depend on; nil if any commit may change them.
    let tables: @Sendable (SQLSource) async -> Set<String>?
    let run: @Sendable (SQLSource) async throws(SyncError) -> [Item]

    /// The iterator of the results.
    public struct Iterator: AsyncIteratorProtocol {
        private let results: SQLResults
        /// Nil before the first result.
        private var signals: AsyncStream<Void>?
        private var watched: Set<String>?
        private var last: Result<[Item], SyncError>?

        init(_ results: SQLResults) {
            self.results = results
        }

        public mutating func next() async throws -> [Item]? {
            try await next(isolation: nil)
        }

        public mutating func next(isolation actor: isolated (any Actor)?) async throws(any Error) -> [Item]? {
            while await waits(isolation: actor) {
                // Signals are requested before the statement runs, so that no commit is missed.
                if watched == nil {
                    watched =
                        if let source = try? results.database.sqlSource { await results.tables(source) } else { nil }
                    signals = results.database.signals(of: watched)
                }
                let result: Result<[Item], SyncError>
                do throws(SyncError) {
                    result = .success(try await results.run(results.database.sqlSource))
                } catch {
                    if Task.isCancelled || error.endsReads { return nil }
                    result = .failure(error)
                }
                if result == last { continue }
                last = result
                return try result.get()
            }
            return nil
        }

        /// Waits for a commit, except before the first result. Returns false if there are no more commits.
        private func waits(isolation actor: isolated (any Actor)?) async -> Bool {
            guard let signals else { return true }
            return await signals.next(isolation: actor) != nil
        }
    }

    public func makeAsyncIterator() -> Iterator { Iterator(self) }
}
