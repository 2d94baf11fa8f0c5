// The report of an import: the tables it found, and everything it could not import.

/// What an import of another client's file put into a store.
public struct ForeignReport: Hashable, Sendable {
    /// A table and the number of its rows.
    public struct Table: Hashable, Sendable {
        /// The name in the store.
        public var name: String
        /// The number of rows that an app sees.
        public var rows: Int
    }

    /// A query for which the other client had stored a position.
    public struct Query: Hashable, Sendable {
        /// The table, or what the other client called it.
        public var table: String
        /// The id of the query.
        public var queryID: String
    }

    /// Something that is not in the store.
    public struct Left: Hashable, Sendable {
        /// Why it could not be imported.
        public enum Reason: Hashable, Sendable {
            /// A row has no id.
            case noID
            /// An earlier row has the same id.
            case repeatedID
            /// A row, or what an operation would send, can't be stored.
            case invalid(String)
            /// The column has a value that does not have the column's type.
            case value(column: String)
            /// The other client did not sync the table, because it lacks a column that sync needs.
            case notSynced
            /// The row of an operation is missing, so the other client could not send it.
            case noRow
            /// An operation can't be read.
            case unreadable(String)
            /// The server had answered an operation with this status, which no store can show. The operation is in the
            /// store, and a push asks the server again.
            case answer(status: Int64)
        }

        /// The table's name in the store, or in the file.
        public var table: String
        /// The ids of the first rows.
        public var ids: [String]
        /// The number of rows.
        public var count: Int
        /// The reason.
        public var reason: Reason
    }

    /// The client that wrote the file.
    public var client: ForeignClient
    /// The tables, sorted by name.
    public var tables: [Table]
    /// The number of pending operations.
    public var operations: Int
    /// What is not in the store; empty if everything is.
    public var left: [Left]
    /// Queries that start from the beginning: the first pull reads their rows again.
    public var queries: [Query]
}

extension ForeignReport.Left.Reason: CustomStringConvertible {
    /// The reason in words.
    public var description: String {
        switch self {
        case .noID: "no id"
        case .repeatedID: "an earlier row has the same id"
        case .invalid(let reason): "it can't be stored: \(reason)"
        case .value(let column): "\(column) has a value of another type, which is left out"
        case .notSynced: "the other client did not sync this table"
        case .noRow: "a pending operation whose row is missing"
        case .unreadable(let reason): "a pending operation that can't be read: \(reason)"
        case .answer(let status):
            "the server's answer \(status) to a pending operation; the next push asks again"
        }
    }
}

extension [ForeignReport.Left] {
    /// How many ids of rows are named.
    private static var idLimit: Int { 10 }

    /// Adds one row, or counts it with others that have the same reason.
    mutating func add(_ table: String, _ id: String?, _ reason: ForeignReport.Left.Reason, count: Int = 1) {
        if let place = firstIndex(where: { $0.table == table && $0.reason == reason }) {
            self[place].count += count
            if let id, self[place].ids.count < Self.idLimit { self[place].ids.append(id) }
        } else {
            append(ForeignReport.Left(table: table, ids: id.map { [$0] } ?? [], count: count, reason: reason))
        }
    }
}
