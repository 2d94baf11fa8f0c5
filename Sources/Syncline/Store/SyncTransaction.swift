// A transaction: changes of rows that are decided on the state after one another, and stored together.

public import SynclineCore

/// A set of changes that are stored together.
public final class SyncTransaction {
    private let engine: StoreEngine
    // Unchecked: one thread runs the transaction, and the writer calls nothing of it.
    @exclusivity(unchecked) var writer: LocalTransactionWriter
    private var isOpen = true

    init(_ engine: StoreEngine, _ writer: LocalTransactionWriter) {
        self.engine = engine
        self.writer = writer
    }

    /// Its closure has ended.
    func close() { isOpen = false }

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
        try change(.delete, table, id)
    }

    /// Inserts a row whose columns are already encoded.
    public func insert(_ table: String, id: String, columns: Row) throws(SyncError) {
        try change(.insert, table, id, columns)
    }

    /// Makes a change whose columns are already encoded, if it changes something.
    func make(_ change: LocalChange) throws(SyncError) {
        try self.change(change.kind, change.table, change.id, change.columns)
    }

    private func change(
        _ kind: OperationKind, _ table: String, _ id: String, _ columns: Row = .empty
    ) throws(SyncError) {
        checkOpen()
        try engine.projector.check(table: table)
        try Item.check(id: id)
        try writer.change(kind, table, id, columns)
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

    /// Refuses the whole transaction, whatever the rest of it does, because a change already made must not stay.
    func refuse(_ error: SyncError) {
        writer.refuse(error)
    }

    /// Returns a row that is to be changed.
    func present(_ table: String, _ id: String) throws(SyncError) -> StoredRow {
        if let row = try get(table, id: id) { return row }
        if try isDeleted(table, id) { throw LocalDecision.rowDeleted(table, id) }
        throw SyncError(
            .rowAbsent, "\(table) has no row with this id",
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

    /// Returns whether a row is there, and has the values of an item.
    func has(_ table: String, _ item: Item) throws(SyncError) -> Bool {
        guard let id = item.id, let row = try get(table, id: id) else { return false }
        let types = try engine.reader.types(of: table)
        return item.columns.members.allSatisfy { member in
            types[member.name].keeps(row.columns[member.name] ?? .null, under: member.value)
        }
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
