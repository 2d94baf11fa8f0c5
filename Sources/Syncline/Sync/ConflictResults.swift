// Tells an app of the operations that wait for its decision, whenever they become others.

import SegmentLog
public import SynclineCore

/// The operations that wait for a decision, one list each time they become others; the present one first. A slow reader
/// may miss lists that are no longer true. An error, such as a row that a model can't decode, does not end the sequence:
/// `next()` throws it once and then waits for the next list.
public struct ConflictResults<Element: Sendable>: AsyncSequence, Sendable {
    let states: AsyncStream<StateReader>
    let run: @Sendable (StateReader) throws(SyncError) -> [Conflict]
    let make: @Sendable ([Conflict]) throws(SyncError) -> Element

    /// Waits for the next list.
    public struct Iterator: AsyncIteratorProtocol {
        var answers: Answers<[Conflict], Element>

        public mutating func next() async throws -> Element? {
            try await next(isolation: nil)
        }

        public mutating func next(isolation actor: isolated (any Actor)?) async throws(any Error) -> Element? {
            try await answers.next(isolation: actor)?.get()
        }
    }

    public func makeAsyncIterator() -> Iterator { Iterator(answers: Answers(states, run, make)) }
}

extension SyncDatabase {
    /// Operations that wait for a decision, now and whenever they become others; of one table, if one is named.
    public func observeConflicts(table: String? = nil) throws(SyncError) -> ConflictResults<[Conflict]> {
        if let table { try checkDeclared(table) }
        return observeConflicts(table) { $0 }
    }

    func observeConflicts<Element: Sendable>(
        _ table: String?, _ element: @escaping @Sendable ([Conflict]) throws(SyncError) -> Element
    ) -> ConflictResults<Element> {
        let writer = writer
        return ConflictResults(
            states: writer.observers.observe(table) { writer.current.reader },
            run: { reader throws(SyncError) in
                let all = try inAppWords { () throws(StateError) in try reader.conflicts() }
                return table.map { table in all.filter { $0.table == table } } ?? all
            }, make: element)
    }
}

extension TypedTable {
    /// Operations on the table that wait for a decision, now and whenever they become others.
    public func observeConflicts() throws(SyncError) -> ConflictResults<[TypedConflict<Model>]> {
        try untyped.database.checkDeclared(untyped.name)
        let table = self
        return untyped.database.observeConflicts(untyped.name) { conflicts throws(SyncError) in
            try table.typed(conflicts)
        }
    }
}
