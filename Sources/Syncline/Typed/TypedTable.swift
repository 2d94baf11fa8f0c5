// A table over an app's own type. It sees the same rows as the table without a model; the two can be mixed.

public import SynclineCore

/// A type whose values are rows: `Codable`, with a text as id.
public typealias SyncModel = Codable & Identifiable & Sendable

/// A table of models.
public struct TypedTable<Model: SyncModel>: Sendable where Model.ID == String {
    /// The same table without a model.
    public let untyped: Table

    init(_ table: Table) {
        untyped = table
    }

    /// Inserts a model. Returns it as it is stored.
    @discardableResult
    public func insert(_ model: Model) async throws(SyncError) -> Model {
        try decode(try await untyped.insert(try ValueEncoder.encode(model)))
    }

    /// Stores what differs from the row as it is.
    @discardableResult
    public func update(_ model: Model) async throws(SyncError) -> Model {
        try decode(try await untyped.update(try ValueEncoder.encode(model)))
    }

    /// Deletes the model's row.
    public func delete(_ model: Model) async throws(SyncError) {
        try await untyped.delete(id: model.id)
    }

    /// Deletes a row.
    public func delete(id: String) async throws(SyncError) {
        try await untyped.delete(id: id)
    }

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

    /// How many there are.
    public func count() async throws(SyncError) -> Int {
        try await untyped.count()
    }

    /// All of them, and again after each commit that changes them.
    public func observe() throws(SyncError) -> QueryResults<[Model]> {
        try TypedQuery(table: self).observe()
    }

    func decode(_ row: StoredRow) throws(SyncError) -> Model {
        try ValueDecoder.decode(
            Model.self, from: .object([.init("id", .string(row.id))] + row.columns.members))
    }
}

/// A question to a table of models.
public struct TypedQuery<Model: SyncModel>: Sendable where Model.ID == String {
    private let table: TypedTable<Model>
    private var query: Query

    init(table: TypedTable<Model>) {
        self.table = table
        query = Query(table: table.untyped.name)
    }

    /// Those that one more condition holds for.
    public func `where`(_ filter: (Columns<Model>) -> FilterExpression) -> Self {
        var copy = self
        let added = filter(Columns()).expression
        copy.query.filter = query.filter.map { .and($0, added) } ?? added
        return copy
    }

    /// In the order of a column, behind the keys given before.
    public func order(by column: String, descending: Bool = false) -> Self {
        var copy = self
        copy.query.order.append(.init(column, descending: descending))
        return copy
    }

    /// At most so many.
    public func top(_ count: Int) -> Self {
        var copy = self
        copy.query.top = max(0, count)
        return copy
    }

    /// Without the first so many.
    public func skip(_ count: Int) -> Self {
        var copy = self
        copy.query.skip = max(0, count)
        return copy
    }

    /// The models.
    public func get() async throws(SyncError) -> [Model] {
        var models: [Model] = []
        for row in try await table.untyped.query(try checked()).rows { models.append(try table.decode(row)) }
        return models
    }

    /// How many match, whatever `top` and `skip` leave of them.
    public func count() async throws(SyncError) -> Int {
        try await table.untyped.count(try checked().filter)
    }

    /// The models, and again after each commit that changes them.
    public func observe() throws(SyncError) -> QueryResults<[Model]> {
        let (table, query) = (table, try checked())
        return table.untyped.observe(query) { result throws(SyncError) in
            var models: [Model] = []
            for row in result.rows { models.append(try table.decode(row)) }
            return models
        }
    }

    /// The query, if the model has the columns it names.
    private func checked() throws(SyncError) -> Query {
        guard var known = ModelColumns.names(of: Model.self) else { return query }
        known.formUnion(Item.systemColumns)
        known.insert("id")
        var named = Set(query.order.map(\.column))
        if let filter = query.filter { named.formUnion(ModelColumns.names(in: filter)) }
        if let unknown = named.subtracting(known).sorted().first {
            throw SyncError(
                .unsupportedPredicate, "\(Model.self) has no column \"\(unknown)\"",
                hint: "It has: \(known.sorted().joined(separator: ", ")).")
        }
        return query
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

extension Transaction {
    /// Inserts a model.
    public func insert<Model: SyncModel>(_ model: Model, into name: String? = nil) throws(SyncError)
    where Model.ID == String {
        try insert(name ?? "\(Model.self)".lowercased(), try ValueEncoder.encode(model))
    }

    /// Stores what differs from the model's row as it is.
    public func update<Model: SyncModel>(_ model: Model, in name: String? = nil) throws(SyncError)
    where Model.ID == String {
        try update(name ?? "\(Model.self)".lowercased(), try ValueEncoder.encode(model))
    }

    /// Deletes a model's row.
    public func delete<Model: SyncModel>(_ model: Model, from name: String? = nil) throws(SyncError)
    where Model.ID == String {
        try delete(name ?? "\(Model.self)".lowercased(), id: model.id)
    }
}
