// The steps of a migration as the log records them, with all that folding needs. The results of a transform are
// computed before the event is written.

import SynclineGround

/// A recorded step of a migration.
package enum SchemaStep: Hashable, Sendable {
    case renameColumn(table: String, from: String, to: String)
    case dropColumn(table: String, column: String)
    /// Values of a column changed, in every row and every pending change.
    case changeValues(table: String, column: String, [ValueChange])
    /// A column got another type, after its values were changed.
    case setType(table: String, column: String, ColumnType)
    case dropTable(String)

    package var table: String {
        switch self {
        case .renameColumn(let table, _, _), .dropColumn(let table, _), .changeValues(let table, _, _),
            .setType(let table, _, _), .dropTable(let table):
            table
        }
    }
}

/// The old and the new value.
package struct ValueChange: Hashable, Sendable {
    package var old: Value
    package var new: Value

    package init(_ old: Value, _ new: Value) {
        self.old = old
        self.new = new
    }
}

extension [ValueChange] {
    var byOldValue: [Value: Value] { Dictionary(map { ($0.old, $0.new) }) { first, _ in first } }
}

extension Migration.Step {
    /// The recorded form of a step that does not depend on the rows. The default of an added column is part of the
    /// declaration.
    package var plain: SchemaStep? {
        switch self {
        case .renameColumn(let table, let from, let to): .renameColumn(table: table, from: from, to: to)
        case .dropColumn(let table, let column): .dropColumn(table: table, column: column)
        case .dropTable(let table, _): .dropTable(table)
        case .setType(let table, let column, let type, _): .setType(table: table, column: column, type)
        case .addColumn, .transform: nil
        }
    }
}

extension [Migration.Step] {
    /// Returns the recorded steps, with the results of transforms for the store's current values.
    package func decided(_ reader: StateReader) throws(SyncError) -> [SchemaStep] {
        var decided: [SchemaStep] = []
        for step in self {
            switch step {
            case .transform(let table, let column, let transform), .setType(let table, let column, _, let transform?):
                var changes: [ValueChange] = []
                for old in try decided.values(of: table, column, reader) {
                    // Throws if a row can't hold the value.
                    let new = try Item([Value.Member(column, transform(old))]).columns[column] ?? .null
                    if new != old { changes.append(ValueChange(old, new)) }
                }
                if !changes.isEmpty { decided.append(.changeValues(table: table, column: column, changes)) }
            default: break
            }
            if let plain = step.plain { decided.append(plain) }
        }
        return decided
    }
}

extension [SchemaStep] {
    /// Returns the values that a column has after these steps, in a deterministic order. May include values that it
    /// does not have.
    fileprivate func values(
        of table: String, _ column: String, _ reader: StateReader
    ) throws(SyncError) -> [Value] {
        var names: Set<ExactString> = [ExactString(column)]
        var changes: [[Value: Value]] = []
        for step in reversed() where step.table.isSpelled(as: table) {
            switch step {
            case .renameColumn(_, let from, let to):
                names.remove(ExactString(from))
                // Rows that had the new name before keep it.
                if names.contains(to) { names.insert(ExactString(from)) }
            case .dropColumn(_, let column): names.remove(ExactString(column))
            case .changeValues(_, let column, let made): if names.contains(column) { changes.append(made.byOldValue) }
            case .setType: break
            case .dropTable: return []
            }
        }
        var values = try reader.values(of: table, names)
        for change in changes.reversed() { values.formUnion(values.compactMap { change[$0] }) }
        return values.map { ($0, $0.encoded) }.sorted { $0.1.lexicographicallyPrecedes($1.1) }.map(\.0)
    }
}

extension StateReader {
    /// Returns every value of some columns of a table: in the server's rows, in pending changes and conflicts, and
    /// in local columns.
    fileprivate func values(of table: String, _ columns: Set<ExactString>) throws(SyncError) -> Set<Value> {
        var values: Set<Value> = []
        func take(_ rows: Row?...) {
            for row in rows.compactMap(\.self) {
                for name in columns { if let value = row[name.text] { values.insert(value) } }
            }
        }
        try forEachEntry(of: table) { _, entry throws(SyncError) in
            let frozen = entry.pending?.frozen
            take(entry.base, entry.local, entry.pending?.overlay, frozen?.columns, frozen?.ancestor, frozen?.server)
            take(frozen?.rival?.columns, frozen?.rival?.base)
        }
        let prefix = RowKey.prefix(table)
        try forEachChange { _, change throws(SyncError) in
            if change.rowKey.starts(with: prefix) { take(change.content, change.localBefore) }
            return true
        }
        return values
    }
}
