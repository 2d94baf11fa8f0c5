// A reference from one model to another, as a value that queries follow in both directions.

import SynclineCore

/// A reference from one model to another:
/// `static let inspection = Relation(\Finding.inspectionID, to: Inspection.self)`.
///
/// The store does not know it, and enforces nothing: a reference may name a row that does not exist.
public struct Relation<Source: SyncModel, Target: SyncModel>: Sendable {
    /// The column of the reference.
    let column: Result<String, SyncError>
    /// The id that a source has of its target.
    let reference: @Sendable (Source) -> Target.ID?
    /// Whether a source may have none.
    let isOptional: Bool

    /// Creates a relation from a property that holds the id of another model.
    public init(_ property: KeyPath<Source, Target.ID>, to target: Target.Type = Target.self) {
        column = ModelColumns<Source>.shared.name(of: property)
        isOptional = false
        let stored = StoredPath(property)
        reference = { $0[keyPath: stored.path] }
    }

    /// Creates a relation from an optional property that holds the id of another model.
    public init(_ property: KeyPath<Source, Target.ID?>, to target: Target.Type = Target.self) {
        column = ModelColumns<Source>.shared.name(of: property)
        isOptional = true
        let stored = StoredPath(property)
        reference = { $0[keyPath: stored.path] }
    }
}

extension ModelSource where Self: Sendable, Refined == SyncQuery<Model> {
    /// Returns a query for models, each with the model it refers to:
    /// `for (finding, inspection) in try await findings.with(Finding.inspection).get()`.
    ///
    /// - Parameters:
    ///   - relation: The reference to follow.
    ///   - targets: Only models of this query are followed.
    public func with<Target: SyncModel>(
        _ relation: Relation<Model, Target>, from targets: SyncQuery<Target>? = nil
    ) -> RelatedQuery<Model, Target?> {
        let query = asQuery
        let others = RelatedQuery(targets ?? query.table.sibling())
        return RelatedQuery(query).following(
            first: .reference(relation, of: query.table.name, from: others) { target, _ in target })
    }

    /// Returns a query for models, each with the model it refers to and what is related to that one:
    /// `entries.with(Entry.account, from: accounts.with(Account.bank))`.
    ///
    /// - Parameters:
    ///   - relation: The reference to follow.
    ///   - targets: Only models of this query are followed.
    public func with<Target: SyncModel, Further: Sendable>(
        _ relation: Relation<Model, Target>, from targets: RelatedQuery<Target, Further>
    ) -> RelatedQuery<Model, RelatedQuery<Target, Further>.Element?> {
        let query = asQuery
        return RelatedQuery(query).following(
            first: .reference(relation, of: query.table.name, from: targets) { (model: $0, related: $1) })
    }

    /// Returns a query for models, each with all models that refer to it:
    /// `for (inspection, findings) in try await inspections.with(all: Finding.inspection).get()`.
    ///
    /// - Parameters:
    ///   - relation: The reference to follow.
    ///   - sources: Only models of this query are followed, in its order.
    ///   - limit: How many of them each model gets at most; nil for all.
    public func with<Source: SyncModel>(
        all relation: Relation<Source, Model>, from sources: SyncQuery<Source>? = nil, each limit: Int? = nil
    ) -> RelatedQuery<Model, [Source]> {
        let query = asQuery
        let others = RelatedQuery(sources ?? query.table.sibling())
        return RelatedQuery(query).following(
            first: .referrers(relation, from: others, each: limit) { source, _ in source })
    }

    /// Returns a query for models, each with all models that refer to it, and what is related to those.
    ///
    /// - Parameters:
    ///   - relation: The reference to follow.
    ///   - sources: Only models of this query are followed, in its order.
    ///   - limit: How many of them each model gets at most; nil for all.
    public func with<Source: SyncModel, Further: Sendable>(
        all relation: Relation<Source, Model>, from sources: RelatedQuery<Source, Further>, each limit: Int? = nil
    ) -> RelatedQuery<Model, [RelatedQuery<Source, Further>.Element]> {
        RelatedQuery(asQuery).following(
            first: .referrers(relation, from: sources, each: limit) { (model: $0, related: $1) })
    }
}

extension RelatedQuery {
    /// Returns a query that follows one more reference of the models:
    /// `for (entry, (account, tags)) in try await entries.with(Entry.account).with(all: Tag.entry).get()`.
    ///
    /// - Parameters:
    ///   - relation: The reference to follow.
    ///   - targets: Only models of this query are followed.
    public func with<Target: SyncModel>(
        _ relation: Relation<Model, Target>, from targets: SyncQuery<Target>? = nil
    ) -> RelatedQuery<Model, (Related, Target?)> {
        let others = RelatedQuery<Target, Void>(targets ?? query.table.sibling())
        return following(.reference(relation, of: query.table.name, from: others) { target, _ in target })
    }

    /// Returns a query that follows one more reference of the models, and what is related to the models there.
    ///
    /// - Parameters:
    ///   - relation: The reference to follow.
    ///   - targets: Only models of this query are followed.
    public func with<Target: SyncModel, Further: Sendable>(
        _ relation: Relation<Model, Target>, from targets: RelatedQuery<Target, Further>
    ) -> RelatedQuery<Model, (Related, RelatedQuery<Target, Further>.Element?)> {
        following(.reference(relation, of: query.table.name, from: targets) { (model: $0, related: $1) })
    }

    /// Returns a query that follows one more reference to the models.
    ///
    /// - Parameters:
    ///   - relation: The reference to follow.
    ///   - sources: Only models of this query are followed, in its order.
    ///   - limit: How many of them each model gets at most; nil for all.
    public func with<Source: SyncModel>(
        all relation: Relation<Source, Model>, from sources: SyncQuery<Source>? = nil, each limit: Int? = nil
    ) -> RelatedQuery<Model, (Related, [Source])> {
        let others = RelatedQuery<Source, Void>(sources ?? query.table.sibling())
        return following(.referrers(relation, from: others, each: limit) { source, _ in source })
    }

    /// Returns a query that follows one more reference to the models, and what is related to the models there.
    ///
    /// - Parameters:
    ///   - relation: The reference to follow.
    ///   - sources: Only models of this query are followed, in its order.
    ///   - limit: How many of them each model gets at most; nil for all.
    public func with<Source: SyncModel, Further: Sendable>(
        all relation: Relation<Source, Model>, from sources: RelatedQuery<Source, Further>, each limit: Int? = nil
    ) -> RelatedQuery<Model, (Related, [RelatedQuery<Source, Further>.Element])> {
        following(.referrers(relation, from: sources, each: limit) { (model: $0, related: $1) })
    }
}

extension SyncTable {
    /// All models of another type in the same store.
    fileprivate func sibling<Other: SyncModel>() -> SyncQuery<Other> {
        SyncTable<Other>(untyped.database.rows(of: Other.table)).query
    }
}

// MARK: Orders

extension ModelSource {
    /// Returns a query that sorts by a property of the model that each model refers to, after the sort keys given before:
    /// `entries.order(by: Entry.account, \.name)`. Without such a model, the property counts as missing. No server sorts so.
    public func order<Target: SyncModel, Value: Encodable>(
        by relation: Relation<Model, Target>, _ property: KeyPath<Target, Value>,
        _ direction: SortDirection = .ascending
    ) -> Refined {
        let key = relation.column.flatMap { column in
            ModelColumns<Target>.shared.name(of: property).map { name in
                var key = RowQuery.Key(column, descending: direction == .descending)
                key.through = OrderThrough(name, of: Target.table, hasNumbers: Target.ID.isNumber)
                return key
            }
        }
        return refined { $0.add(orderBy: key) }
    }
}

// MARK: Conditions

extension Columns {
    /// Whether the model refers to one that satisfies a condition:
    /// `entries.where { $0.related(Entry.account) { $0.kind == .bank } }`. No server evaluates it.
    public func related<Target: SyncModel>(
        _ relation: Relation<Model, Target>, _ condition: (Columns<Target>) -> Filter<Target>
    ) -> Filter<Model> {
        related(relation.column, Target.table, condition) {
            FilterExpression.Selection(table: $0, column: "id", filter: $1)
        }
    }

    /// Whether some model that satisfies a condition refers to the model:
    /// `accounts.where { $0.related(any: Entry.account) { $0.amount > 100 } }`. No server evaluates it.
    public func related<Source: SyncModel>(
        any relation: Relation<Source, Model>, _ condition: (Columns<Source>) -> Filter<Source>
    ) -> Filter<Model> {
        let column = relation.column
        return related(.success("id"), Source.table, condition) { table, filter throws(SyncError) in
            FilterExpression.Selection(table: table, column: try column.get(), filter: filter)
        }
    }

    private func related<Other: SyncModel>(
        _ column: Result<String, SyncError>, _ table: String, _ condition: (Columns<Other>) -> Filter<Other>,
        _ selection: (String, FilterExpression) throws(SyncError) -> FilterExpression.Selection
    ) -> Filter<Model> {
        Filter(
            Result { () throws(SyncError) in
                var selection = try selection(table, try Filter<Other>(condition).expression)
                selection.hasNumbers = Other.ID.isNumber
                return .related(try column.get(), selection)
            })
    }
}

extension RowIdentifier {
    /// Whether a column holds such an id as a number.
    fileprivate static var isNumber: Bool {
        guard let zero = Self(rowID: "0"), case .integer? = try? ValueEncoder.encode(zero) else { return false }
        return true
    }
}
