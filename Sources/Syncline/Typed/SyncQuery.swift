// A query on a typed table. The names of its columns are checked.

public import SynclineCore

/// A query on a typed table.
public struct SyncQuery<Model: SyncModel>: Sendable where Model.ID == String {
    private let table: SyncTable<Model>
    private var query: RowQuery

    init(table: SyncTable<Model>) {
        self.table = table
        query = RowQuery(table: table.name)
    }

    /// Adds a condition to the query.
    public func `where`(_ filter: (Columns<Model>) -> Filter) -> Self {
        var copy = self
        let added = filter(Columns()).expression
        copy.query.filter = query.filter.map { .and($0, added) } ?? added
        return copy
    }

    /// Sorts by a column, after the sort keys given before.
    public func order(by column: String, descending: Bool = false) -> Self {
        var copy = self
        copy.query.order.append(.init(column, descending: descending))
        return copy
    }

    /// Returns at most this many models.
    public func top(_ count: Int) -> Self {
        var copy = self
        copy.query.top = max(0, count)
        return copy
    }

    /// Skips the first models.
    public func skip(_ count: Int) -> Self {
        var copy = self
        copy.query.skip = max(0, count)
        return copy
    }

    /// Runs the query.
    public func get() async throws(SyncError) -> [Model] {
        try check(table.untyped.database.reader)
        return try table.decode(try await table.untyped.query(query).rows)
    }

    /// Returns the number of matching rows, ignoring `top` and `skip`. Counts rows that the model can't decode, too.
    public func count() async throws(SyncError) -> Int {
        try check(table.untyped.database.reader)
        return try await table.untyped.count(query.filter)
    }

    /// Observes the query: yields its current models, and new ones after each commit that changes them. A row that
    /// the model can't decode is an error, which does not end the sequence: see ``QueryResults``.
    public func observe() throws(SyncError) -> QueryResults<[Model]> {
        try check(table.untyped.database.reader)
        let asked = self
        return table.untyped.observe(query) { reader throws(SyncError) in
            try asked.check(reader)
        } make: { result throws(SyncError) in
            try asked.table.decode(result.rows)
        }
    }

    /// Throws if the query names a column that the model lacks. Returns false if a row is needed to know its columns.
    @discardableResult
    private func check(_ reader: StateReader) throws(SyncError) -> Bool {
        var named = (query.filter?.columns ?? []).union(query.order.map(\.column))
        named.subtract(Item.systemColumns)
        named.remove("id")
        if named.isEmpty { return true }
        let columns = ModelColumns.of(Model.self) {
            // The first of a few rows that the model can decode.
            let rows = try? reader.run(RowQuery(table: table.name, top: 8)).rows
            return rows?.lazy.compactMap { try? table.decode($0) }.first
        }
        guard columns.isWhole else { return false }
        guard let unknown = named.sorted().first(where: { !columns.has($0) }) else { return true }
        throw SyncError(
            .unsupportedPredicate, "\(Model.self) has no column \"\(unknown)\"",
            hint: "It has: \(columns.names.union(Item.systemColumns).union(["id"]).sorted().joined(separator: ", ")).")
    }
}
