// A query: a filter, a sort order, a window, and a selection of columns. The same value can be run on a local table
// and printed for a server. A cursor recognizes its query by the canonical text.

/// A query on one table.
public struct RowQuery: Hashable, Sendable {
    /// A sort key.
    public struct Key: Hashable, Sendable {
        /// The column; a member of a nested object is named with slashes: `place/street`.
        public var column: String
        /// Whether to sort in descending order.
        public var isDescending: Bool
        /// What is sorted by in place of the column, which refers to other rows.
        package var through: OrderThrough?

        /// Creates a sort key.
        public init(_ column: String, descending: Bool = false) {
            self.column = column
            isDescending = descending
        }
    }

    /// The table.
    public var table: String
    /// The condition; nil for all rows.
    public var filter: FilterExpression?
    /// The sort keys; rows that compare equal are sorted by id.
    public var order: [Key]
    /// The maximum number of rows; nil for all.
    public var top: Int?
    /// The number of rows to skip.
    public var skip: Int
    /// The columns wanted; nil for all.
    public var select: [String]?
    /// Whether to count all matches, ignoring `top` and `skip`.
    public var countsAll: Bool

    /// Only rows after this one in the order of the query; nil to begin with the first. Unlike `skip`, it costs the
    /// same for every page, and it misses and repeats nothing if rows are added or removed meanwhile.
    public var after: Place?

    /// A place in the order of a query: the values of its sort keys, and an id.
    public struct Place: Hashable, Sendable {
        /// The values of the sort keys.
        public var values: [Value]
        /// The row's id.
        public var id: String

        /// Creates a place.
        public init(values: [Value], id: String) {
            self.values = values
            self.id = id
        }
    }

    /// Creates a query.
    public init(
        table: String, filter: FilterExpression? = nil, order: [Key] = [], top: Int? = nil, skip: Int = 0,
        select: [String]? = nil, countsAll: Bool = false, after: Place? = nil
    ) {
        self.table = table
        self.filter = filter
        self.order = order
        self.top = top
        self.skip = skip
        self.select = select
        self.countsAll = countsAll
        self.after = after
    }

    /// Throws if the window is not valid.
    package func check() throws(SyncError) {
        if skip < 0 || top ?? 0 < 0 {
            throw SyncError(.invalidQuery, "top and skip can't be negative", hint: "Use 0 or more.")
        }
        if let after, after.values.count != order.count {
            throw SyncError(
                .invalidQuery,
                "the place to continue after has \(after.values.count) values for \(order.count) sort keys",
                hint: "Use the end of a result with the same order.")
        }
    }
}

extension RowQuery.Key {
    /// Parses `a, b desc`; the case of the direction does not matter.
    public static func list(parsing text: String) throws(FilterError) -> [RowQuery.Key] {
        var scanner = try FilterScanner(text, as: "order")
        var keys: [RowQuery.Key] = []
        repeat {
            guard let column = scanner.name() else { throw scanner.unexpected() }
            let start = scanner.position
            switch scanner.name()?.lowercased() {
            case nil, "asc": keys.append(RowQuery.Key(column))
            case "desc": keys.append(RowQuery.Key(column, descending: true))
            case let word?: throw scanner.error("'\(word)' is neither asc nor desc", at: start)
            }
        } while scanner.skip(",")
        guard scanner.isAtEnd else { throw scanner.unexpected() }
        return keys
    }
}

extension RowQuery {
    /// Returns whether one row sorts before another: by the keys, with null lowest, then by id.
    package func areInOrder(
        _ left: (id: String, row: some FilterSubject), _ right: (id: String, row: some FilterSubject),
        _ types: TableTypes = TableTypes()
    ) -> Bool {
        for key in order {
            let (first, second) = (left.row.value(of: key), right.row.value(of: key))
            switch Value.sortOrder(first, second, as: key.type(types)) {
            case .less: return !key.isDescending
            case .greater: return key.isDescending
            case .equal, .none: continue
            }
        }
        return Value.compare(.string(left.id), .string(right.id)) == .less
    }
}

extension RowQuery.Key {
    /// The type of the values that are compared.
    func type(_ types: TableTypes) -> ColumnType { through?.type ?? types[column] }

    /// The column and the names of the members; nil for a column alone.
    var path: [String]? {
        guard column.utf8.contains(UInt8(ascii: "/")) else { return nil }
        return column.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    }
}

extension FilterSubject {
    /// The value that a row has for a sort key.
    func value(of key: RowQuery.Key) -> Value {
        var own = value(ofColumn: key.column)
        // A column may have a slash in its name.
        if own.isNull, let path = key.path { own = value(at: path) }
        return key.through.map { $0.value(for: own) } ?? own
    }

    /// The value of a column, or of a member of it.
    func value(at path: [String]) -> Value {
        path.dropFirst().reduce(value(ofColumn: path[0])) { $0[member: $1] ?? .null }
    }
}

extension Value {
    /// Returns the order of two values of a column: null, then by kind, then within the kind, or by what the type makes
    /// of both. Values of a kind without an order compare equal.
    static func sortOrder(_ left: Value, _ right: Value, as type: ColumnType = .any) -> Order {
        if type != .any, !left.isNull, !right.isNull {
            return Meaning.compare(Meaning(left, as: type), Meaning(right, as: type))
        }
        let (leftRank, rightRank) = (left.sortRank, right.sortRank)
        if leftRank != rightRank { return leftRank < rightRank ? .less : .greater }
        return left.isNull ? .equal : compare(left, right)
    }

    private var sortRank: Int {
        switch self {
        case .null: 0
        case .bool: 1
        case .integer, .double, .number: 2
        case .date: 3
        case .string: 4
        case .bytes: 5
        case .array: 6
        case .object: 7
        }
    }
}
