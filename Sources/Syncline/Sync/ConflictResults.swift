// Observes the operations that await the app's decision.

import SegmentLog
public import SynclineCore

/// The operations that await a decision: the current list first, then a new list after each change. A slow reader
/// may miss outdated lists. An error, such as a row that a model can't decode, does not end the sequence: `next()`
/// throws it once and then waits for the next list.
public struct ConflictResults<Element: Sendable>: AsyncSequence, Sendable {
    let signals: AsyncStream<Void>
    let run: @Sendable () throws(SyncError) -> [Conflict]
    let make: @Sendable ([Conflict]) throws(SyncError) -> Element

    /// The iterator of the lists.
    public struct Iterator: AsyncIteratorProtocol {
        var answers: Answers<[Conflict], Element>

        public mutating func next() async throws -> Element? {
            try await next(isolation: nil)
        }

        public mutating func next(isolation actor: isolated (any Actor)?) async throws(any Error) -> Element? {
            try await answers.next(isolation: actor)?.get()
        }
    }

    public func makeAsyncIterator() -> Iterator { Iterator(answers: Answers(signals, run, make)) }
}

extension SyncDatabase {
    /// Observes the operations that await a decision, in one table or in all.
    public func observeConflicts(table: String? = nil) throws(SyncError) -> ConflictResults<[Conflict]> {
        if let table { try checkDeclared(table) }
        return observeConflicts(table) { $0 }
    }

    func observeConflicts<Element: Sendable>(
        _ table: String?, _ element: @escaping @Sendable ([Conflict]) throws(SyncError) -> Element
    ) -> ConflictResults<Element> {
        let writer = writer
        return ConflictResults(
            signals: writer.observers.rows(of: table),
            run: { () throws(SyncError) in
                let reader = try writer.current.reader
                let all = try reader.conflicts()
                return table.map { table in all.filter { $0.table == table } } ?? all
            }, make: element)
    }
}

extension SyncTable {
    /// Observes the operations on this table that await a decision.
    public func observeConflicts() throws(SyncError) -> ConflictResults<[SyncConflict<Model>]> {
        try untyped.database.checkDeclared(untyped.name)
        let table = self
        return untyped.database.observeConflicts(untyped.name) { conflicts throws(SyncError) in
            try table.typed(conflicts)
        }
    }
}
