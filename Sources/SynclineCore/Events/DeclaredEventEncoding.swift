// The bytes of the event that records a schema.
//
//   declared := version · strict · count (name of the table · count name*)* · step*
//   step     := 1 name of the table · name · new name | 2 name of the table · name

extension EventWriter {
    mutating func append(_ declaration: Declaration, _ steps: [Migration.Step]) {
        append(varint: Int(declaration.version))
        append(flag: declaration.isStrict)
        append(varint: declaration.tables.count)
        for table in declaration.tables {
            append(name: table.name)
            append(varint: table.localColumns.count)
            for column in table.localColumns { append(name: column) }
        }
        for step in steps {
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
            }
        }
    }
}

extension EventReader {
    mutating func declaration() throws(MalformedBytes) -> (Declaration, [Migration.Step]) {
        let version = try varint()
        guard version <= UInt64(UInt32.max) else { throw MalformedBytes() }
        let isStrict = try flag()
        var tables: [TableSchema] = []
        for _ in 0..<(try count()) {
            let name = try name()
            var columns: [String] = []
            for _ in 0..<(try count()) { columns.append(try self.name()) }
            tables.append(TableSchema(name, localColumns: columns))
        }
        var steps: [Migration.Step] = []
        while !isAtEnd {
            switch try varint() {
            case 1:
                let table = try name()
                let from = try name()
                steps.append(.renameColumn(table: table, from: from, to: try name()))
            case 2:
                let table = try name()
                steps.append(.dropColumn(table: table, column: try name()))
            default: throw MalformedBytes()
            }
        }
        return (Declaration(version: UInt32(version), isStrict: isStrict, tables: tables), steps)
    }
}
