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
        try await change(.insert, item)
    }

    /// Sets columns of a row and returns the row as stored. Creates the row if it does not exist.
    @discardableResult
    @concurrent
    public func update(_ item: Value) async throws(SyncError) -> StoredRow {
        try await change(.update, item)
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
        try await database.perform { engine throws(SyncError) in
            try engine.projector.check(table: name)
            try Item.check(id: id)
            _ = try engine.local(isGrouped: false) { (writer: inout LocalTransactionWriter) throws(SyncError) in
                try writer.change(.delete, name, id)
            }
        }
    }

    /// Inserts a row whose columns are already encoded.
    @concurrent
    public func insert(
        id: String, columns: Row, durability: Durability? = nil
    ) async throws(SyncError) {
        let name = name
        try await database.perform(durability) { engine throws(SyncError) in
            try engine.projector.check(table: name)
            try Item.check(id: id)
            _ = try engine.local(isGrouped: false) { (writer: inout LocalTransactionWriter) throws(SyncError) in
                try writer.change(.insert, name, id, columns)
            }
        }
    }

    private func change(_ kind: OperationKind, _ item: Value) async throws(SyncError) -> StoredRow {
        let name = name
        return try await database.perform { engine throws(SyncError) in
            let (row, _) = try engine.local(isGrouped: false) {
                (writer: inout LocalTransactionWriter) throws(SyncError) in
                try writer.change(kind, name, item: item, engine.environment.newID)
            }
            return row
        }
    }

    /// Runs one change as a transaction of its own.
    func alone<Result: Sendable>(
        _ body: @escaping @Sendable (SyncTransaction) throws(SyncError) -> Result
    ) async throws(SyncError) -> Result {
        do {
            return try await database.perform(transaction: nil, isGrouped: false) { transaction in
                try body(transaction)
            }.value
        } catch {
            throw error as? SyncError ?? SyncError(.internalError, "\(error)")
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
        let reader = try declaredReader
        return try reader.count(RowQuery(table: name, filter: filter))
    }

    /// Counts the rows that match, and returns how they were found. An index may count them without reading one.
    @concurrent
    public func explainCount(_ filter: FilterExpression? = nil) async throws(SyncError) -> QueryPlan {
        let reader = try declaredReader
        return try reader.explainCount(RowQuery(table: name, filter: filter)).plan
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

/// A set of changes that are stored together.
public final class SyncTransaction {
    private let engine: StoreEngine
    private var writer: LocalTransactionWriter
    private var isOpen = true

    init(_ engine: StoreEngine, _ writer: LocalTransactionWriter) {
        self.engine = engine
        self.writer = writer
    }

    func finish() -> LocalTransactionWriter {
        isOpen = false
        return writer
    }

    private func checkOpen() {
        precondition(isOpen, "a transaction can be used only within its closure")
    }

    /// Inserts a row and returns it as stored. Makes an id if the item has none.
    @discardableResult
    public func insert(_ table: String, _ item: Value) throws(SyncError) -> StoredRow {
        try change(.insert, table, item)
    }

    /// Sets columns of a row and returns the row as stored. Creates the row if it does not exist.
    @discardableResult
    public func update(_ table: String, _ item: Value) throws(SyncError) -> StoredRow {
        try change(.update, table, item)
    }

    /// Deletes a row.
    public func delete(_ table: String, id: String) throws(SyncError) {
        checkOpen()
        try engine.projector.check(table: table)
        try Item.check(id: id)
        _ = try writer.change(.delete, table, id)
    }

    /// Inserts a row whose columns are already encoded.
    public func insert(_ table: String, id: String, columns: Row) throws(SyncError) {
        checkOpen()
        try engine.projector.check(table: table)
        try Item.check(id: id)
        try writer.change(.insert, table, id, columns)
    }

    /// Reads a row, changes it and stores the columns that differ. Returns the row as stored.
    @discardableResult
    public func update(
        _ table: String, id: String, _ change: (inout Row) throws -> Void
    ) throws -> StoredRow {
        let original = try present(table, id)
        var edited = original
        try change(&edited.columns)
        return try update(table, edited, from: original)
    }

    /// Stores the columns that differ between two versions of a row. Changes made to other columns since the
    /// original was read are kept.
    @discardableResult
    public func update(
        _ table: String, _ edited: StoredRow, from original: StoredRow
    ) throws(SyncError) -> StoredRow {
        let changes = try difference(
            in: table, from: [.init("id", .string(original.id))] + original.columns.members,
            to: [.init("id", .string(edited.id))] + edited.columns.members)
        return try change(.update, table, .object(changes))
    }

    /// Deletes the row whose id an item has.
    package func delete(_ table: String, item: Value) throws(SyncError) {
        guard let id = try Item(item).id else { throw SyncError(.missingID, "the item has no id") }
        try delete(table, id: id)
    }

    func change(_ kind: OperationKind, _ table: String, _ item: Value) throws(SyncError) -> StoredRow {
        checkOpen()
        return try writer.change(kind, table, item: item, engine.environment.newID)
    }

    /// The numbers of changes, including the transaction's own.
    var totals: Totals { engine.projector.totals }

    /// Refuses the whole transaction, whatever the rest of it does, because a change already made must not stay.
    func refuse(_ error: SyncError) {
        writer.refuse(error)
    }

    /// Returns a row that is to be changed.
    func present(_ table: String, _ id: String) throws(SyncError) -> StoredRow {
        if let row = try get(table, id: id) { return row }
        throw SyncError(
            .rowDeleted, "\(table) has no row with this id",
            hint: "It was deleted or never existed. Insert it.", address: "\(table)/\(id)")
    }

    /// Returns what an update sets: the columns that differ between two items of a row that still exists.
    func difference(
        in table: String, from original: [Value.Member], to edited: [Value.Member]
    ) throws(SyncError) -> [Value.Member] {
        guard let id = original[member: "id"], edited[member: "id"] == id, case .string(let text) = id else {
            throw SyncError(.invalidID, "an update can't change a row's id", hint: "Insert another row.")
        }
        _ = try present(table, text)
        return [.init("id", id)] + original.changes(to: edited)
    }

    /// Returns whether the store knows a row, including one whose delete is pending.
    func knows(_ table: String, _ id: String) throws(SyncError) -> Bool {
        try engine.reader.entry(table, id) != nil
    }

    /// Returns whether the row's delete is pending.
    func isDeleted(_ table: String, _ id: String) throws(SyncError) -> Bool {
        let entry = try engine.reader.entry(table, id)
        return entry?.pending != nil && entry?.visible == nil
    }

    /// Returns a row, including the transaction's own changes.
    public func get(_ table: String, id: String) throws(SyncError) -> StoredRow? {
        checkOpen()
        try engine.projector.declaration.check(table)
        return try engine.reader.row(table, id)
    }

    /// Returns the rows that match a query, including the transaction's own changes.
    public func query(_ query: RowQuery) throws(SyncError) -> QueryResult {
        checkOpen()
        try query.check()
        try engine.projector.declaration.check(query.table)
        return try engine.reader.run(query)
    }
}
