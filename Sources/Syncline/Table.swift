// A table without a model: rows are columns with values.

public import SegmentLog
public import SynclineCore

/// A table of a store.
public struct Table: Sendable {
    let database: SyncDatabase
    /// The table's name.
    public let name: String

    /// Inserts a row, making an id if it has none. Returns the row as it is stored.
    @discardableResult
    public func insert(_ item: Value) async throws(SyncError) -> StoredRow {
        try await change(.insert, item)
    }

    /// Changes columns of a row; a row that is not there appears. Returns the row as it is then.
    @discardableResult
    public func update(_ item: Value) async throws(SyncError) -> StoredRow {
        try await change(.update, item)
    }

    /// Reads a row, changes it and stores the columns that differ, in one step. Returns the row as it is then.
    @discardableResult
    public func update(
        id: String, _ change: @escaping @Sendable (inout Row) throws -> Void
    ) async throws -> StoredRow {
        let name = name
        return try await database.perform(transaction: nil, isGrouped: false) { transaction in
            try transaction.update(name, id: id, change)
        }.value
    }

    /// Stores the columns in which two states of a row differ. What changed in other columns after the original was read
    /// stays as it is.
    @discardableResult
    public func update(_ edited: StoredRow, from original: StoredRow) async throws(SyncError) -> StoredRow {
        let name = name
        return try await alone { transaction throws(SyncError) in
            try transaction.update(name, edited, from: original)
        }
    }

    /// Deletes a row.
    public func delete(id: String) async throws(SyncError) {
        let name = name
        try await database.perform { engine throws(SyncError) in
            try engine.projector.check(table: name)
            try Item.check(id: id)
            _ = try engine.local(isGrouped: false) { (writer: inout LocalTransactionWriter) throws(SyncError) in
                try writer.change(.delete, name, id)
            }
            engine.touch(name)
        }
    }

    /// Inserts a row whose columns are encoded already.
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
            engine.touch(name)
        }
    }

    private func change(_ kind: OperationKind, _ item: Value) async throws(SyncError) -> StoredRow {
        let name = name
        return try await database.perform { engine throws(SyncError) in
            let (row, _) = try engine.local(isGrouped: false) {
                (writer: inout LocalTransactionWriter) throws(SyncError) in
                try writer.change(kind, name, item: item, engine.surroundings.newID)
            }
            engine.touch(name)
            return row
        }
    }

    /// Runs one change as a transaction of its own.
    func alone<Result: Sendable>(
        _ body: @escaping @Sendable (Transaction) throws(SyncError) -> Result
    ) async throws(SyncError) -> Result {
        do {
            return try await database.perform(transaction: nil, isGrouped: false) { transaction in
                try body(transaction)
            }.value
        } catch let error as SyncError {
            throw error
        } catch {
            throw SyncError(.internalError, "\(error)")
        }
    }

    /// The state, for a table that may be asked for.
    private var declaredReader: StateReader {
        get throws(SyncError) {
            let current = database.writer.current
            try current.declaration.check(name)
            return current.reader
        }
    }

    /// The row with an id; nil if there is none.
    public func get(id: String) async throws(SyncError) -> StoredRow? {
        let reader = try declaredReader
        return try inAppWords { () throws(StateError) in try reader.row(name, id) }
    }

    /// The rows that match a query.
    public func query(_ query: Query) async throws(SyncError) -> QueryResult {
        try query.check()
        let reader = try declaredReader
        return try inAppWords { () throws(StateError) in try reader.run(query) }
    }

    /// How many rows match.
    public func count(_ filter: Expression? = nil) async throws(SyncError) -> Int {
        let reader = try declaredReader
        return try inAppWords { () throws(StateError) in try reader.count(Query(table: name, filter: filter)) }
    }

    /// The results of a query, one each time a commit changes them; the present one first.
    public func observe(_ query: Query) -> QueryResults<QueryResult> {
        observe(query) { _ in
        } make: {
            $0
        }
    }

    func observe<Element: Sendable>(
        _ query: Query, check: @escaping @Sendable (StateReader) throws(SyncError) -> Void,
        make: @escaping @Sendable (QueryResult) throws(SyncError) -> Element
    ) -> QueryResults<Element> {
        let writer = database.writer
        return QueryResults(
            states: writer.observers.observe(name) { writer.current.reader },
            run: { reader throws(SyncError) in
                try query.check()
                try writer.current.declaration.check(name)
                try check(reader)
                return try inAppWords { () throws(StateError) in try reader.run(query) }
            }, make: make)
    }
}

/// Changes that are stored together.
public final class Transaction {
    private let engine: StoreEngine
    private var writer: LocalTransactionWriter
    private let surroundings: any Surroundings
    private var isOpen = true

    init(_ engine: StoreEngine, _ writer: LocalTransactionWriter, _ surroundings: any Surroundings) {
        self.engine = engine
        self.writer = writer
        self.surroundings = surroundings
    }

    func finish() -> LocalTransactionWriter {
        isOpen = false
        return writer
    }

    private func checkOpen() {
        precondition(isOpen, "a transaction is used within its closure only")
    }

    /// Inserts a row, making an id if it has none. Returns the row as it is stored.
    @discardableResult
    public func insert(_ table: String, _ item: Value) throws(SyncError) -> StoredRow {
        try change(.insert, table, item)
    }

    /// Changes columns of a row; a row that is not there appears. Returns the row as it is then.
    @discardableResult
    public func update(_ table: String, _ item: Value) throws(SyncError) -> StoredRow {
        try change(.update, table, item)
    }

    /// Deletes a row.
    public func delete(_ table: String, id: String) throws(SyncError) {
        checkOpen()
        try engine.projector.check(table: table)
        try Item.check(id: id)
        engine.touch(table)
        _ = try writer.change(.delete, table, id)
    }

    /// Inserts a row whose columns are encoded already.
    public func insert(_ table: String, id: String, columns: Row) throws(SyncError) {
        checkOpen()
        try engine.projector.check(table: table)
        try Item.check(id: id)
        engine.touch(table)
        try writer.change(.insert, table, id, columns)
    }

    /// Reads a row, changes it and stores the columns that differ. Returns the row as it is then.
    @discardableResult
    public func update(
        _ table: String, id: String, _ change: (inout Row) throws -> Void
    ) throws -> StoredRow {
        let original = try present(table, id)
        var edited = original
        try change(&edited.columns)
        return try update(table, edited, from: original)
    }

    /// Stores the columns in which two states of a row differ. What changed in other columns after the original was read
    /// stays as it is.
    @discardableResult
    public func update(
        _ table: String, _ edited: StoredRow, from original: StoredRow
    ) throws(SyncError) -> StoredRow {
        let changes = try difference(
            in: table, from: [.init("id", .string(original.id))] + original.columns.members,
            to: [.init("id", .string(edited.id))] + edited.columns.members)
        return try change(.update, table, .object(changes))
    }

    /// Deletes the row an item names.
    package func delete(_ table: String, item: Value) throws(SyncError) {
        guard let id = try Item(item).id else { throw SyncError(.missingID, "the item has no id") }
        try delete(table, id: id)
    }

    func change(_ kind: OperationKind, _ table: String, _ item: Value) throws(SyncError) -> StoredRow {
        checkOpen()
        engine.touch(table)
        return try writer.change(kind, table, item: item, surroundings.newID)
    }

    /// Says that a change which was made must not stay: the transaction is refused, whatever follows.
    func refuse(_ error: SyncError) {
        writer.refuse(error)
    }

    /// A row that is to be changed.
    func present(_ table: String, _ id: String) throws(SyncError) -> StoredRow {
        if let row = try get(table, id: id) { return row }
        throw SyncError(
            .rowDeleted, "\(table) has no row with this id",
            hint: "It was deleted, or never there. Insert it.", address: "\(table)/\(id)")
    }

    /// What an update sets: the columns in which two items about one row differ, for a row that is still there.
    func difference(
        in table: String, from original: [Value.Member], to edited: [Value.Member]
    ) throws(SyncError) -> [Value.Member] {
        guard let id = original.first(where: { $0.name == "id" }), edited.contains(id),
            case .string(let text) = id.value
        else {
            throw SyncError(.invalidID, "an update can't change a row's id", hint: "Insert another row.")
        }
        _ = try present(table, text)
        return [id] + original.changes(to: edited)
    }

    /// Whether the row's delete is pending.
    func isDeleted(_ table: String, _ id: String) throws(SyncError) -> Bool {
        let entry = try inAppWords { () throws(StateError) in try engine.reader.entry(table, id) }
        return entry?.pending != nil && entry?.visible == nil
    }

    /// A row as the transaction sees it, its own changes included.
    public func get(_ table: String, id: String) throws(SyncError) -> StoredRow? {
        checkOpen()
        try engine.projector.declaration.check(table)
        return try inAppWords { () throws(StateError) in try engine.reader.row(table, id) }
    }

    /// The rows that match a query, as the transaction sees them.
    public func query(_ query: Query) throws(SyncError) -> QueryResult {
        checkOpen()
        try query.check()
        try engine.projector.declaration.check(query.table)
        return try inAppWords { () throws(StateError) in try engine.reader.run(query) }
    }
}
