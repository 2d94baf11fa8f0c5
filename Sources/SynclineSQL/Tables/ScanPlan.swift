// The way in which a statement finds the rows of a table.

import SynclineCore

struct ScanPlan: Hashable {
    enum Access: Hashable {
        /// All rows.
        case all
        /// The row with an id, or the rows whose ids are a number in SQL.
        case id
        /// The rows whose ids are in a range.
        case idRange(IndexChoice.Ends)
        /// The rows with entries in a part of an index.
        case index(IndexPart)
        /// The rows with a value in a column without an index. If they are asked for repeatedly, an index is made for
        /// the time of the statement.
        case made(column: Int)
    }

    var access: Access
    /// The conditions whose values the scan is given, by their position in the request: those that are equal to the
    /// first columns of an index, then the lower end of a range, then the upper one.
    var used: [Int] = []
    /// The one of those values that is a list.
    var list: Int?
    /// Whether rows come in the wanted order.
    var isOrdered = false
    var cost: Double
    var rows: Double

    /// The column with which a value is compared.
    func column(ofValue place: Int) -> Int {
        switch access {
        case .all, .id, .idRange: 0
        case .index(let part): part.columns[min(place, part.choice.equal)]
        case .made(let column): column
        }
    }

    /// Whether it finds the row with an id.
    var findsOneID: Bool { access == .id && list == nil }
}

/// An index, and the way it is used.
struct IndexPart: Hashable {
    /// The position of the index among those of the table, and the columns that it is sorted by.
    var index: Int
    var columns: [Int]
    var choice = IndexChoice()

    /// The ranges of its first columns that some values say.
    /// - Parameter isText: Whether a column is one of text.
    func ranges(_ values: [Operand], isText: (Int) -> Bool) -> [ColumnRange] {
        let equal = values.prefix(choice.equal).map { ColumnRange(equalTo: $0) }
        if choice.ends == .none { return equal }
        var (lower, upper) = choice.ends.of(Array(values.dropFirst(choice.equal)))
        // It may be compared as text, so that strings which are no numbers are below it.
        if case .number = upper, isText(columns[choice.equal]) { upper = nil }
        return equal + [ColumnRange(lower: lower, upper: upper)]
    }
}

extension IndexChoice.Ends {
    /// The lower and the upper one of the values that a scan is given.
    func of<Element>(_ values: [Element]) -> (lower: Element?, upper: Element?) {
        switch self {
        case .none: (nil, nil)
        case .lower: (values.first, nil)
        case .upper: (nil, values.first)
        case .both: (values.first, values.last)
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
            case .id: equality(columns[0], 0)
            case .idRange(let ends): range(columns[0], ends)
            case .index(let part): text(part, columns)
            case .made(let column): "an index made for \(equality(columns[column], 0))"
            }
        return isOrdered ? way + ", in order" + (isBackward ? " from the end" : "") : way
    }

    private var isBackward: Bool { if case .index(let part) = access { part.choice.isBackward } else { false } }

    private func text(_ part: IndexPart, _ columns: [String]) -> String {
        let names = part.columns.map { columns[$0] }
        var conditions = names.prefix(part.choice.equal).enumerated().map { equality($1, $0) }
        if part.choice.ends != .none { conditions.append(range(names[part.choice.equal], part.choice.ends)) }
        let found = conditions.isEmpty ? "" : ": " + conditions.joined(separator: " and ")
        return (part.choice.isCovering ? "entries of the index on " : "the index on ") + names.joined(separator: ", ")
            + found
    }

    /// A column that equals the value with a number, or one of the list that this is.
    private func equality(_ column: String, _ value: Int) -> String { column + (value == list ? " in ?" : " = ?") }

    private func range(_ column: String, _ ends: IndexChoice.Ends) -> String {
        switch ends {
        case .none: column
        case .lower: "\(column) > ?"
        case .upper: "\(column) < ?"
        case .both: "\(column) > ? and \(column) < ?"
        }
    }
}
