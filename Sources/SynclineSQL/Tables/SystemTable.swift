// The tables about the store itself: its tables and their columns, pending operations, conflicts, cursors and events.

import SynclineCore

/// A table about the store.
enum SystemTable: String, CaseIterable {
    case tables = "syncline_tables"
    case columns = "syncline_columns"
    case outbox = "syncline_outbox"
    case conflicts = "syncline_conflicts"
    case cursors = "syncline_cursors"
    case events = "syncline_events"

    func table(_ catalog: TableCatalog) -> VirtualTable {
        let reader = catalog.source.reader
        return switch self {
        case .tables:
            // The catalog retains this table, so the table must not retain the catalog.
            ListTable(columns: ["name", "in_store", "columns", "rows"]) {
                [tables = catalog.storeTables, source = catalog.source] () throws(SyncError) in
                try SystemTable.rows(of: tables, source)
            }
        case .columns:
            ListTable(columns: ["table", "column", "in_store", "type"]) {
                [tables = catalog.storeTables, source = catalog.source] () throws(SyncError) in
                try SystemTable.columns(of: tables, source)
            }
        case .outbox:
            ListTable(columns: ["table", "id", "operation", "state", "maybe_sent", "first_event", "last_event"]) {
                () throws(SyncError) in
                try PushPlan(reader).operations.map(SystemTable.row)
            }
        case .conflicts:
            ListTable(
                columns: [
                    "table", "id", "operation", "state", "status", "code", "message", "base", "mine", "current",
                    "server",
                ]) { () throws(SyncError) in try reader.conflicts().map(SystemTable.row) }
        case .cursors:
            ListTable(columns: ["table", "query_id", "position", "query", "updated"]) { () throws(SyncError) in
                try reader.cursors().map { cursor in
                    [
                        .string(cursor.table), .string(cursor.queryID), .string(cursor.state.position),
                        .string(cursor.state.query), .date(Timestamp(.init(milliseconds: cursor.state.updated))),
                    ]
                }
            }
        case .events: EventTable(catalog.source)
        }
    }

    private static func rows(
        of tables: [(name: String, stored: String)], _ source: SQLSource
    ) throws(SyncError) -> [[Value]] {
        try tables.map { name, stored throws(SyncError) in
            let facts = try source.facts(of: stored)
            return [
                .string(name), .string(stored), .array(facts.outline.columns.map(Value.string)),
                .integer(Int64(facts.outline.count)),
            ]
        }
    }

    private static func columns(
        of tables: [(name: String, stored: String)], _ source: SQLSource
    ) throws(SyncError) -> [[Value]] {
        var rows: [[Value]] = []
        for (name, stored) in tables {
            let facts = try source.facts(of: stored)
            let types = [ColumnType.string] + facts.types
            for ((column, inStore), type) in zip(zip(facts.columns, ["id"] + facts.stored), types) {
                rows.append([.string(name), .string(column), .string(inStore), .string(type.rawValue)])
            }
        }
        return rows
    }

    private static func row(_ operation: PlannedOperation) -> [Value] {
        [
            .string(operation.table), .string(operation.id), .string("\(operation.kind)"),
            .string(operation.state.rawValue), .bool(operation.maybeSent),
            .integer(Int64(operation.events.lowerBound.rawValue)),
            .integer(Int64(operation.events.upperBound.rawValue)),
        ]
    }

    private static func row(_ conflict: Conflict) -> [Value] {
        [
            .string(conflict.table), .string(conflict.id), .string("\(conflict.kind)"),
            .string(conflict.state.rawValue), conflict.status.map { .integer(Int64($0)) } ?? .null,
            .string(conflict.reason.rawValue), conflict.message.map { .string($0) } ?? .null, object(conflict.base),
            object(conflict.mine), object(conflict.current), object(conflict.server),
        ]
    }

    static func object(_ row: Row?) -> Value { row.map { .object($0.members) } ?? .null }
}
