// Values computed from the groups of a query: `todos.grouped(by: \.list).compute(.count)`.

import SynclineCore

/// The rows of a query, by the values of a property or of an expression.
public struct GroupedQuery<Model: SyncModel, Key: Codable & Hashable & Sendable>: Sendable {
    let query: SyncQuery<Model>
    let key: Result<FilterExpression, SyncError>

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
        try query.aggregate(by: [try key.get()], repeat each aggregates)
    }

    private func decode<each Output: Sendable>(
        _ groups: [RowGroup], _ aggregates: repeat Aggregate<Model, each Output>
    ) throws(SyncError) -> [Key: (repeat each Output)] {
        var result: [Key: (repeat each Output)] = [:]
        for group in groups {
            let key = try ValueDecoder.decode(Key.self, from: group.key.first ?? .null)
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
