// The values of many rows, which a statement for PostgreSQL takes as one array for each column.

import SynclineCore
import SynclineTables
import SynclineWire

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

    /// The value of a single row.
    fileprivate var first: SQLValue {
        switch self {
        case .texts(let all): .text(all.first ?? "")
        case .integers(let all): .integer(all.first ?? 0)
        case .flags(let all): .bool(all.first ?? false)
        case .times(let all): .time(all.first ?? 0)
        }
    }
}

extension SQLStatement {
    /// A statement about rows of a table `s` with the columns `c1` and so on. SQLite takes one row.
    init(_ dialect: SQLDialect, lists: [SQLList], _ text: (_ source: String) -> String) {
        if dialect == .postgres {
            let rows = BoundRows(lists: lists)
            self.init(dialect, prepared: text(rows.source), rows: rows)
        } else {
            let values = lists.map(\.first)
            let columns = values.enumerated().map { "\(dialect.placeholder($0 + 1, for: $1)) AS c\($0 + 1)" }
            self.init(dialect, prepared: text("(SELECT \(columns.joined(separator: ", "))) AS s"), values: values)
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
