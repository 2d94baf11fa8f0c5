// Models with those that they refer to, or that refer to them: one query for the models and one for each relation.

import SynclineCore

/// A relation that is followed from the models of a query, or from those of an earlier branch.
private struct RelatedBranch: Sendable {
    var source: Int?
    let table: RowTable
    let relation: @Sendable (_ source: Int?) throws(SyncError) -> RowRelation
}

/// A query for models, each with the models related to it: see `with` of ``ModelSource``.
public struct RelatedQuery<Model: SyncModel, Related: Sendable>: Sendable {
    /// A model, and what is related to it.
    public typealias Element = (model: Model, related: Related)

    let query: SyncQuery<Model>
    private let branches: [RelatedBranch]
    /// Returns what is related to each of some models, by its place, from the rows of the branches.
    private let join: @Sendable ([Model], ArraySlice<[StoredRow]>) throws(SyncError) -> (Int) -> Related

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
        let relations = try relations(of: try query.rowQuery())
        return query.table.untyped.observe({ relations() }, check: check).map(element)
    }

    /// Runs a query for models once.
    private func rows(_ page: RowQuery) throws(SyncError) -> LiveRelations.Rows {
        try check()
        try page.check()
        // Rows beyond the page are of use only while it is followed.
        var relations = try relations(of: page, spare: 0)()
        let reader = try query.table.untyped.declaredReader
        try relations.load(reader)
        return relations.result
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

    /// Returns what makes live content of a page and what is related to it.
    private func relations(
        of page: RowQuery, spare: Int? = nil
    ) throws(SyncError) -> @Sendable () -> sending LiveRelations {
        var relations: [RowRelation] = []
        for branch in branches { relations.append(try branch.relation(branch.source)) }
        return { [relations] in LiveRelations(page: page, relations, spare: spare) }
    }

    private func element(of rows: LiveRelations.Rows) throws(SyncError) -> [Element] {
        let models = try query.table.decode(rows.page.rows)
        let related = try join(models, rows.related[...])
        return models.indices.map { (model: models[$0], related: related($0)) }
    }
}

// MARK: Relations

extension RelatedQuery where Related == Void {
    /// A query that follows no relation.
    init(_ query: SyncQuery<Model>) {
        self.init(query: query, branches: []) { _, _ in { _ in () } }
    }
}

extension RelatedQuery {
    func mapped<Other: Sendable>(_ map: @escaping @Sendable (Related) -> Other) -> RelatedQuery<Model, Other> {
        RelatedQuery<Model, Other>(query: query, branches: branches) { [join] models, rows throws(SyncError) in
            let related = try join(models, rows)
            return { map(related($0)) }
        }
    }

    /// Returns a query that follows one more relation.
    /// - Parameters:
    ///   - others: The models that may be related, and what is followed from them.
    ///   - column: The column of the others by which they are related.
    ///   - keys: The values in that column of the others that are related to a model.
    ///   - pair: Returns what is related to each model, by its place, from the others and what is related to those.
    func following<Other: SyncModel, Further: Sendable, Found: Sendable>(
        _ others: RelatedQuery<Other, Further>, by column: Result<String, SyncError>,
        _ keys: RelatedKeys<Model>,
        join pair: @escaping @Sendable ([Model], [Other], @escaping (Int) -> Further) -> (Int) -> Found
    ) -> RelatedQuery<Model, (Related, Found)> {
        let (own, name, join) = (branches.count, query.table.name, join)
        var all = branches
        all.append(
            RelatedBranch(table: others.query.table.untyped) { source throws(SyncError) in
                RowRelation(from: source, to: try others.query.rowQuery(), by: try column.get()) { rows in
                    keys.all(of: rows, table: name)
                }
            })
        for branch in others.branches {
            let source = branch.source.map { own + 1 + $0 } ?? own
            all.append(RelatedBranch(source: source, table: branch.table, relation: branch.relation))
        }
        return RelatedQuery<Model, (Related, Found)>(query: query, branches: all) { models, rows throws(SyncError) in
            let related = try join(models, rows.prefix(own))
            let found = try others.query.table.decode(rows.dropFirst(own).first ?? [])
            let further = try others.join(found, rows.dropFirst(own + 1).prefix(others.branches.count))
            let others = pair(models, found, further)
            return { (related($0), others($0)) }
        }
    }
}
