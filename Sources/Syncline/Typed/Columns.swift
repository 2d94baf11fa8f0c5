// The columns of a model, found by key paths, so that the compiler checks their names and types.

import SynclineCore

/// The columns of a model: `{ !$0.complete && $0.priority > 2 }`.
@dynamicMemberLookup
public struct Columns<Model: SyncModel>: Sendable {
    /// Returns the column of a property.
    public subscript<Value: Encodable>(
        dynamicMember property: KeyPath<Model, Value>
    ) -> ColumnExpression<Model, Value> {
        column(ModelColumns<Model>.shared.name(of: property))
    }

    /// Returns the column of an optional property. It is compared like any other; `== nil` tests for a missing value.
    public subscript<Value: Encodable>(
        dynamicMember property: KeyPath<Model, Value?>
    ) -> ColumnExpression<Model, Value> {
        column(ModelColumns<Model>.shared.name(of: property))
    }

    /// Returns a column by its name, for a column that is not a property of the model. A member of a nested object is named with
    /// slashes: `place/street`.
    public func named<Value: Encodable>(
        _ name: String, as type: Value.Type = Value.self
    ) -> ColumnExpression<Model, Value> {
        column(ModelColumns<Model>.shared.checked(name))
    }

    private func column<Value>(_ name: Result<String, SyncError>) -> ColumnExpression<Model, Value> {
        ColumnExpression(
            name.map { .column($0.split(separator: "/", omittingEmptySubsequences: false).map(String.init)) })
    }
}
