// Values computed from the rows of a table.

public import SynclineCore

extension RowTable {
    /// Computes values from the rows that match: counts, sums, averages and extremes, for all of them or for each
    /// group. Without `groups`, the result is one group.
    @concurrent
    public func compute(_ aggregate: RowAggregate) async throws(SyncError) -> [RowGroup] {
        let reader = try declaredReader
        return try reader.run(aggregate)
    }

    /// Computes values, and returns how their rows were found.
    @concurrent
    public func explain(_ aggregate: RowAggregate) async throws(SyncError) -> QueryPlan {
        let reader = try declaredReader
        return try reader.explain(aggregate).plan
    }

    /// Observes computed values: yields them now, and the newest ones after commits that change them. Only the rows
    /// that a commit changed are read, unless the only row with the smallest or largest value leaves.
    public func observe(_ aggregate: RowAggregate) -> LiveResults<[RowGroup], SyncError> {
        observe { LiveAggregate(aggregate) }
    }
}
