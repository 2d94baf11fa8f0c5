// The values computed from the rows of a query: `.count`, `.sum(\.price)`, `.max(\.due)`.

public import Foundation
import SynclineCore

/// A value that is computed from several rows. Missing values are left out.
public struct Aggregate<Model: SyncModel, Output: Sendable>: Sendable {
    let function: Result<RowAggregate.Function, SyncError>
    let decode: @Sendable (Value) throws(SyncError) -> Output

    private init(
        _ column: Result<String, SyncError>, _ function: (String) -> RowAggregate.Function
    ) where Output: Decodable {
        let function = column.map(function)
        self.function = function
        decode = { value throws(SyncError) in
            do throws(SyncError) {
                return try ValueDecoder.decode(Output.self, from: value)
            } catch {
                throw try function.get().misfit(Output.self)
            }
        }
    }

    /// The column of a property; an error for an id that rows store as a string, though its type is an integer.
    private static func name(_ property: KeyPath<Model, some Encodable>) -> Result<String, SyncError> {
        ModelColumns<Model>.shared.name(of: property).flatMap { name in
            guard name == "id", case .integer? = try? Model.ID.encoded(rowID: "0") else { return .success(name) }
            return .failure(
                SyncError(
                    .unsupportedPredicate,
                    "the id of a row is a string, which has no sum and another order than integers",
                    hint: "Keep the number in another column, too."))
        }
    }
}

extension RowAggregate.Function {
    /// Why a result does not fit the type that the app asked for.
    fileprivate func misfit(_ type: Any.Type) -> SyncError {
        let (name, column) =
            switch self {
            case .count: ("number", "rows")
            case .sum(let column): ("sum", column)
            case .average(let column): ("average", column)
            case .min(let column): ("minimum", column)
            case .max(let column): ("maximum", column)
            }
        return SyncError(
            .invalidItem, "the \(name) of \(column) does not fit \(type)",
            hint: "Sum it as a Decimal: `.sum(\\.\(column), as: Decimal.self)`.")
    }
}

extension Aggregate where Output == Int {
    /// The number of rows.
    public static var count: Self { Self(.success("")) { _ in .count } }
}

extension Aggregate where Output: Codable & Numeric {
    /// The sum of a property; 0 if there are no rows. A sum that does not fit the type of the property is an error.
    public static func sum(_ property: KeyPath<Model, Output>) -> Self {
        Self(name(property)) { .sum($0) }
    }

    /// The sum of a property; 0 if no row has a value. A sum that does not fit the type of the property is an error.
    public static func sum(_ property: KeyPath<Model, Output?>) -> Self {
        Self(name(property)) { .sum($0) }
    }
}

extension Aggregate where Output == Decimal {
    /// The exact sum of a property of any numeric type; 0 if no row has a value. A sum of integers may be larger than 64
    /// bits.
    public static func sum<Number: Codable & Numeric>(
        _ property: KeyPath<Model, Number>, as type: Decimal.Type
    ) -> Self {
        Self(name(property)) { .sum($0) }
    }

    /// The exact sum of a property of any numeric type; 0 if no row has a value. A sum of integers may be larger than 64
    /// bits.
    public static func sum<Number: Codable & Numeric>(
        _ property: KeyPath<Model, Number?>, as type: Decimal.Type
    ) -> Self {
        Self(name(property)) { .sum($0) }
    }
}

extension Aggregate where Output == Decimal? {
    /// The exact average of a property, of 38 digits if it does not end; nil if no row has a value.
    public static func average<Number: Codable & Numeric>(
        _ property: KeyPath<Model, Number>, as type: Decimal.Type
    ) -> Self {
        Self(name(property)) { .average($0) }
    }

    /// The exact average of a property, of 38 digits if it does not end; nil if no row has a value.
    public static func average<Number: Codable & Numeric>(
        _ property: KeyPath<Model, Number?>, as type: Decimal.Type
    ) -> Self {
        Self(name(property)) { .average($0) }
    }
}

extension Aggregate where Output == Double? {
    /// The average of a property; nil if there are no rows.
    public static func average<Number: Codable & Numeric>(
        _ property: KeyPath<Model, Number>
    ) -> Self {
        Self(name(property)) { .average($0) }
    }

    /// The average of a property; nil if no row has a value.
    public static func average<Number: Codable & Numeric>(
        _ property: KeyPath<Model, Number?>
    ) -> Self {
        Self(name(property)) { .average($0) }
    }
}

extension Aggregate {
    /// The least value of a property, as in a sorted list; nil if there are no rows.
    public static func min<Property: Codable & Comparable & Sendable>(
        _ property: KeyPath<Model, Property>
    ) -> Self where Output == Property? {
        Self(name(property)) { .min($0) }
    }

    /// The least value of a property, as in a sorted list; nil if no row has a value.
    public static func min<Property: Codable & Comparable & Sendable>(
        _ property: KeyPath<Model, Property?>
    ) -> Self where Output == Property? {
        Self(name(property)) { .min($0) }
    }

    /// The greatest value of a property, as in a sorted list; nil if there are no rows.
    public static func max<Property: Codable & Comparable & Sendable>(
        _ property: KeyPath<Model, Property>
    ) -> Self where Output == Property? {
        Self(name(property)) { .max($0) }
    }

    /// The greatest value of a property, as in a sorted list; nil if no row has a value.
    public static func max<Property: Codable & Comparable & Sendable>(
        _ property: KeyPath<Model, Property?>
    ) -> Self where Output == Property? {
        Self(name(property)) { .max($0) }
    }
}
