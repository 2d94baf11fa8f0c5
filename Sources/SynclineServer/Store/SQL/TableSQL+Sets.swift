// The statements of PostgreSQL that find, insert and update many rows of a table that the server made.

import SynclineCore
import SynclineTables
import SynclineWire

/// A row as it is to be stored, and the number of its change.
struct WrittenRow {
    var row: TableRow
    var change: Int64
}

/// A row that a table no longer has.
struct RemovedRow {
    var id: String
    /// The one to whom it belonged, if rows belong to users.
    var owner: String
    var stamp: Stamp

    init(_ row: TableRow, _ table: TableDefinition, _ stamp: Stamp) {
        (id, owner, self.stamp) = (row.id, table.owner(of: row.columns) ?? "", stamp)
    }
}

extension TableSQL {
    /// Selects the ids of the rows that exist, and the sizes of their larger values.
    /// - Parameter locks: Whether they are locked, in the order of their ids.
    func find(_ ids: [String], locks: Bool) -> SQLStatement {
        let sizes = schema.columns.filter { ![.boolean, .date].contains($0.type.form) }.map { column in
            " + coalesce(octet_length(\(SQLDialect.quoted(schema.source(of: column.name)))::text), 0)"
        }
        return SQLStatement(
            prepared: "SELECT \(name(.id)), 0\(sizes.joined()) FROM \(table) WHERE \(name(.id)) = ANY ($1::text[])"
                + (locks && mayLock ? " ORDER BY \(name(.id)) FOR NO KEY UPDATE" : ""),
            rows: BoundRows(lists: [.texts(ids)]))
    }

    func set(of ids: [String]) -> SQLStatement {
        SQLStatement(
            prepared: "SELECT \(selection) FROM \(table) WHERE \(name(.id)) = ANY ($1::text[])",
            rows: BoundRows(lists: [.texts(ids)]))
    }

    /// Inserts rows, except for those whose ids exist by now.
    func insert(_ rows: [WrittenRow]) -> SQLStatement {
        let bound = bound(rows, inserted)
        let names = inserted.map(name) + columnNames
        return SQLStatement(
            prepared: "INSERT INTO \(table) (\(names.joined(separator: ", "))) "
                + "SELECT \(bound.selection.joined(separator: ", ")) FROM \(bound.source) "
                + "ON CONFLICT (\(name(.id))) DO NOTHING",
            rows: bound)
    }

    /// Updates rows, each with an id of its own.
    func update(_ rows: [WrittenRow]) -> SQLStatement {
        let bound = bound(rows, [.id] + updated)
        let settings = zip(updated.map(name) + columnNames, bound.selection.dropFirst()).map { "\($0) = \($1)" }
        return SQLStatement(
            prepared: "UPDATE \(table) SET \(settings.joined(separator: ", ")) FROM \(bound.source) "
                + "WHERE \(table).\(name(.id)) = s.c1",
            rows: bound)
    }

    /// Removes rows, each with an id of its own.
    func remove(_ rows: [RemovedRow]) -> SQLStatement {
        SQLStatement(
            prepared: "DELETE FROM \(table) WHERE \(name(.id)) = ANY ($1::text[])",
            rows: BoundRows(lists: [.texts(rows.map(\.id))]))
    }

    private var columnNames: [String] { schema.columns.map { SQLDialect.quoted(schema.source(of: $0.name)) } }

    private func bound(_ rows: [WrittenRow], _ system: [SystemColumn]) -> BoundRows {
        let lists = system.map { column -> SQLList in
            switch column {
            case .id: .texts(rows.map(\.row.id))
            case .createdAt: .times(rows.map(\.row.createdAt.milliseconds))
            case .updatedAt: .times(rows.map(\.row.updatedAt.milliseconds))
            case .version: .integers(rows.map(\.change))
            case .deleted: .flags(rows.map(\.row.isDeleted))
            }
        }
        return BoundRows(lists: lists, rows: rows.map(\.row.columns), columns: schema.columns)
    }
}
