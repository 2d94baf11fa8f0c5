// A query on a model's table, as a value: conditions, order and window. Local tables, a server's tables and
// past states are asked with the same methods.

import SynclineCore

/// A query on the rows of a model, without a place to run it.
public struct ModelQuery<Model: SyncModel>: Sendable {
    /// The condition; nil for all rows.
    public var filter: Filter<Model>?
    /// The sort keys.
    private(set) var order: [Result<RowQuery.Key, SyncError>] = []
    /// The maximum number of models; nil for all.
    public var limit: Int?
    /// The number of models to leave out before them.
    public var offset = 0

    /// Creates a query for all rows.
    public init() {}

    /// Returns the query of a table. Throws if a value can't be compared, or a property is not a column.
    func rowQuery(table: String) throws(SyncError) -> RowQuery {
        var query = RowQuery(table: table, filter: try filter?.expression, top: limit.map { max(0, $0) })
        query.skip = max(0, offset)
        for key in order { query.order.append(try key.get()) }
        return query
    }

    mutating func add(_ condition: Filter<Model>) {
        filter = filter.map { $0 && condition } ?? condition
    }

    mutating func add(orderBy column: Result<String, SyncError>, _ direction: SortDirection) {
        add(orderBy: column.map { RowQuery.Key($0, descending: direction == .descending) })
    }

    mutating func add(orderBy key: Result<RowQuery.Key, SyncError>) { order.append(key) }

    /// Adds a sort key before all others.
    mutating func add(firstBy column: Result<String, SyncError>, _ direction: SortDirection) {
        order.insert(column.map { RowQuery.Key($0, descending: direction == .descending) }, at: 0)
    }
}

/// The direction of a sort.
public enum SortDirection: Hashable, Sendable {
    /// From the least to the greatest; missing values come first.
    case ascending
    /// From the greatest to the least.
    case descending
}

/// Something that models can be queried from: a table, or a query on one.
public protocol ModelSource<Model> {
    /// The type of the models.
    associatedtype Model: SyncModel
    /// The type of a query.
    associatedtype Refined: ModelSource<Model>

    /// Returns a query that differs from this one in what the closure changes.
    func refined(_ change: (inout ModelQuery<Model>) -> Void) -> Refined
}

extension ModelSource {
    /// Returns a query with a further condition: `where { !$0.complete && $0.priority > 2 }`.
    public func `where`(_ condition: (Columns<Model>) -> Filter<Model>) -> Refined {
        self.where(Filter(condition))
    }

    /// Returns a query with a further condition.
    public func `where`(_ condition: Filter<Model>) -> Refined {
        refined { $0.add(condition) }
    }

    /// Returns a query that sorts by a property, after the sort keys given before: `order(by: \.text, .descending)`.
    public func order<Value: Encodable>(
        by property: KeyPath<Model, Value>, _ direction: SortDirection = .ascending
    ) -> Refined {
        refined { $0.add(orderBy: ModelColumns<Model>.shared.name(of: property), direction) }
    }

    /// Returns a query that sorts by a column that is not a property of the model.
    public func order(byColumn name: String, _ direction: SortDirection = .ascending) -> Refined {
        refined { $0.add(orderBy: ModelColumns<Model>.shared.checked(name), direction) }
    }

    /// Returns a query for at most this many models.
    public func limit(_ count: Int) -> Refined {
        refined { $0.limit = count }
    }

    /// Returns a query that leaves out the first models.
    public func offset(_ count: Int) -> Refined {
        refined { $0.offset = count }
    }
}
