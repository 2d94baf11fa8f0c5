// Models with those that they refer to, or that refer to them: one query for the models and one for each relation.

import SynclineCore

/// A relation that is followed from the models of a query, or from those of an earlier branch.
struct RelatedBranch: Sendable {
    var source: Int?
    let table: RowTable
    let relation: @Sendable (_ source: Int?) throws(SyncError) -> RowRelation
}

/// A query for models, each with the models related to it: see `with` of ``ModelSource``.
public struct RelatedQuery<Model: SyncModel, Related: Sendable>: Sendable {
    /// A model, and what is related to it.
    public typealias Element = (model: Model, related: Related)

    let query: SyncQuery<Model>
    let branches: [RelatedBranch]
    /// Returns what is related to each of some rows.
    let join: @Sendable (FollowedRows) throws(SyncError) -> [Related]

    /// Returns the models, and what is related to them at the same moment.
    @concurrent
    public func get() async throws(SyncError) -> [Element] {
        try element(of: try rows(try query.rowQuery()))
    }

    /// A page of the models of a query with what is related to them, and where it ends.
    public struct Page: Sendable {
        /// The models, and what is related to them.
        public let elements: [Element]
        /// The place of the last row, if there was one.
        fileprivate let end: RowQuery.Place?
    }

    /// Returns the first page: `limit` models, or 100, with what is related to them at the same moment.
    @concurrent
    public func page() async throws(SyncError) -> Page {
        try page(of: try query.rowQuery())
    }

    /// Returns the page after another one of the same query; nil if that was the last: see ``SyncQuery/page(after:)``.
    @concurrent
    public func page(after page: Page) async throws(SyncError) -> Page? {
        guard let end = page.end else { return nil }
        let next = try self.page(of: try query.rowQuery().after(end))
        return next.end == nil ? nil : next
    }

    private func page(of query: RowQuery) throws(SyncError) -> Page {
        let rows = try rows(query.page)
        return Page(elements: try element(of: rows), end: rows.page.end)
    }

    /// Observes the query: yields the current models with what is related to them, and the newest ones after commits
    /// that change them. Both are always of the same moment.
    public func observe() throws(SyncError) -> LiveResults<[Element], SyncError> {
        let (page, relations) = (try query.rowQuery(), try relations())
        return query.table.untyped.observe({ LiveRelations(page: page, relations) }, check: check).map(element)
    }

    /// Runs a query for models once.
    private func rows(_ page: RowQuery) throws(SyncError) -> RelatedRows {
        try check()
        try page.check()
        let reader = try query.table.untyped.declaredReader
        return try reader.run(page, try relations())
    }

    private func check() throws(SyncError) {
        for branch in branches {
            _ = try branch.table.declaredReader
            if query.table.untyped.database === branch.table.database { continue }
            throw SyncError(
                .invalidQuery, "\(branch.table.name) is a table of another store",
                hint: "A relation is followed within one store.")
        }
    }

    private func relations() throws(SyncError) -> [RowRelation] {
        var relations: [RowRelation] = []
        for branch in branches { relations.append(try branch.relation(branch.source)) }
        return relations
    }

    private func element(of found: RelatedRows) throws(SyncError) -> [Element] {
        let (models, rows) = try query.table.decoded(found.page.rows)
        let related = try join(
            FollowedRows(
                rows: rows, areAll: rows.count == found.page.rows.count, related: found.related[...],
                references: found.references[...]))
        var elements: [Element] = []
        elements.reserveCapacity(models.count)
        for place in models.indices { elements.append((model: models[place], related: related[place])) }
        return elements
    }
}

// MARK: Relations

extension RelatedQuery where Related == Void {
    /// A query that follows no relation.
    init(_ query: SyncQuery<Model>) {
        self.init(query: query, branches: []) { found in Array(repeating: (), count: found.rows.count) }
    }

    /// Returns a query that follows a first relation.
    func following<Found: Sendable>(first column: RelatedColumn<Found>) -> RelatedQuery<Model, Found> {
        RelatedQuery<Model, Found>(query: query, branches: column.branches, join: column.join)
    }
}

extension RelatedQuery {
    /// Returns a query that follows one more relation.
    func following<Found: Sendable>(_ column: RelatedColumn<Found>) -> RelatedQuery<Model, (Related, Found)> {
        let (own, join) = (branches.count, join)
        let others = column.branches.map { branch in
            RelatedBranch(source: branch.source.map { own + $0 }, table: branch.table, relation: branch.relation)
        }
        return RelatedQuery<Model, (Related, Found)>(query: query, branches: branches + others) {
            rows throws(SyncError) in
            let (related, found) = (try join(rows.part(..<own)), try column.join(rows.part(own...)))
            var pairs: [(Related, Found)] = []
            pairs.reserveCapacity(found.count)
            for place in found.indices { pairs.append((related[place], found[place])) }
            return pairs
        }
    }
}
