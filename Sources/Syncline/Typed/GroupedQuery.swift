// Values computed from the groups of a query: `todos.grouped(by: \.list).compute(.count)`.

import SynclineCore

/// The rows of a query, by the values of a property or of an expression, or of two.
public struct GroupedQuery<Model: SyncModel, Key: Hashable & Sendable>: Sendable {
    let query: SyncQuery<Model>
    let keys: [Result<FilterExpression, SyncError>]
    /// Makes the key of a group from the values of the keys.
    let decodeKey: @Sendable ([Value]) throws(SyncError) -> Key

    /// Computes values of each group: `let counts = try await todos.grouped(by: \.list).compute(.count)`.
    @concurrent
    public func compute<each Output: Sendable>(
        _ aggregates: repeat Aggregate<Model, each Output>
    ) async throws(SyncError) -> [Key: (repeat each Output)] {
        let question = try question(repeat each aggregates)
        return try decode(try await query.table.untyped.compute(question), repeat each aggregates)
    }

    /// Computes values of each group, and returns how their rows were found, and how much was read.
    @concurrent
    public func explain<each Output: Sendable>(
        computing aggregates: repeat Aggregate<Model, each Output>
    ) async throws(SyncError) -> QueryPlan {
        try await query.table.untyped.explain(try question(repeat each aggregates))
    }

    /// Observes values computed from each group: yields them now, and the newest ones after commits that change them.
    public func observe<each Output: Sendable>(
        computing aggregates: repeat Aggregate<Model, each Output>
    ) throws(SyncError) -> LiveResults<[Key: (repeat each Output)], SyncError> {
        query.table.untyped.observe(try question(repeat each aggregates)).map { groups throws(SyncError) in
            try decode(groups, repeat each aggregates)
        }
    }

    private func question<each Output: Sendable>(
        _ aggregates: repeat Aggregate<Model, each Output>
    ) throws(SyncError) -> RowAggregate {
        var groups: [FilterExpression] = []
        for key in keys { groups.append(try key.get()) }
        return try query.aggregate(by: groups, repeat each aggregates)
    }

    private func decode<each Output: Sendable>(
        _ groups: [RowGroup], _ aggregates: repeat Aggregate<Model, each Output>
    ) throws(SyncError) -> [Key: (repeat each Output)] {
        var result: [Key: (repeat each Output)] = [:]
        for group in groups {
            let key = try decodeKey(group.key)
            let old = result.updateValue(
                try SyncQuery.decode(group.values, repeat each aggregates), forKey: key)
            guard old == nil else {
                throw SyncError(
                    .invalidItem, "two groups of \(query.table.name) have the key \(key)",
                    hint: "Rows store it in several forms, such as a UUID in upper and in lower case: "
                        + "group by a property of type String.")
            }
        }
        return result
    }
}

/// The two values that the rows of a group have in common.
public struct KeyPair<First: Hashable & Sendable, Second: Hashable & Sendable>: Hashable, Sendable {
    /// The first value.
    public var first: First
    /// The second value.
    public var second: Second

    /// Creates a pair.
    public init(_ first: First, _ second: Second) {
        (self.first, self.second) = (first, second)
    }
}

extension GroupedQuery where Key: Decodable {
    init(query: SyncQuery<Model>, key: Result<FilterExpression, SyncError>) {
        (self.query, keys) = (query, [key])
        decodeKey = { values throws(SyncError) in try ValueDecoder.decode(Key.self, from: values[0]) }
    }
}

extension GroupedQuery {
    init<First: Decodable, Second: Decodable>(
        query: SyncQuery<Model>, _ first: Result<FilterExpression, SyncError>,
        _ second: Result<FilterExpression, SyncError>
    ) where Key == KeyPair<First, Second> {
        (self.query, keys) = (query, [first, second])
        decodeKey = { values throws(SyncError) in
            KeyPair(
                try ValueDecoder.decode(First.self, from: values[0]),
                try ValueDecoder.decode(Second.self, from: values[1]))
        }
    }
}
