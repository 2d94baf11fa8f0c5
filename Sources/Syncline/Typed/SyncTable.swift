// A table of an app's own type. It shares its rows with the untyped table; both can be used together. Each change is
// implemented once, in `SyncTransaction+Models.swift`; here it is a transaction of its own.

public import SynclineCore

/// A type whose values can be stored as rows: `Codable`, with a string id.
public typealias SyncModel = Codable & Identifiable & Sendable

/// A table of models.
public struct SyncTable<Model: SyncModel>: Sendable where Model.ID == String {
    /// The same table without a model.
    public let untyped: RowTable
    /// Called with each row that the model can't decode; nil if those are thrown as errors.
    private var report: (@Sendable (SyncError) -> Void)?

    init(_ table: RowTable) {
        untyped = table
    }

    var name: String { untyped.name }

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
    public func insert(_ model: Model) async throws(SyncError) -> Model {
        try await untyped.alone { transaction throws(SyncError) in try transaction.insert(model, into: self) }
    }

    /// Stores the columns that differ from the current row. If the model has a property `version` and the row has
    /// another version, throws `stale-item`. Without one, a change made since the model was read is not detected and
    /// is overwritten: use ``update(id:_:)`` or ``update(_:from:)``.
    @discardableResult
    public func update(_ model: Model) async throws(SyncError) -> Model {
        try await untyped.alone { transaction throws(SyncError) in try transaction.update(model, in: self) }
    }

    /// Stores the columns that differ between two versions of a model. Changes made to other columns since the
    /// original was read are kept.
    @discardableResult
    public func update(_ edited: Model, from original: Model) async throws(SyncError) -> Model {
        try await untyped.alone { transaction throws(SyncError) in
            try transaction.update(edited, from: original, in: self)
        }
    }

    /// Reads a model, changes it and stores the columns that differ, in one transaction.
    @discardableResult
    public func update(
        id: String, _ change: @escaping @Sendable (inout Model) throws -> Void
    ) async throws -> Model {
        try await untyped.database.perform(transaction: nil, isGrouped: false) { transaction in
            try transaction.update(id: id, in: self, change)
        }.value
    }

    /// Deletes the model's row.
    public func delete(_ model: Model) async throws(SyncError) {
        try await untyped.delete(id: model.id)
    }

    /// Deletes a row.
    public func delete(id: String) async throws(SyncError) {
        try await untyped.delete(id: id)
    }

    // MARK: Queries

    /// Returns the model with an id, or nil if there is none.
    public func get(id: String) async throws(SyncError) -> Model? {
        guard let row = try await untyped.get(id: id) else { return nil }
        return try decode(row)
    }

    /// Returns all models, sorted by id.
    public func all() async throws(SyncError) -> [Model] {
        try await SyncQuery(table: self).get()
    }

    /// Returns a query with a condition: `where { !$0.complete && $0.priority > 2 }`.
    public func `where`(_ filter: (Columns<Model>) -> Filter) -> SyncQuery<Model> {
        SyncQuery(table: self).where(filter)
    }

    /// Returns a query of all models in an order.
    public func order(by column: String, descending: Bool = false) -> SyncQuery<Model> {
        SyncQuery(table: self).order(by: column, descending: descending)
    }

    /// Returns the number of rows, including those the model can't decode.
    public func count() async throws(SyncError) -> Int {
        try await untyped.count()
    }

    /// Observes all models: yields them now, and again after each commit that changes them.
    public func observe() throws(SyncError) -> QueryResults<[Model]> {
        try SyncQuery(table: self).observe()
    }

    // MARK: Rows and models

    /// Decodes a row.
    func decode(_ row: StoredRow) throws(SyncError) -> Model {
        do throws(SyncError) {
            let model = try ValueDecoder.decode(
                Model.self, from: .object([.init("id", .string(row.id))] + row.columns.members))
            guard model.id == row.id else {
                throw SyncError(
                    .invalidItem, "id: the model's id is not the id of the row",
                    hint: "A model's id is the column \"id\", or one with the same value.")
            }
            return model
        } catch {
            var named = error
            named.address = "\(name)/\(row.id)"
            throw named
        }
    }

    /// Decodes rows; skips those that can't be decoded if the app asked for that.
    func decode(_ rows: [StoredRow]) throws(SyncError) -> [Model] {
        var models: [Model] = []
        models.reserveCapacity(rows.count)
        for row in rows {
            if let model = try reporting({ () throws(SyncError) in try decode(row) }) { models.append(model) }
        }
        return models
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

    /// Returns a model's columns with the row's id. The id is the model's `id`, whatever its coding key is.
    func members(of model: Model) throws(SyncError) -> [Value.Member] {
        guard case .object(var members) = try ValueEncoder.encode(model) else {
            throw SyncError(.invalidItem, "\(Model.self) does not encode itself as an object with columns")
        }
        let id = Value.string(model.id)
        if let place = members.firstIndex(where: { $0.name == "id" }) {
            guard members[place].value == id else {
                throw SyncError(
                    .invalidID, "\(Model.self) encodes an \"id\" that is not its own",
                    hint: "Give that property another coding key.")
            }
        } else {
            members.insert(.init("id", id), at: 0)
        }
        return members
    }
}

extension SyncDatabase {
    /// Returns the table of a model. By default its name is the model's in lower case.
    public func table<Model: SyncModel>(
        _ type: Model.Type, named name: String? = nil
    ) -> SyncTable<Model> where Model.ID == String {
        SyncTable(table(name ?? "\(type)".lowercased()))
    }
}
