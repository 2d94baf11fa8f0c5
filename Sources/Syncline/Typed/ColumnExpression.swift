// Filters as Swift expressions. An expression knows its model and the type of its value, so `{ $0.text > 5 }` does
// not compile. It becomes an ordinary filter, which a server can also evaluate.

public import SynclineCore

/// An expression over the columns of a model. A condition is an expression of type `Bool`: see ``Filter``.
///
/// A property of a nested value is a member of the expression: `$0.address.city == "Bonn"`.
@dynamicMemberLookup
public struct ColumnExpression<Model: SyncModel, Value>: Sendable {
    /// The tree of the expression, or why there is none.
    let tree: Result<FilterExpression, SyncError>

    init(_ tree: Result<FilterExpression, SyncError>) {
        self.tree = tree
    }
}

/// A condition on a model's rows, as a value that can be kept in a variable, combined and passed on:
/// `let open = Filter<TodoItem> { !$0.complete }`.
public typealias Filter<Model: SyncModel> = ColumnExpression<Model, Bool>

extension ColumnExpression {
    /// The filter without a model. Throws if a value can't be compared, or a property is not a column.
    public var expression: FilterExpression {
        get throws(SyncError) { try tree.get() }
    }

    /// Creates an expression from a filter without a model. The compiler does not check its columns.
    public init(_ expression: FilterExpression) {
        tree = .success(expression)
    }

    func map<Other>(_ make: (FilterExpression) -> FilterExpression) -> ColumnExpression<Model, Other> {
        ColumnExpression<Model, Other>(tree.map(make))
    }

    func joined<Other, Joined>(
        with other: ColumnExpression<Model, Other>, _ make: (FilterExpression, FilterExpression) -> FilterExpression
    ) -> ColumnExpression<Model, Joined> {
        ColumnExpression<Model, Joined>(tree.flatMap { left in other.tree.map { make(left, $0) } })
    }

    init(_ code: SyncError.Code, _ message: String, hint: String) {
        tree = .failure(SyncError(code, message, hint: hint))
    }

    /// Whether this is the id of the row.
    var isID: Bool {
        if case .success(.column(["id"])) = tree { true } else { false }
    }
}

extension ColumnExpression where Value: Codable & Sendable {
    /// Returns a property of a nested value, which its column holds as an object.
    public subscript<Member: Encodable>(
        dynamicMember property: KeyPath<Value, Member>
    ) -> ColumnExpression<Model, Member> {
        member(ModelColumns<Value>.shared.member(property))
    }

    /// Returns an optional property of a nested value.
    public subscript<Member: Encodable>(
        dynamicMember property: KeyPath<Value, Member?>
    ) -> ColumnExpression<Model, Member> {
        member(ModelColumns<Value>.shared.member(property))
    }

    private func member<Member>(_ name: Result<String, SyncError>) -> ColumnExpression<Model, Member> {
        ColumnExpression<Model, Member>(
            tree.flatMap { tree in
                guard case .column(let path) = tree else {
                    return .failure(
                        SyncError(
                            .unsupportedPredicate, "only a column has properties of a nested value",
                            hint: "Ask for the property first."))
                }
                return name.map { .column(path + $0.split(separator: "/").map(String.init)) }
            })
    }
}

/// What values have in Swift, and conditions do not. Without these declarations it would be taken for a property of a nested
/// value, and refused only when the condition is used.
extension ColumnExpression {
    @available(*, unavailable, message: "a condition compares values, not their hashes")
    public var hashValue: ColumnExpression<Model, Int> { map { $0 } }
    @available(*, unavailable, message: "a condition compares the value itself: leave out `.rawValue`")
    public var rawValue: ColumnExpression<Model, String> { map { $0 } }
}

extension ColumnExpression where Value: Encodable {
    /// Returns a Swift value as an expression.
    static func literal(_ value: Value) -> Self {
        do throws(SyncError) {
            let encoded = try ValueEncoder.encode(value)
            switch encoded {
            case .array, .object:
                return ColumnExpression(
                    .unsupportedPredicate, "\(Value.self) is stored as \(encoded.kindName)",
                    hint: "Compare its parts: `$0.place.street`.")
            default: return ColumnExpression(.literal(encoded))
            }
        } catch {
            return ColumnExpression(.failure(error))
        }
    }
}

extension ColumnExpression where Value == Bool {
    /// Creates a condition: `Filter<TodoItem> { !$0.complete }`.
    public init(_ condition: (Columns<Model>) -> Self) {
        self = condition(Columns())
    }

    /// Whether the condition is false. If it can't be decided because a value is missing, neither it nor its negation
    /// holds.
    public static prefix func ! (condition: Self) -> Self { condition.map { .not($0) } }
    /// Whether both conditions hold.
    public static func && (left: Self, right: Self) -> Self { left.joined(with: right) { .and($0, $1) } }
    /// Whether at least one condition holds.
    public static func || (left: Self, right: Self) -> Self { left.joined(with: right) { .or($0, $1) } }
}
