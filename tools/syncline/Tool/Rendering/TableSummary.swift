// One table on a page about the store: its rows, its pending changes, and its columns with their types.

import Syncline
import SynclineCore
import SynclineGround

struct TableSummary {
    let name: String
    let rows: Int
    let pending: Int
    /// The operations that wait for a decision.
    let waiting: Int
    let cursors: Int
    /// The columns of its rows and the declared ones, by name.
    let columns: [String]
    let types: [TypedColumn]
    let isLocal: Bool
    /// How many values do not fit the type of their column.
    let unfit: [(column: String, values: Int)]
    let localColumns: [String]

    /// All tables that have rows, or are declared.
    static func all(_ reader: StateReader, _ outbox: [ExactString: PushCounts]) throws -> [TableSummary] {
        let declaration = try reader.declaration
        let cursors = Dictionary(grouping: try reader.cursors()) { ExactString($0.table) }
        let names = (try reader.tables() + (declaration?.tables.map(\.name) ?? []) + reader.types.names).exact
        return try names.sorted().map(\.text).map { name in
            let own = outbox[ExactString(name)] ?? PushCounts()
            let types = try reader.types(of: name)
            return TableSummary(
                name: name, rows: try reader.count(RowQuery(table: name)), pending: own.all,
                waiting: own.undecided,
                cursors: cursors[ExactString(name)]?.count ?? 0,
                columns: (try reader.columns(of: name) + types.columns.map(\.name)).exact.sorted().map(\.text),
                types: types.columns, isLocal: types.isLocal,
                unfit: try reader.unfitValues(of: name).sorted { $0.key < $1.key }.map { ($0.key.text, $0.value) },
                localColumns: (declaration?.localColumns(of: name) ?? []).sorted().map(\.text))
        }
    }

    /// The columns with their types, and what does not fit.
    var columnText: String {
        let shown = columns.map { column in
            types.first { $0.name.hasSameBytes(as: column) }.map { "\($0.name): \($0.type.rawValue)" } ?? column
        }
        let misfits = unfit.map { "\($0.values) of \($0.column) do not fit" }
        return escaped(((isLocal ? ["never leaves the device"] : []) + shown + misfits).joined(separator: ", "))
    }

    var json: JSONValue {
        [
            "table": .string(name), "rows": .number(rows), "pending": .number(pending), "conflicts": .number(waiting),
            "cursors": .number(cursors), "columns": .array(columns.map(JSONValue.string)),
            "localColumns": .array(localColumns.map(JSONValue.string)), "types": JSONValue(types: types),
            "local": .boolean(isLocal),
            "unfit": .object(unfit.map { .init(key: $0.column, value: .number($0.values)) }),
        ]
    }
}
