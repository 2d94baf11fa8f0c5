// The values of many rows, which a statement for PostgreSQL takes as one array for each column.

import SynclineCore
import SynclineTables

/// A value of one kind for each row.
enum SQLList: Hashable, Sendable {
    case texts([String])
    case integers([Int64])
    case flags([Bool])
    /// Milliseconds since 1970.
    case times([Int64])

    fileprivate var type: String {
        switch self {
        case .texts: "text"
        case .integers: "bigint"
        case .flags: "boolean"
        case .times: "timestamptz"
        }
    }

    /// Its values as strings of PostgreSQL.
    private var texts: [String] {
        switch self {
        case .texts(let all): all
        case .integers(let all): all.map { String($0) }
        case .flags(let all): all.map { $0 ? "t" : "f" }
        case .times(let all): all.map { Timestamp(.init(milliseconds: $0)).description }
        }
    }

    /// A subquery: by the length of a bound array, the database would plan each execution by itself.
    fileprivate var array: SQLText { "(SELECT \(.text(SQLDialect.list(texts)))::\(type)[])" }

    fileprivate var values: [SQLValue] {
        switch self {
        case .texts(let all): all.map { .text($0) }
        case .integers(let all): all.map { .integer($0) }
        case .flags(let all): all.map { .bool($0) }
        case .times(let all): all.map { .time($0) }
        }
    }
}

extension SQLDialect {
    /// Lists, of the same length, as a table `s` with the columns `c1` and so on, beside other bound values.
    func rows(_ lists: [SQLList]) -> SQLText {
        let names = lists.indices.map { "c\($0 + 1)" }
        if self == .postgres {
            return "unnest(\(lists.map(\.array), separator: ", ")) AS s(\(names.joined(separator: ", ")))"
        }
        let columns = lists.map(\.values)
        let rows = (columns.first?.indices ?? 0..<0).map { row -> SQLText in
            let values = zip(columns, names).map { "\($0[row]) AS \($1)" as SQLText }
            return "SELECT \(values, separator: ", ")"
        }
        return "(\(rows, separator: " UNION ALL ")) AS s"
    }
}

extension SQLStatement {
    /// A statement about rows of a table `s` with the columns `c1` and so on. SQLite takes one row.
    init(_ dialect: SQLDialect, lists: [SQLList], _ text: (_ source: String) -> String) {
        if dialect == .postgres {
            let rows = BoundRows(lists: lists)
            self.init(prepared: text(rows.source), rows: rows)
        } else {
            let values = lists.map { $0.values.first ?? .null }
            let columns = values.enumerated().map { "\(dialect.placeholder($0 + 1, for: $1)) AS c\($0 + 1)" }
            self.init(prepared: text("(SELECT \(columns.joined(separator: ", "))) AS s"), values: values)
        }
    }
}

/// Lists, and after them the columns of rows, still encoded.
struct BoundRows: Hashable, Sendable {
    var lists: [SQLList]
    var rows: [Row] = []
    var columns: [Column] = []

    /// The values as rows of a table `s`, with the columns `c1` and so on.
    var source: String {
        let types = lists.map(\.type) + columns.map(\.type.arrayType)
        let arrays = types.enumerated().map { "$\($0 + 1)::\($1)[]" }
        let names = types.indices.map { "c\($0 + 1)" }
        return "unnest(\(arrays.joined(separator: ", "))) AS s(\(names.joined(separator: ", ")))"
    }

    /// The values of a row in that table, in the types of the columns.
    var selection: [String] {
        lists.indices.map { "s.c\($0 + 1)" }
            + columns.enumerated().map { place, column in
                "s.c\(lists.count + place + 1)\(column.type.isNumeric ? "::numeric" : "")"
            }
    }
}

extension ColumnType {
    /// The type of an array of values of a column that the server made. A number is sent as text.
    fileprivate var arrayType: String {
        switch form {
        case .string, .uuid, .number, .decimal: "text"
        case .boolean: "boolean"
        case .date: "timestamptz"
        case .json: "json"
        }
    }

    fileprivate var isNumeric: Bool { form == .number || form == .decimal }
}
