// Computed values: strings, numbers and parts of dates.

public import Foundation
import SynclineCore

extension ColumnExpression where Value == String {
    /// Whether the string contains another. Upper and lower case differ.
    public func contains(_ text: String) -> Filter<Model> { call(.contains, text) }
    /// Whether the string begins with another.
    public func hasPrefix(_ text: String) -> Filter<Model> { call(.startswith, text) }
    /// Whether the string ends with another.
    public func hasSuffix(_ text: String) -> Filter<Model> { call(.endswith, text) }
    /// Returns the string in lower case.
    public func lowercased() -> Self { map { .call(.tolower, [$0]) } }
    /// Returns the string in upper case.
    public func uppercased() -> Self { map { .call(.toupper, [$0]) } }
    /// Returns the string without white space at its ends.
    public func trimmed() -> Self { map { .call(.trim, [$0]) } }
    /// The length of the string.
    public var count: ColumnExpression<Model, Int> { map { .call(.length, [$0]) } }
    /// Whether the string has no characters.
    public var isEmpty: Filter<Model> { self == "" }

    private func call(_ function: FilterExpression.Function, _ text: String) -> Filter<Model> {
        map { .call(function, [$0, .literal(.string(text))]) }
    }
}

extension ColumnExpression {
    /// Whether the array has an element: `$0.tags.contains("red")`. Only the store evaluates it: a pull can't ask a server.
    public func contains<Element: Encodable & Equatable>(
        _ element: Element
    ) -> Filter<Model> where Value == [Element] {
        // Servers write UUIDs in upper or in lower case.
        let texts = (element as? any RowIdentifier)?.columnTexts ?? []
        let forms: [ColumnExpression<Model, Element>] =
            texts.isEmpty ? [.literal(element)] : texts.map { ColumnExpression<Model, Element>(.literal(.string($0))) }
        let tests: [Filter<Model>] = forms.map { joined(with: $0) { .call(.element, [$0, $1]) } }
        return tests.dropFirst().reduce(tests[0]) { $0 || $1 }
    }
}

extension ColumnExpression where Value: Encodable & Numeric {
    private func calculate(_ arithmetic: FilterExpression.Arithmetic, _ other: Self) -> Self {
        joined(with: other) { .arithmetic(arithmetic, $0, $1) }
    }

    /// A sum.
    public static func + (column: Self, value: Value) -> Self { column.calculate(.add, .literal(value)) }
    /// A sum.
    public static func + (value: Value, column: Self) -> Self { Self.literal(value).calculate(.add, column) }
    /// A sum.
    public static func + (left: Self, right: Self) -> Self { left.calculate(.add, right) }
    /// A difference.
    public static func - (column: Self, value: Value) -> Self { column.calculate(.sub, .literal(value)) }
    /// A difference.
    public static func - (value: Value, column: Self) -> Self { Self.literal(value).calculate(.sub, column) }
    /// A difference.
    public static func - (left: Self, right: Self) -> Self { left.calculate(.sub, right) }
    /// A product.
    public static func * (column: Self, value: Value) -> Self { column.calculate(.mul, .literal(value)) }
    /// A product.
    public static func * (value: Value, column: Self) -> Self { Self.literal(value).calculate(.mul, column) }
    /// A product.
    public static func * (left: Self, right: Self) -> Self { left.calculate(.mul, right) }
    /// A negated number.
    public static prefix func - (column: Self) -> Self { column.map { .negate($0) } }
}

extension ColumnExpression where Value: Encodable & BinaryInteger {
    /// The remainder of a division.
    public static func % (column: Self, value: Value) -> Self { column.calculate(.mod, .literal(value)) }
}

extension ColumnExpression where Value: Encodable & BinaryFloatingPoint {
    /// A quotient.
    public static func / (column: Self, value: Value) -> Self { column.calculate(.div, .literal(value)) }
    /// A quotient.
    public static func / (left: Self, right: Self) -> Self { left.calculate(.div, right) }
}

extension ColumnExpression where Value == Date {
    /// The year in UTC.
    public var year: ColumnExpression<Model, Int> { map { .call(.year, [$0]) } }
    /// The month in UTC, from 1.
    public var month: ColumnExpression<Model, Int> { map { .call(.month, [$0]) } }
    /// The day of the month in UTC, from 1.
    public var day: ColumnExpression<Model, Int> { map { .call(.day, [$0]) } }

    /// The year in a time zone.
    public func year(in zone: TimeZone) -> ColumnExpression<Model, Int> { local(.year, zone) }
    /// The month in a time zone, from 1.
    public func month(in zone: TimeZone) -> ColumnExpression<Model, Int> { local(.month, zone) }
    /// The day of the month in a time zone, from 1.
    public func day(in zone: TimeZone) -> ColumnExpression<Model, Int> { local(.day, zone) }
    /// The hour of the day in a time zone, from 0.
    public func hour(in zone: TimeZone) -> ColumnExpression<Model, Int> { local(.hour, zone) }
    /// The day in a time zone.
    public func calendarDay(in zone: TimeZone) -> ColumnExpression<Model, CalendarDay> {
        map { .local($0, ClockZone(zone), .day) }
    }
    /// The first day of the month in a time zone: a key for groups by month.
    public func firstOfMonth(in zone: TimeZone) -> ColumnExpression<Model, CalendarDay> {
        map { .local($0, ClockZone(zone), .month) }
    }

    private func local(
        _ function: FilterExpression.Function, _ zone: TimeZone
    ) -> ColumnExpression<Model, Int> {
        map { .call(function, [.local($0, ClockZone(zone), .time)]) }
    }
}

extension ColumnExpression where Value == CalendarDay {
    /// The year.
    public var year: ColumnExpression<Model, Int> { map { .call(.year, [$0]) } }
    /// The month, from 1.
    public var month: ColumnExpression<Model, Int> { map { .call(.month, [$0]) } }
    /// The day of the month, from 1.
    public var day: ColumnExpression<Model, Int> { map { .call(.day, [$0]) } }
    /// The first day of the month: a key for groups by month.
    public var firstOfMonth: ColumnExpression<Model, CalendarDay> { map { .local($0, ClockZone(.gmt), .month) } }
}
