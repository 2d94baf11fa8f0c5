// A reference from one model to another, as a value that queries follow in both directions.

import SynclineCore
import SynclineGround

/// A reference from one model to another:
/// `static let inspection = Relation(\Finding.inspectionID, to: Inspection.self)`.
///
/// The store does not know it, and enforces nothing: a reference may name a row that does not exist.
public struct Relation<Source: SyncModel, Target: SyncModel>: Sendable {
    /// The column of the reference.
    let column: Result<String, SyncError>
    /// The id that a source has of its target.
    let reference: @Sendable (Source) -> Target.ID?

    /// Creates a relation from a property that holds the id of another model.
    public init(_ property: any KeyPath<Source, Target.ID> & Sendable, to target: Target.Type = Target.self) {
        column = ModelColumns<Source>.shared.name(of: property)
        reference = { $0[keyPath: property] }
    }

    /// Creates a relation from an optional property that holds the id of another model.
    public init(_ property: any KeyPath<Source, Target.ID?> & Sendable, to target: Target.Type = Target.self) {
        column = ModelColumns<Source>.shared.name(of: property)
        reference = { $0[keyPath: property] }
    }
}

extension ModelSource where Self: Sendable, Narrowed == SyncQuery<Model> {
    /// Returns a query for models, each with the model it refers to:
    /// `for (finding, inspection) in try await findings.with(Finding.inspection).get()`.
    ///
    /// - Parameters:
    ///   - relation: The reference to follow.
    ///   - targets: Only models of this query are followed.
    public func with<Target: SyncModel>(
        _ relation: Relation<Model, Target>, from targets: SyncQuery<Target>? = nil
    ) -> RelatedQuery<Model, Target, Target?> {
        let query = asQuery
        let others = targets ?? SyncTable(query.table.untyped.database.rows(of: Target.table)).query
        return RelatedQuery(query: query, others: others, column: relation.column.map { _ in "id" }) { model in
            relation.reference(model)?.rowIDs.map { .string($0) } ?? []
        } join: { models, targets in
            let known = Dictionary(targets.map { ($0.id.exact, $0) }) { first, _ in first }
            return models.map { model in (model, relation.reference(model).flatMap { known[$0.exact] }) }
        }
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
    ) -> RelatedQuery<Model, Source, [Source]> {
        let query = asQuery
        let others = sources ?? SyncTable(query.table.untyped.database.rows(of: Source.table)).query
        return RelatedQuery(query: query, others: others, column: relation.column) { model in
            if let texts = model.id.columnTexts { return texts.map { .string($0) } }
            // An id that can't be encoded is in no row.
            return (try? ValueEncoder.encode(model.id)).map { [$0] } ?? []
        } join: { models, sources in
            let known = Dictionary(grouping: sources) { relation.reference($0)?.exact }
            return models.map { model in
                let related = known[model.id.exact] ?? []
                return (model, limit.map { Array(related.prefix(max(0, $0))) } ?? related)
            }
        }
    }
}

extension RowIdentifier {
    /// The id by which models are matched: strings that Unicode calls equivalent are different ids.
    fileprivate var exact: ExactString { ExactString(newRowID) }
}
