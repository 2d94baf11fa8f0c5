// What is related to each row of a page by one relation, as a column beside the page.

import SynclineCore

/// Rows of which models were made, with the rows of the relations that are followed from them.
struct FollowedRows {
    let rows: [StoredRow]
    /// Whether a model was made of each row that was followed.
    let areAll: Bool
    /// The rows of each relation.
    let related: ArraySlice<[StoredRow]>
    /// How the rows that were followed refer to those.
    let references: ArraySlice<RowReferences>

    /// The same with only some of the relations.
    func part(_ branches: some RangeExpression<Int>) -> FollowedRows {
        let branches = branches.relative(to: 0..<related.count)
        let (first, last) = (related.startIndex + branches.lowerBound, related.startIndex + branches.upperBound)
        return FollowedRows(
            rows: rows, areAll: areAll, related: related[first..<last], references: references[first..<last])
    }
}

struct RelatedColumn<Found: Sendable>: Sendable {
    /// The relation, and those that are followed from it.
    let branches: [RelatedBranch]
    /// Returns what is related to each row.
    let join: @Sendable (FollowedRows) throws(SyncError) -> [Found]

    /// - Parameters:
    ///   - others: The models that may be related, and what is followed from them.
    ///   - pair: Returns what is related to each row, from the others, their rows, and what is related to those.
    private init<Other: SyncModel, Further: Sendable>(
        _ others: RelatedQuery<Other, Further>, by link: @escaping @Sendable () throws(SyncError) -> RowRelation.Link,
        _ pair: @escaping @Sendable (FollowedRows, [StoredRow], [Other], [Further]) -> [Found]
    ) {
        let first = RelatedBranch(table: others.query.table.untyped) { source throws(SyncError) in
            RowRelation(from: source, to: try others.query.rowQuery(), by: try link())
        }
        branches =
            [first]
            + others.branches.map { branch in
                RelatedBranch(source: branch.source.map { 1 + $0 } ?? 0, table: branch.table, relation: branch.relation)
            }
        join = { found throws(SyncError) in
            let all = found.related.first ?? []
            let (models, rows) = try others.query.table.decoded(all)
            let next = found.part(1...)
            let further = try others.join(
                FollowedRows(
                    rows: rows, areAll: rows.count == all.count, related: next.related, references: next.references))
            return pair(found, rows, models, further)
        }
    }

    /// What each row of a table refers to.
    static func reference<Source: SyncModel, Target: SyncModel, Further: Sendable, One: Sendable>(
        _ relation: Relation<Source, Target>, of table: String, from targets: RelatedQuery<Target, Further>,
        _ one: @escaping @Sendable (Target, Further) -> One
    ) -> RelatedColumn where Found == One? {
        RelatedColumn(targets) { () throws(SyncError) in
            _ = try relation.column.get()
            return .id { rows in relation.references(of: rows, in: table) }
        } _: { found, rows, models, further in
            // A reference of a row without a model counts for nothing.
            let known = found.areAll ? found.references.first : nil
            let references = known ?? relation.references(of: found.rows, in: table)
            var all: [One?] = []
            all.reserveCapacity(found.rows.count)
            for place in references.places(of: found.rows.count, in: rows) {
                if let place { all.append(one(models[place], further[place])) } else { all.append(nil) }
            }
            return all
        }
    }

    /// All that refer to each row.
    static func referrers<Source: SyncModel, Target: SyncModel, Further: Sendable, One: Sendable>(
        _ relation: Relation<Source, Target>, from sources: RelatedQuery<Source, Further>, each limit: Int?,
        _ one: @escaping @Sendable (Source, Further) -> One
    ) -> RelatedColumn where Found == [One] {
        RelatedColumn(sources) { () throws(SyncError) in
            .column(try relation.column.get()) { rows in Target.ID.values(of: rows) }
        } _: { found, rows, models, further in
            let places = relation.references(of: rows, in: sources.query.table.name).places(referringTo: found.rows)
            return found.rows.indices.map { row in
                places[row].prefix(max(0, limit ?? .max)).map { one(models[$0], further[$0]) }
            }
        }
    }
}
