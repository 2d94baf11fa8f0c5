// One table on a page about the store: its rows, its pending changes, and its columns with their types.

import Syncline

extension StoreStatus.Table {
    /// The columns with their types, and what does not fit.
    var columnText: String {
        let shown = columns.map { column in
            column.type.map { "\(column.name): \($0.rawValue)" } ?? column.name
        }
        let misfits = columns.filter { $0.unfit > 0 }.map { "\($0.unfit) of \($0.name) do not fit" }
        return escaped(((isLocal ? ["never leaves the device"] : []) + shown + misfits).joined(separator: ", "))
    }

    private var types: [TypedColumn] {
        columns.compactMap { column in column.type.map { TypedColumn(column.name, $0) } }
    }

    var json: JSONValue {
        [
            "table": .string(name), "rows": .number(rows), "pending": .number(pending), "conflicts": .number(undecided),
            "cursors": .number(cursors), "columns": .array(columns.map { .string($0.name) }),
            "localColumns": .array(localColumns.map(JSONValue.string)), "types": JSONValue(types: types),
            "local": .boolean(isLocal),
            "unfit": .object(columns.filter { $0.unfit > 0 }.map { .init(key: $0.name, value: .number($0.unfit)) }),
        ]
    }
}
