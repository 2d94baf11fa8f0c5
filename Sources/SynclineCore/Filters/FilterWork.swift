// Limits the work of evaluating a filter, and knows the types of the columns. A filter's length limits the number of
// function calls, but not the size of the strings they make: two letters may become a thousand, again and again.

/// Why the evaluation of a filter ended early.
package enum FilterFailure: Error, Hashable, Sendable {
    /// The strings made for one row are too large.
    case tooLarge
    /// The caller stopped it.
    case stopped
}

/// The work of evaluating a filter on one thread. A failure is kept; later results are null and meaningless.
package final class FilterWork {
    /// How many bytes of strings a filter may make for one row.
    package static let textLimit = 16 << 20

    // Unchecked: it belongs to one thread, and nothing here is called from within itself.
    @exclusivity(unchecked) package private(set) var failure: FilterFailure?
    @exclusivity(unchecked) private var made = 0
    private let goesOn: (() -> Bool)?
    /// The types of the columns of the table.
    let types: TableTypes
    /// Whether it is a server's: a literal says what it means beside a column without a type. A number for
    /// which no double can stand is a decimal, and a literal of the type GUID a UUID.
    let isServers: Bool

    /// - Parameter goesOn: Asked before each row and each function.
    package init(_ types: TableTypes = TableTypes(), isServers: Bool = false, goesOn: (() -> Bool)? = nil) {
        self.types = types
        self.isServers = isServers
        self.goesOn = goesOn
    }

    /// The type of a value that a column has, or of a literal in a form.
    func type(of value: Value, in column: String?, _ form: FilterExpression.LiteralForm = .plain) -> ColumnType {
        if let column, types[column] != .any { return types[column] }
        guard isServers else { return .any }
        if form == .guid { return .uuid }
        if case .number(let number) = value, number.isExact { return .decimal }
        return .any
    }

    func beginRow() {
        made = 0
        if failure == nil, goesOn?() == false { failure = .stopped }
    }

    /// Returns whether a function may still be called.
    var mayGoOn: Bool {
        if failure == nil, goesOn?() == false { failure = .stopped }
        return failure == nil
    }

    /// Returns whether this many more bytes may be made.
    func mayMake(_ bytes: Int) -> Bool {
        made += bytes
        if made > FilterWork.textLimit { failure = failure ?? .tooLarge }
        return failure == nil
    }
}
