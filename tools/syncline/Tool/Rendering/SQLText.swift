// Rows as SQL statements, and the three system tables that the retired client kept with the data: the operations to
// push, their errors, and the cursors of queries.

import Syncline
import SynclineGround
import SynclineSQL

enum SQLText {
    static func literal(_ value: Value) -> String {
        switch value {
        case .null: return "NULL"
        case .bool(let flag): return flag ? "1" : "0"
        case .number(let number) where number.isExact || !number.rounded.isFinite:
            // SQLite would round it.
            return number.spelling.quoted(by: "'")
        case .integer, .double, .number: return JSONValue(value).text
        default:
            let text = value.plainText
            // What would end a statement early, or command a terminal, is written in digits.
            if text.unicodeScalars.contains(where: \.isUnsafeToShow) {
                return "CAST(x'\(Hexadecimal.text(of: text.utf8))' AS TEXT)"
            }
            return text.quoted(by: "'")
        }
    }

    /// Creates a table.
    static func create(_ table: String, _ columns: [String]) -> String {
        let declared =
            [SQLName.quoted("id") + " TEXT PRIMARY KEY NOT NULL"]
            + SQLName.unambiguous(columns, besides: ["id"]).map(SQLName.quoted)
        return "CREATE TABLE IF NOT EXISTS \(SQLName.quoted(table)) (\(declared.joined(separator: ", ")));"
    }

    static func insert(_ row: StoredRow, into table: String, _ columns: [String]) -> String {
        insert(table, [.string(row.id)] + columns.map { row.columns[$0] ?? .null })
    }

    /// What each table is called in SQL: another name than a system table has, or SQLite has, or another table that differs
    /// only in case.
    static func tableNames(_ tables: [String]) -> [String] {
        SQLName.tables(tables, besides: SystemTables.names)
    }

    static func insert(_ table: String, _ values: [Value]) -> String {
        "INSERT INTO \(SQLName.quoted(table)) VALUES (\(values.map(literal).joined(separator: ", ")));"
    }
}

/// The outbox, the conflicts and the cursors under the names and columns that the retired client's tutorial gives them.
enum SystemTables {
    static let names = ["MS_TableOperations", "MS_TableOperationErrors", "MS_TableConfig"]

    static func sql(_ reader: StateReader) throws -> [String] {
        var lines = [
            create("MS_TableOperations", ["id INTEGER PRIMARY KEY", "itemId", "\"table\"", "tableKind", "properties"]),
            create("MS_TableOperationErrors", ["id TEXT PRIMARY KEY", "operationId", "tableKind", "properties"]),
            create("MS_TableConfig", ["id TEXT PRIMARY KEY", "key", "keyType", "\"table\"", "value"]),
        ]
        for (index, operation) in try PushPlan(reader).operations.enumerated() {
            let number = Value.integer(Int64(index + 1))
            lines.append(
                SQLText.insert(
                    "MS_TableOperations",
                    [
                        number, .string(operation.id), .string(operation.table), .integer(0),
                        .string(try properties(of: operation, reader).text),
                    ]))
            guard let frozen = try reader.entry(key: operation.rowKey)?.pending?.frozen,
                let conflict = Conflict(
                    table: operation.table, id: operation.id, frozen, try reader.types(of: operation.table)),
                operation.isFrozen
            else { continue }
            lines.append(
                SQLText.insert(
                    "MS_TableOperationErrors",
                    [
                        .string("\(operation.table)/\(operation.id)"), number, .integer(0),
                        .string(properties(of: conflict).text),
                    ]))
        }
        for cursor in try reader.cursors() {
            lines.append(
                SQLText.insert(
                    "MS_TableConfig",
                    [
                        .string("\(cursor.table)/\(cursor.queryID)"), .string(cursor.queryID), .integer(0),
                        .string(cursor.table), .string(cursor.state.position),
                    ]))
        }
        return lines
    }

    /// The kind of the operation: 0 an insert, 1 an update, 2 a delete, with the row that it removes.
    private static func properties(of operation: PlannedOperation, _ reader: StateReader) throws -> JSONValue {
        let type: JSONValue = ["type": .number(operation.kind.rawValue)]
        guard operation.kind == .delete, let base = try reader.entry(key: operation.rowKey)?.base else { return type }
        return type.adding(["item": JSONValue(StoredRow(id: operation.id, columns: base))])
    }

    private static func properties(of conflict: Conflict) -> JSONValue {
        func shown(_ row: Row?) -> JSONValue? { row.map { JSONValue(StoredRow(id: conflict.id, columns: $0)) } }
        return [
            "code": .string(conflict.reason.rawValue),
            "description": .string(conflict.message ?? conflict.reason.rawValue),
            "table": .string(conflict.table), "operation": .number(conflict.kind.rawValue),
            "itemId": .string(conflict.id), "statusCode": conflict.status.map { .number($0) } ?? .null,
            "item": shown(conflict.mine), "serverItem": shown(conflict.server),
        ]
    }

    private static func create(_ table: String, _ columns: [String]) -> String {
        "CREATE TABLE IF NOT EXISTS \(table) (\(columns.joined(separator: ", ")));"
    }
}
