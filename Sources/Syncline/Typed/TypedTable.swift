// A table over an app's own type. It sees the same rows as the table without a model; the two can be mixed. Each change is
// written once, in `Transaction+Models.swift`: here it is a transaction of its own.

public import SynclineCore

/// A type whose values are rows: `Codable`, with a string as id.
public typealias SyncModel = Codable & Identifiable & Sendable

/// A table of models.
public struct TypedTable<Model: SyncModel>: Sendable where Model.ID == String {
    /// The same table without a model.
    public let untyped: Table
    /// Where rows are reported that the model can't decode; nil if they are errors.
    private var report: (@Sendable (SyncError) -> Void)?

    init(_ table: Table) {
        untyped = table
    }

    var name: String { untyped.name }

    /// The same table, with rows that the model can't decode left out of lists, live queries and conflicts. Each is
    /// reported whenever such a list is made, as an error with its address.
    public func skippingUndecodable(_ report: @escaping @Sendable (SyncError) -> Void) -> Self {
        var copy = self
        copy.report = report
        return copy
    }

    // MARK: Changes

    /// Inserts a model. Returns it as it is stored; if that can't be decoded, nothing is stored.
    @discardableResult
    public func insert(_ model: Model) async throws(SyncError) -> Model {
        try await untyped.alone { transaction throws(SyncError) in try transaction.insert(model, into: self) }
    }

    /// Stores what differs from the row as it is now. A model with a property `version` is refused with `stale-item` if
    /// the row has another version; without one nothing tells that the row changed after the model was read, and the
    /// model takes that back: use ``update(id:_:)`` or ``update(_:from:)``.
    @discardableResult
    public func update(_ model: Model) async throws(SyncError) -> Model {
        try await untyped.alone { transaction throws(SyncError) in try transaction.update(model, in: self) }
    }

    /// Stores the columns in which two models of a row differ. What changed in other columns after the original was read
    /// stays as it is.
    @discardableResult
    public func update(_ edited: Model, from original: Model) async throws(SyncError) -> Model {
        try await untyped.alone { transaction throws(SyncError) in
            try transaction.update(edited, from: original, in: self)
        }
    }

    /// Reads a model, changes it and stores what differs, in one step.
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

    // MARK: Questions

    /// The model with an id; nil if there is none.
    public func get(id: String) async throws(SyncError) -> Model? {
        guard let row = try await untyped.get(id: id) else { return nil }
        return try decode(row)
    }

    /// All of them, by id.
    public func all() async throws(SyncError) -> [Model] {
        try await TypedQuery(table: self).get()
    }

    /// Those that a condition holds for: `where { !$0.complete && $0.priority > 2 }`.
    public func `where`(_ filter: (Columns<Model>) -> FilterExpression) -> TypedQuery<Model> {
        TypedQuery(table: self).where(filter)
    }

    /// All of them, in an order.
    public func order(by column: String, descending: Bool = false) -> TypedQuery<Model> {
        TypedQuery(table: self).order(by: column, descending: descending)
    }

    /// How many rows there are, also if the model can't decode some.
    public func count() async throws(SyncError) -> Int {
        try await untyped.count()
    }

    /// All of them, and again after each commit that changes them.
    public func observe() throws(SyncError) -> QueryResults<[Model]> {
        try TypedQuery(table: self).observe()
    }

    // MARK: Rows and models

    /// The model of a row.
    func decode(_ row: StoredRow) throws(SyncError) -> Model {
        do throws(SyncError) {
            let model = try ValueDecoder.decode(
                Model.self, from: .object([.init("id", .string(row.id))] + row.columns.members))
            guard model.id == row.id else {
                throw SyncError(
                    .invalidItem, "id: the model's id is not the row's",
                    hint: "A model's id is the column \"id\", or one with the same value.")
            }
            return model
        } catch {
            var named = error
            named.address = "\(name)/\(row.id)"
            throw named
        }
    }

    /// The models of rows, without those that can't be decoded if the app asked for that.
    func decode(_ rows: [StoredRow]) throws(SyncError) -> [Model] {
        var models: [Model] = []
        models.reserveCapacity(rows.count)
        for row in rows {
            if let model = try reporting({ () throws(SyncError) in try decode(row) }) { models.append(model) }
        }
        return models
    }

    /// Nil for what can't be decoded, if the app asked for that.
    func reporting<Decoded>(_ decode: () throws(SyncError) -> Decoded) throws(SyncError) -> Decoded? {
        do throws(SyncError) {
            return try decode()
        } catch {
            guard let report else { throw error }
            report(error)
            return nil
        }
    }

    /// A model's columns, with the row's id, which is the model's `id` whatever its coding key is.
    func members(of model: Model) throws(SyncError) -> [Value.Member] {
        guard case .object(var members) = try ValueEncoder.encode(model) else {
            throw SyncError(.invalidItem, "\(Model.self) does not encode itself as an object with columns")
        }
        let id = Value.string(model.id)
        if let place = members.firstIndex(where: { $0.name == "id" }) {
            guard members[place].value == id else {
                throw SyncError(
                    .invalidID, "\(Model.self) encodes another \"id\" than its own",
                    hint: "Give that property another coding key.")
            }
        } else {
            members.insert(.init("id", id), at: 0)
        }
        return members
    }
}

extension SyncDatabase {
    /// The table of a model, named after it in lower case unless a name is given.
    public func table<Model: SyncModel>(
        _ type: Model.Type, named name: String? = nil
    ) -> TypedTable<Model> where Model.ID == String {
        TypedTable(table(name ?? "\(type)".lowercased()))
    }
}
