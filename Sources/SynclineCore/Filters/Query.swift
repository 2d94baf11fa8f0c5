// What rows are asked for: a filter, an order, a window, a choice of columns. The same value asks a local table and, printed, a
// server; its canonical text is how a cursor recognises the query it belongs to.

/// A question to one table.
public struct Query: Hashable, Sendable {
    /// One key of the order.
    public struct Key: Hashable, Sendable {
        /// The column.
        public var column: String
        /// Whether the greatest comes first.
        public var isDescending: Bool

        /// A key of the order.
        public init(_ column: String, descending: Bool = false) {
            self.column = column
            isDescending = descending
        }
    }

    /// The table asked.
    public var table: String
    /// The condition; nil for all rows.
    public var filter: Expression?
    /// The keys of the order; rows that stand equal come by id.
    public var order: [Key]
    /// At most so many rows; nil for all.
    public var top: Int?
    /// How many rows are left out at the beginning.
    public var skip: Int
    /// The columns wanted; nil for all.
    public var select: [String]?
    /// Whether to count all matches, whatever `top` and `skip` leave of them.
    public var countsAll: Bool

    /// Makes a question.
    public init(
        table: String, filter: Expression? = nil, order: [Key] = [], top: Int? = nil, skip: Int = 0,
        select: [String]? = nil, countsAll: Bool = false
    ) {
        self.table = table
        self.filter = filter
        self.order = order
        self.top = top
        self.skip = skip
        self.select = select
        self.countsAll = countsAll
    }
}

extension Query {
    /// Throws if the window makes no sense.
    package func check() throws(SyncError) {
        if skip < 0 || top ?? 0 < 0 {
            throw SyncError(.invalidQuery, "top and skip can't be negative", hint: "Leave out what is not wanted.")
        }
    }
}

extension Query.Key {
    /// Reads `a, b desc`; a direction is written in any letter case.
    public static func list(parsing text: String) throws(FilterError) -> [Query.Key] {
        var scanner = try FilterScanner(text)
        var keys: [Query.Key] = []
        repeat {
            guard let column = scanner.name() else { throw scanner.unexpected() }
            let start = scanner.position
            switch scanner.name()?.lowercased() {
            case nil, "asc": keys.append(Query.Key(column))
            case "desc": keys.append(Query.Key(column, descending: true))
            case let word?: throw scanner.error("'\(word)' is neither asc nor desc", at: start)
            }
        } while scanner.skip(",")
        guard scanner.isAtEnd else { throw scanner.unexpected() }
        return keys
    }
}

extension Query {
    /// Whether one row comes before another: by the keys, null first where they ascend, then by id.
    package func areInOrder(
        _ left: (id: String, row: some FilterSubject), _ right: (id: String, row: some FilterSubject)
    ) -> Bool {
        for key in order {
            let (first, second) = (left.row.value(ofColumn: key.column), right.row.value(ofColumn: key.column))
            switch Value.sortOrder(first, second) {
            case .less: return !key.isDescending
            case .greater: return key.isDescending
            case .equal, .none: continue
            }
        }
        return Value.compare(.string(left.id), .string(right.id)) == .less
    }
}

extension Value {
    /// An order over all values: null, then by kind, then within the kind. Kinds without an order stand equal.
    static func sortOrder(_ left: Value, _ right: Value) -> Order {
        let (leftRank, rightRank) = (left.sortRank, right.sortRank)
        if leftRank != rightRank { return leftRank < rightRank ? .less : .greater }
        return left.isNull ? .equal : compare(left, right)
    }

    private var sortRank: Int {
        switch self {
        case .null: 0
        case .bool: 1
        case .integer, .double: 2
        case .date: 3
        case .string: 4
        case .bytes: 5
        case .array: 6
        case .object: 7
        }
    }
}
