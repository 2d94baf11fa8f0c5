// A table of an app's own type. It shares its rows with the untyped table; both can be used together. Each change is
// implemented once, in `SyncTransaction+Models.swift`; here it is a transaction of its own.

public import SynclineCore
import SynclineGround

/// A table of models.
public struct SyncTable<Model: SyncModel>: Sendable {
    /// The same table without a model.
    public let untyped: RowTable
    /// Called with each row that the model can't decode; nil if those are thrown as errors.
    private var report: (@Sendable (SyncError) -> Void)?

    init(_ table: RowTable) {
        untyped = table
    }

    /// The table's name.
    public var name: String { untyped.name }

    /// Returns the same table, but with rows that the model can't decode left out of lists, live queries and
    /// conflicts. Each is reported whenever such a list is made, as an error that names the row.
    public func skippingUndecodable(_ report: @escaping @Sendable (SyncError) -> Void) -> Self {
        var copy = self
        copy.report = report
        return copy
    }

    // MARK: Changes

    /// Inserts a model and returns it as stored. If the stored row can't be decoded, nothing is stored.
    @discardableResult
    @concurrent
    public func insert(_ model: Model) async throws(SyncError) -> Model {
        try await untyped.alone { transaction throws(SyncError) in try transaction.insert(model, in: self) }
    }

    /// Inserts models in one transaction, and returns them as stored.
    @discardableResult
    @concurrent
    public func insert(_ models: some Sequence<Model> & Sendable) async throws(SyncError) -> [Model] {
        try await untyped.alone(isGrouped: true) { transaction throws(SyncError) in
            try transaction.insert(models, in: self)
        }
    }

    /// Inserts a model, or sets the columns that differ from its row. What changed since the model was read is not
    /// detected and is overwritten: ``update(id:_:)`` and ``update(_:from:)`` keep it.
    @discardableResult
    @concurrent
    public func overwrite(_ model: Model) async throws(SyncError) -> Model {
        try await untyped.alone { transaction throws(SyncError) in try transaction.overwrite(model, in: self) }
    }

    /// Stores the columns that differ between two versions of a model. Changes made to other columns since the
    /// original was read are kept.
    @discardableResult
    @concurrent
    public func update(_ edited: Model, from original: Model) async throws(SyncError) -> Model {
        try await untyped.alone { transaction throws(SyncError) in
            try transaction.update(edited, from: original, in: self)
        }
    }

    /// Reads a model, changes it and stores the columns that differ, in one transaction.
    @discardableResult
    @concurrent
    public func update(
        id: Model.ID, _ change: @escaping @Sendable (inout Model) throws -> Void
    ) async throws -> Model {
        try await untyped.database.perform(transaction: nil, isGrouped: false) { transaction in
            try transaction.update(id: id, in: self, change)
        }.value
    }

    /// Deletes the model's row. Throws `row-absent` if there is none.
    @concurrent
    public func delete(_ model: Model) async throws(SyncError) {
        try await delete(id: model.id)
    }

    /// Deletes a row. Throws `row-absent` if there is none.
    @concurrent
    public func delete(id: Model.ID) async throws(SyncError) {
        try await untyped.alone { transaction throws(SyncError) in try transaction.delete(id: id, in: self) }
    }

    /// Deletes rows in one transaction. Throws `row-absent` if there is none for one of the ids.
    @concurrent
    public func delete(ids: some Sequence<Model.ID> & Sendable) async throws(SyncError) {
        try await untyped.alone(isGrouped: true) { transaction throws(SyncError) in
            try transaction.delete(ids: ids, in: self)
        }
    }

    // MARK: Indexes

    /// Declares an index on properties, in this order: `todos.declareIndex(\.complete, \.due)`. Queries that compare the first
    /// ones with values, and the next one with a value or a range, or sort by it, use it automatically.
    @concurrent
    public func declareIndex<each Property: Encodable>(
        _ properties: repeat KeyPath<Model, each Property>
    ) async throws(SyncError) {
        var columns: [String] = []
        for property in repeat each properties {
            columns.append(try ModelColumns<Model>.shared.name(of: property).get())
        }
        try await untyped.database.declareIndex(table: name, columns: columns)
    }

    // MARK: Queries

    /// Returns the model with an id, or nil if there is none.
    @concurrent
    public func get(id: Model.ID) async throws(SyncError) -> Model? {
        for rowID in id.rowIDs {
            if let row = try await untyped.get(id: rowID) { return try decode(row) }
        }
        return nil
    }

    /// Returns all models, sorted by id.
    @concurrent
    public func all() async throws(SyncError) -> [Model] {
        try await query.get()
    }

    /// Returns the number of rows, including those the model can't decode.
    @concurrent
    public func count() async throws(SyncError) -> Int {
        try await untyped.count()
    }

    /// Observes all models: yields them now, and again after each commit that changes them.
    public func observe() throws(SyncError) -> LiveResults<[Model], SyncError> {
        try query.observe()
    }

    /// The query for all rows.
    public var query: SyncQuery<Model> { SyncQuery(table: self) }

    // MARK: Rows and models

    /// Decodes a row.
    func decode(_ row: StoredRow) throws(SyncError) -> Model {
        try ModelCoding<Model>.decode(row, table: name)
    }

    /// Decodes rows; skips those that can't be decoded if the app asked for that.
    func decode(_ rows: [StoredRow]) throws(SyncError) -> [Model] { try decoded(rows).models }

    /// Decodes rows; returns the models and their rows.
    func decoded(_ rows: [StoredRow]) throws(SyncError) -> (models: [Model], rows: [StoredRow]) {
        var (models, skipped): ([Model], Set<Int>) = ([], [])
        models.reserveCapacity(rows.count)
        var decoder = RowDecoder()
        for place in rows.indices {
            do throws(SyncError) {
                models.append(try ModelCoding<Model>.decode(rows[place], table: name, with: &decoder))
            } catch {
                guard let report else { throw error }
                report(error)
                skipped.insert(place)
            }
        }
        if skipped.isEmpty { return (models, rows) }
        return (models, rows.enumerated().filter { !skipped.contains($0.offset) }.map(\.element))
    }

    /// Decodes; returns nil on failure if the app asked to skip such rows.
    func reporting<Decoded>(_ decode: () throws(SyncError) -> Decoded) throws(SyncError) -> Decoded? {
        do throws(SyncError) {
            return try decode()
        } catch {
            guard let report else { throw error }
            report(error)
            return nil
        }
    }
}

extension SyncTable where Model: VersionedModel {
    /// Stores the columns that differ from the current row. Throws `row-absent` if there is no row, and `stale-item` if
    /// it has another version than the model.
    @discardableResult
    @concurrent
    public func update(_ model: Model) async throws(SyncError) -> Model {
        try await untyped.alone { transaction throws(SyncError) in try transaction.update(model, in: self) }
    }

    /// Inserts a model, or stores the columns that differ from its row. Throws `stale-item` if the row has another
    /// version than the model, or is gone.
    @discardableResult
    @concurrent
    public func save(_ model: Model) async throws(SyncError) -> Model {
        try await untyped.alone { transaction throws(SyncError) in try transaction.save(model, in: self) }
    }
}

extension SyncTable: ModelSource {
    public func refined(_ change: (inout ModelQuery<Model>) -> Void) -> SyncQuery<Model> {
        query.refined(change)
    }
}

extension SyncDatabase {
    /// Returns the table of a model: the one that ``SyncModel/table`` names, or another. It declares the types of the
    /// model's columns, and throws if they have other ones, or if a table of this device only has been synced before.
    public func table<Model: SyncModel>(
        _ type: Model.Type, named name: String? = nil
    ) throws(SyncError) -> SyncTable<Model> {
        try declare(type, table: name ?? Model.table)
        return SyncTable(rows(of: name ?? Model.table))
    }

    /// Declares what a model says of the columns of its table. This blocks for as long as one write to memory takes, and
    /// only the first time that a store meets a model.
    private func declare<Model: SyncModel>(_ type: Model.Type, table: String) throws(SyncError) {
        let declaration = TypeDeclaration(
            table: table, columns: ModelColumns<Model>.shared.types, isLocal: Model.isLocal)
        let known = try read { reader throws(SyncError) in try reader.types }
        do throws(SyncError) {
            if try isNew(declaration, known) {
                try writer.performNow(.buffered) { engine in try engine.declare(declaration) }
            }
        } catch  where [.follower, .suspended].contains(error.code) {
            // The process that writes the store declares them. Until then the columns have no types here.
        } catch {
            throw models.withLock { $0.explaining(error, declaration, "\(Model.self)", known[table]) }
        }
        models.withLock { $0.add("\(Model.self)", declaration) }
    }
}
