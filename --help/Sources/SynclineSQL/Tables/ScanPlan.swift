// How the rows of a table are found for a statement.

struct ScanPlan: Hashable {
    enum Access: Hashable {
        /// All rows.
        case all
        /// The row with an id, or the rows whose ids are a number in SQL.
        case id
        /// The rows whose ids are in a range. For one value, both ends are the same.
        case idRange(Ends)
        /// The rows with entries in a part of an index.
        case index(IndexPart)
        /// The entries of an index on strings, for a caller that reads only its column and the id.
        case entries(column: Int)
        /// The rows with a value in a column without an index. If they are asked for repeatedly, an index is made for
        /// the time of the statement.
        case made(column: Int)
    }

    /// Which ends of a range a scan is given.
    enum Ends: Hashable {
        case none, lower, upper, both
        /// One value, which is both ends.
        case same
    }

    var access: Access
    /// The conditions whose values the scan is given, by their position in the request: those that are equal to the
    /// first columns of an index, then the lower end of a range, then the upper one.
    var used: [Int] = []
    /// Whether the one value that the scan is given is a list.
    var isList = false
    /// Whether rows come in the wanted order.
    var isOrdered = false
    var cost: Double
    var rows: Double
}

/// A part of an index: some of its first columns equal a value, and the next one is in a range.
struct IndexPart: Hashable {
    /// The position of the index among those of the table, and the columns that it is sorted by.
    var index: Int
    var columns: [Int]
    /// How many of its columns equal a value.
    var equal = 0
    /// The ends of the range of the next column.
    var ends: ScanPlan.Ends = .none
    /// Whether the entries are read in their order. Otherwise rows are looked up in the order of their keys.
    var isOrdered = false
    /// Whether they are read from the last one on.
    var isBackward = false
    /// Whether the entries have all columns that are read, so that no rows are looked up.
    var isCovering = false

    /// The ranges of its first columns that some values say.
    func ranges(_ values: [Operand]) -> [ColumnRange] {
        let equal = values.prefix(equal).map { ColumnRange(equalTo: $0) }
        if ends == .none { return equal }
        let (lower, upper) = ends.of(Array(values.dropFirst(self.equal)))
        return equal + [ColumnRange(lower: lower, upper: upper)]
    }
}

extension ScanPlan.Ends {
    /// The lower and the upper one of the values that a scan is given.
    func of<Element>(_ values: [Element]) -> (lower: Element?, upper: Element?) {
        switch self {
        case .none: (nil, nil)
        case .lower: (values.first, nil)
        case .upper: (nil, values.first)
        case .both: (values.first, values.last)
        case .same: (values.first, values.first)
        }
    }
}

// MARK: For people

extension ScanPlan {
    /// What `explain query plan` shows of it.
    /// - Parameter columns: The names of the table's columns.
    func text(_ columns: [String]) -> String {
        let way =
            switch access {
            case .all: "all rows"
            case .id: condition(columns[0], .same)
            case .idRange(let ends): condition(columns[0], ends)
            case .index(let part): text(part, columns)
            case .entries(let column): "entries of the index on \(columns[column])"
            case .made(let column): "an index made for \(condition(columns[column], .same))"
            }
        return isOrdered ? way + ", in order" + (isBackward ? " from the end" : "") : way
    }

    private var isBackward: Bool { if case .index(let part) = access { part.isBackward } else { false } }

    private func text(_ part: IndexPart, _ columns: [String]) -> String {
        let names = part.columns.map { columns[$0] }
        var conditions = names.prefix(part.equal).map { condition($0, .same) }
        if part.ends != .none { conditions.append(condition(names[part.equal], part.ends)) }
        let found = conditions.isEmpty ? "" : ": " + conditions.joined(separator: " and ")
        return (part.isCovering ? "entries of the index on " : "the index on ") + names.joined(separator: ", ") + found
    }

    private func condition(_ column: String, _ ends: Ends) -> String {
        switch ends {
        case .none: column
        case .lower: "\(column) > ?"
        case .upper: "\(column) < ?"
        case .both: "\(column) > ? and \(column) < ?"
        case .same: isList ? "\(column) in ?" : "\(column) = ?"
        }
    }
}
