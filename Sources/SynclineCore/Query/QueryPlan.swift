// The plan by which a query was carried out, to find out why it is slow.

/// How a query was carried out.
public struct QueryPlan: Hashable, Sendable {
    /// Where the rows were looked for.
    public enum Access: Hashable, Sendable {
        /// In the whole table.
        case table
        /// By the ids that the filter names.
        case ids
        /// In an index on these columns. If it is ordered, its entries come in the order of the query, so only those
        /// that are wanted are read. If it is covering, no rows are read.
        case index(columns: [String], isOrdered: Bool, isCovering: Bool)
    }

    /// Where the rows were looked for.
    public internal(set) var access: Access = .table
    /// The number of index entries that were read.
    public internal(set) var entriesRead = 0
    /// The number of rows that were read.
    public internal(set) var rowsRead = 0
    /// The columns of indexes that were tried first, and given up because too many of their entries would be read.
    public internal(set) var givenUp: [[String]] = []
}

extension QueryPlan: CustomStringConvertible {
    public var description: String {
        (givenUp.map { "the index on \($0.joined(separator: ", ")) has too many entries to be of use" } + [accessText])
            .joined(separator: "; ")
    }

    private var accessText: String {
        switch access {
        case .table: "reads the whole table: \(rowsRead.of("row"))"
        case .ids: "reads rows by id: \(rowsRead.of("row"))"
        case .index(let columns, let isOrdered, let isCovering):
            "uses the index on \(columns.joined(separator: ", "))\(isOrdered ? " in its order" : ""): "
                + entriesRead.of("entry", "entries") + (isCovering ? ", no rows" : ", \(rowsRead.of("row"))")
        }
    }
}

extension Int {
    fileprivate func of(_ one: String, _ many: String? = nil) -> String {
        self == 1 ? "1 \(one)" : "\(self) \(many ?? one + "s")"
    }
}
