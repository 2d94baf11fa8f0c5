// A table without a model: a row is a set of columns with values.

public import SegmentLog
public import SynclineCore

/// A table of a store.
public struct RowTable: Sendable {
    let database: SyncDatabase
    /// The table's name.
    public let name: String

    /// Inserts a row and returns it as stored. Makes an id if the item has none.
    @discardableResult
    @concurrent
    public func insert(_ item: Value) async throws(SyncError) -> StoredRow {
        let name = name
        return try await alone { transaction throws(SyncError) in try transaction.insert(name, item) }
    }

    /// Sets columns of a row and returns the row as stored. Creates the row if it does not exist.
    @discardableResult
    @concurrent
    public func update(_ item: Value) async throws(SyncError) -> StoredRow {
        let name = name
        return try await alone { transaction throws(SyncError) in try transaction.update(name, item) }
    }

    /// Reads a row, changes it and stores the columns that differ, in one transaction. Returns the row as stored.
    @discardableResult
    @concurrent
    public func update(
        id: String, _ change: @escaping @Sendable (inout Row) throws -> Void
    ) async throws -> StoredRow {
        let name = name
        return try await database.perform(transaction: nil, isGrouped: false) { transaction in
            try transaction.update(name, id: id, change)
        }.value
    }

    /// Stores the columns that differ between two versions of a row. Changes made to other columns since the
    /// original was read are kept.
    @discardableResult
    @concurrent
    public func update(_ edited: StoredRow, from original: StoredRow) async throws(SyncError) -> StoredRow {
        let name = name
        return try await alone { transaction throws(SyncError) in
            try transaction.update(name, edited, from: original)
        }
    }

    /// Deletes a row.
    @concurrent
    public func delete(id: String) async throws(SyncError) {
        let name = name
        try await alone { transaction throws(SyncError) in try transaction.delete(name, id: id) }
    }

    /// Inserts a row whose columns are already encoded.
    @concurrent
    public func insert(
        id: String, columns: Row, durability: Durability? = nil
    ) async throws(SyncError) {
        let name = name
        try await alone(durability) { transaction throws(SyncError) in
            try transaction.insert(name, id: id, columns: columns)
        }
    }

    /// Runs one change, or several with `isGrouped`, as a transaction of its own.
    @inline(__always)
    func alone<Result: Sendable>(
        _ durability: Durability? = nil, isGrouped: Bool = false,
        _ body: @escaping @Sendable (SyncTransaction) throws(SyncError) -> Result
    ) async throws(SyncError) -> Result {
        try await database.perform(durability) { engine throws(SyncError) in
            try engine.local(TransactionHeading(isGrouped: isGrouped), body).value
        }
    }

    /// The current state; throws if the store is strict and the table is not declared.
    var declaredReader: StateReader {
        get throws(SyncError) {
            let current = database.writer.current
            try current.declaration.check(name)
            return try current.reader
        }
    }

    /// Returns the row with an id, or nil if there is none.
    @concurrent
    public func get(id: String) async throws(SyncError) -> StoredRow? {
        let reader = try declaredReader
        return try reader.row(name, id)
    }

    /// Returns the rows that match a query.
    @concurrent
    public func query(_ query: RowQuery) async throws(SyncError) -> QueryResult {
        try query.check()
        let reader = try declaredReader
        return try reader.run(query)
    }

    /// Runs a query, and returns how its rows were found: which index was used, and how much was read.
    @concurrent
    public func explain(_ query: RowQuery) async throws(SyncError) -> QueryPlan {
        try query.check()
        let reader = try declaredReader
        return try reader.explain(query).plan
    }

    /// Returns the number of rows that match.
    @concurrent
    public func count(_ filter: FilterExpression? = nil) async throws(SyncError) -> Int {
        try await count(RowQuery(table: name, filter: filter))
    }

    /// Returns the number of rows that a query shows.
    @concurrent
    func count(_ query: RowQuery) async throws(SyncError) -> Int {
        try query.check()
        let reader = try declaredReader
        return try reader.count(query)
    }

    /// Counts the rows that match, and returns how they were found. An index may count them without reading one.
    @concurrent
    public func explainCount(_ filter: FilterExpression? = nil) async throws(SyncError) -> QueryPlan {
        try await explainCount(RowQuery(table: name, filter: filter))
    }

    /// Counts the rows that a query shows, and returns how they were found.
    @concurrent
    func explainCount(_ query: RowQuery) async throws(SyncError) -> QueryPlan {
        try query.check()
        let reader = try declaredReader
        return try reader.explainCount(query).plan
    }

    /// Observes a query: yields its current results, and the newest ones after commits that change them.
    public func observe(_ query: RowQuery) -> LiveResults<QueryResult, SyncError> {
        observe({ LiveWindow(query) }) { () throws(SyncError) in try query.check() }
    }

    /// Observes live content of the table, and of others for which `check` answers.
    func observe<Content: LiveContent>(
        _ content: @escaping @Sendable () -> sending Content,
        check: @escaping @Sendable () throws(SyncError) -> Void = {}
    ) -> LiveResults<Content.Result, SyncError> {
        let table = self
        return database.writer.observe(content) { () throws(SyncError) in
            try check()
            _ = try table.declaredReader
        }
    }
}
