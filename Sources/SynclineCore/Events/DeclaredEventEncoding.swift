// The bytes of the event that records a schema.
//
//   declared := version · strict · count (name of the table · count name* · count column*)* · step*
//   column   := name · name on the server · 00 | 01 default (value)
//   step     := 1 name of the table · name · new name | 2 name of the table · name
//             | 3 name of the table · name · count (value · value)* | 4 name of the table
//             | 5 name of the table · name · name of the type

import SynclineGround

extension EventWriter {
    mutating func append(_ declaration: Declaration, _ steps: [SchemaStep]) {
        append(varint: Int(declaration.version))
        append(flag: declaration.isStrict)
        append(varint: declaration.tables.count)
        for table in declaration.tables {
            append(name: table.name)
            append(varint: table.localColumns.count)
            for column in table.localColumns { append(name: column) }
            append(varint: table.columns.count)
            for column in table.columns {
                append(name: column.name)
                append(name: column.serverName)
                append(flag: column.defaultValue != nil)
                if let value = column.defaultValue { append(value: value) }
            }
        }
        for step in steps { append(step) }
    }

    private mutating func append(_ step: SchemaStep) {
        switch step {
        case .renameColumn(let table, let from, let to):
            append(varint: 1)
            append(name: table)
            append(name: from)
            append(name: to)
        case .dropColumn(let table, let column):
            append(varint: 2)
            append(name: table)
            append(name: column)
        case .changeValues(let table, let column, let changes):
            append(varint: 3)
            append(name: table)
            append(name: column)
            append(varint: changes.count)
            for change in changes {
                append(value: change.old)
                append(value: change.new)
            }
        case .setType(let table, let column, let type):
            append(varint: 5)
            append(name: table)
            append(name: column)
            append(name: type.rawValue)
        case .dropTable(let table):
            append(varint: 4)
            append(name: table)
        }
    }
}

extension EventReader {
    mutating func declaration() throws(MalformedBytes) -> (Declaration, [SchemaStep]) {
        let version = try varint()
        guard version <= UInt64(UInt32.max) else { throw MalformedBytes() }
        let isStrict = try flag()
        var tables: [TableSchema] = []
        for _ in 0..<(try count()) { tables.append(try table()) }
        var steps: [SchemaStep] = []
        while !isAtEnd { steps.append(try step()) }
        return (Declaration(version: UInt32(version), isStrict: isStrict, tables: tables), steps)
    }

    private mutating func table() throws(MalformedBytes) -> TableSchema {
        var table = TableSchema(try name())
        for _ in 0..<(try count()) { table.localColumns.append(try name()) }
        for _ in 0..<(try count()) {
            var column = ColumnSchema(try name())
            column.serverName = try name()
            if try flag() { column.defaultValue = try value() }
            table.columns.append(column)
        }
        return table
    }

    private mutating func step() throws(MalformedBytes) -> SchemaStep {
        let kind = try varint()
        let table = try name()
        switch kind {
        case 1:
            let from = try name()
            return .renameColumn(table: table, from: from, to: try name())
        case 2: return .dropColumn(table: table, column: try name())
        case 3:
            let column = try name()
            var changes: [ValueChange] = []
            for _ in 0..<(try count()) {
                let old = try value()
                changes.append(ValueChange(old, try value()))
            }
            return .changeValues(table: table, column: column, changes)
        case 4: return .dropTable(table)
        case 5:
            let column = try name()
            return .setType(table: table, column: column, try columnType())
        default: throw MalformedBytes()
        }
    }
}
