// Values computed from all models that match a query, together or by groups.

import SynclineCore

extension ModelSource where Self: Sendable, Refined == SyncQuery<Model> {
    /// Computes values of the rows that the query shows:
    /// `let (number, total) = try await todos.where { !$0.complete }.compute(.count, .sum(\.price))`.
    @concurrent
    public func compute<each Output: Sendable>(
        _ aggregates: repeat Aggregate<Model, each Output>
    ) async throws(SyncError) -> (repeat each Output) {
        let query = asQuery
        let groups = try await query.table.untyped.compute(try query.aggregate(repeat each aggregates))
        return try SyncQuery<Model>.decode(groups.first?.values ?? [], repeat each aggregates)
    }

    /// Computes values, and returns how their rows were found, and how much was read.
    @concurrent
    public func explain<each Output: Sendable>(
        computing aggregates: repeat Aggregate<Model, each Output>
    ) async throws(SyncError) -> QueryPlan {
        let query = asQuery
        return try await query.table.untyped.explain(try query.aggregate(repeat each aggregates))
    }

    /// Observes computed values: yields them now, and the newest ones after commits that change them.
    public func observe<each Output: Sendable>(
        computing aggregates: repeat Aggregate<Model, each Output>
    ) throws(SyncError) -> LiveResults<(repeat each Output), SyncError> {
        let query = asQuery
        let aggregate = try query.aggregate(repeat each aggregates)
        return query.table.untyped.observe(aggregate).map { groups throws(SyncError) in
            try SyncQuery<Model>.decode(groups.first?.values ?? [], repeat each aggregates)
        }
    }

    /// Groups rows with the same value of a property: `todos.grouped(by: \.list).compute(.count)` returns the number of
    /// rows of each list. Missing values are a group if the property is optional.
    public func grouped<Key: Codable & Hashable & Sendable>(
        by property: KeyPath<Model, Key>
    ) -> GroupedQuery<Model, Key> {
        GroupedQuery(query: asQuery, key: ModelColumns<Model>.shared.name(of: property).map { .column($0) })
    }

    /// Groups rows with the same values of two properties: the keys of the result are pairs.
    public func grouped<First: Codable & Hashable & Sendable, Second: Codable & Hashable & Sendable>(
        by first: KeyPath<Model, First>, _ second: KeyPath<Model, Second>
    ) -> GroupedQuery<Model, KeyPair<First, Second>> {
        let columns = ModelColumns<Model>.shared
        return GroupedQuery(
            query: asQuery, columns.name(of: first).map { .column($0) }, columns.name(of: second).map { .column($0) })
    }

    /// Groups rows with the same computed value:
    /// `entries.grouped(by: { $0.date.firstOfMonth(in: .current) }).compute(.sum(\.amount))` returns the sum of each
    /// month. Rows without a value are a group if the value is optional.
    public func grouped<Key: Codable & Hashable & Sendable>(
        by key: (Columns<Model>) -> ColumnExpression<Model, Key>
    ) -> GroupedQuery<Model, Key> {
        GroupedQuery(query: asQuery, key: key(Columns()).tree)
    }

    /// Groups rows with the same two computed values:
    /// `entries.grouped(by: { $0.date.firstOfMonth(in: .current) }, { $0.category }).compute(.sum(\.amount))`.
    public func grouped<First: Codable & Hashable & Sendable, Second: Codable & Hashable & Sendable>(
        by first: (Columns<Model>) -> ColumnExpression<Model, First>,
        _ second: (Columns<Model>) -> ColumnExpression<Model, Second>
    ) -> GroupedQuery<Model, KeyPair<First, Second>> {
        GroupedQuery(query: asQuery, first(Columns()).tree, second(Columns()).tree)
    }

    /// The query; of a table, the query for all rows.
    var asQuery: SyncQuery<Model> { refined { _ in } }
}

extension SyncQuery {
    func aggregate<each Output: Sendable>(
        by groups: [FilterExpression] = [], _ aggregates: repeat Aggregate<Model, each Output>
    ) throws(SyncError) -> RowAggregate {
        var functions: [RowAggregate.Function] = []
        for aggregate in repeat each aggregates { functions.append(try aggregate.function.get()) }
        let rows = try rowQuery()
        var aggregate = RowAggregate(table: table.name, filter: rows.filter, functions: functions)
        aggregate.groups = groups
        (aggregate.order, aggregate.top, aggregate.skip) = (rows.order, rows.top, rows.skip)
        return aggregate
    }

    static func decode<each Output: Sendable>(
        _ values: [Value], _ aggregates: repeat Aggregate<Model, each Output>
    ) throws(SyncError) -> (repeat each Output) {
        var values = values.makeIterator()
        return (repeat try (each aggregates).decode(values.next() ?? .null))
    }
}
