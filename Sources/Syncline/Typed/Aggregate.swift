// What can be computed of the rows of a query: `.count`, `.sum(\.price)`, `.max(\.due)`.

import SynclineCore

/// A value that is computed of several rows. Missing values are left out.
public struct Aggregate<Model: SyncModel, Output: Sendable>: Sendable {
    let function: Result<RowAggregate.Function, SyncError>
    let decode: @Sendable (Value) throws(SyncError) -> Output

    private init(
        _ column: Result<String, SyncError>, _ function: (String) -> RowAggregate.Function
    ) where Output: Decodable {
        self.function = column.map(function)
        decode = { value throws(SyncError) in try ValueDecoder.decode(Output.self, from: value) }
    }

    private static func name(_ property: any KeyPath<Model, some Encodable> & Sendable) -> Result<String, SyncError> {
        ModelColumns<Model>.shared.name(of: property)
    }
}

extension Aggregate where Output == Int {
    /// The number of rows.
    public static var count: Self { Self(.success("")) { _ in .count } }
}

extension Aggregate where Output: Codable & Numeric {
    /// The sum of a property; 0 if there are no rows.
    public static func sum(_ property: any KeyPath<Model, Output> & Sendable) -> Self {
        Self(name(property)) { .sum($0) }
    }

    /// The sum of a property; 0 if no row has a value.
    public static func sum(_ property: any KeyPath<Model, Output?> & Sendable) -> Self {
        Self(name(property)) { .sum($0) }
    }
}

extension Aggregate where Output == Double? {
    /// The average of a property; nil if there are no rows.
    public static func average<Number: Codable & Numeric>(
        _ property: any KeyPath<Model, Number> & Sendable
    ) -> Self {
        Self(name(property)) { .average($0) }
    }

    /// The average of a property; nil if no row has a value.
    public static func average<Number: Codable & Numeric>(
        _ property: any KeyPath<Model, Number?> & Sendable
    ) -> Self {
        Self(name(property)) { .average($0) }
    }
}

extension Aggregate {
    /// The least value of a property, as in a sorted list; nil if there are no rows.
    public static func min<Property: Codable & Comparable & Sendable>(
        _ property: any KeyPath<Model, Property> & Sendable
    ) -> Self where Output == Property? {
        Self(name(property)) { .min($0) }
    }

    /// The least value of a property, as in a sorted list; nil if no row has a value.
    public static func min<Property: Codable & Comparable & Sendable>(
        _ property: any KeyPath<Model, Property?> & Sendable
    ) -> Self where Output == Property? {
        Self(name(property)) { .min($0) }
    }

    /// The greatest value of a property, as in a sorted list; nil if there are no rows.
    public static func max<Property: Codable & Comparable & Sendable>(
        _ property: any KeyPath<Model, Property> & Sendable
    ) -> Self where Output == Property? {
        Self(name(property)) { .max($0) }
    }

    /// The greatest value of a property, as in a sorted list; nil if no row has a value.
    public static func max<Property: Codable & Comparable & Sendable>(
        _ property: any KeyPath<Model, Property?> & Sendable
    ) -> Self where Output == Property? {
        Self(name(property)) { .max($0) }
    }
}
