// The steps of a migration as the log holds them: all that a fold needs, and nothing that would have to be asked of the
// app again. What a transform makes of each value is worked out before the event is written.

/// A step of a migration, decided.
package enum SchemaStep: Hashable, Sendable {
    case renameColumn(table: String, from: String, to: String)
    case dropColumn(table: String, column: String)
    /// Values of a column became others, in every row and in every change that waits.
    case changeValues(table: String, column: String, [ValueChange])
    case dropTable(String)

    package var table: String {
        switch self {
        case .renameColumn(let table, _, _), .dropColumn(let table, _), .changeValues(let table, _, _),
            .dropTable(let table):
            table
        }
    }
}

/// What became of a value.
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
    /// The step as it is recorded, if that needs no look at the rows. What a column that was added holds is part of the
    /// declaration.
    package var plain: SchemaStep? {
        switch self {
        case .renameColumn(let table, let from, let to): .renameColumn(table: table, from: from, to: to)
        case .dropColumn(let table, let column): .dropColumn(table: table, column: column)
        case .dropTable(let table, _): .dropTable(table)
        case .addColumn, .transform: nil
        }
    }
}

extension [Migration.Step] {
    /// The steps as they are recorded, with what transforms make of the values that the store has now.
    package func decided(_ reader: StateReader) throws(SyncError) -> [SchemaStep] {
        var decided: [SchemaStep] = []
        for step in self {
            if let plain = step.plain { decided.append(plain) }
            guard case .transform(let table, let column, let transform) = step else { continue }
            var changes: [ValueChange] = []
            for old in try decided.values(of: table, column, reader) {
                let new = transform(old)
                // Refuses what no row can hold.
                _ = try Item([Value.Member(column, new)])
                if new != old { changes.append(ValueChange(old, new)) }
            }
            if !changes.isEmpty { decided.append(.changeValues(table: table, column: column, changes)) }
        }
        return decided
    }
}

extension [SchemaStep] {
    /// The values that a column has after these steps, in an order that depends on them alone. There may be more among
    /// them than it really has.
    fileprivate func values(
        of table: String, _ column: String, _ reader: StateReader
    ) throws(SyncError) -> [Value] {
        var names: Set<String> = [column]
        var changes: [[Value: Value]] = []
        for step in reversed() where step.table.isSpelled(as: table) {
            switch step {
            case .renameColumn(_, let from, let to):
                names.remove(from)
                // Rows that had the new name before keep it.
                if names.contains(to) { names.insert(from) }
            case .dropColumn(_, let column): names.remove(column)
            case .changeValues(_, let column, let made): if names.contains(column) { changes.append(made.byOldValue) }
            case .dropTable: return []
            }
        }
        var values: Set<Value>
        do throws(StateError) { values = try reader.values(of: table, names) } catch { throw SyncError(error) }
        for change in changes.reversed() { values.formUnion(values.compactMap { change[$0] }) }
        return values.map { ($0, $0.encoded) }.sorted { $0.1.lexicographicallyPrecedes($1.1) }.map(\.0)
    }
}

extension Value {
    fileprivate var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.append(value: self)
        return writer.bytes
    }
}

extension StateReader {
    /// Every value that some columns of a table have: in what the server told, in what waits to be sent or decided, and in
    /// what stays on the device.
    fileprivate func values(of table: String, _ columns: Set<String>) throws(StateError) -> Set<Value> {
        var values: Set<Value> = []
        func take(_ rows: Row?...) {
            for row in rows.compactMap(\.self) {
                for name in columns { if let value = row[name] { values.insert(value) } }
            }
        }
        try forEachEntry(of: table) { _, entry throws(StateError) in
            let frozen = entry.pending?.frozen
            take(entry.base, entry.local, entry.pending?.overlay, frozen?.columns, frozen?.ancestor, frozen?.server)
        }
        var writer = ByteWriter()
        writer.append(tablePrefix: table)
        let prefix = writer.bytes
        try forEachChange { _, change throws(StateError) in
            if change.rowKey.starts(with: prefix) { take(change.content, change.localBefore) }
            return true
        }
        return values
    }
}
