// The bytes of the events that declare and drop indexes, and that declare the types of columns.
//
//   indexed := name of the table · on · count name* · count name*
//   typed   := name of the table · local · (name · name of the type)*

import SynclineGround

extension EventWriter {
    mutating func append(_ change: IndexChange) {
        append(name: change.table)
        append(flag: change.isOn)
        append(counted: change.columns)
        append(counted: change.including)
    }

    private mutating func append(counted names: [String]) {
        append(varint: names.count)
        for name in names { append(name: name) }
    }

    mutating func append(_ declaration: TypeDeclaration) {
        append(name: declaration.table)
        append(flag: declaration.isLocal)
        for column in declaration.columns {
            append(name: column.name)
            append(name: column.type.rawValue)
        }
    }
}

extension EventReader {
    mutating func indexChange() throws(MalformedBytes) -> IndexChange {
        let table = try name()
        let isOn = try flag()
        let columns = try names()
        guard !columns.isEmpty else { throw MalformedBytes() }
        return IndexChange(table: table, columns: columns, including: try names(), isOn: isOn)
    }

    private mutating func names() throws(MalformedBytes) -> [String] {
        var names: [String] = []
        for _ in 0..<(try count()) { names.append(try name()) }
        return names
    }

    mutating func typeDeclaration() throws(MalformedBytes) -> TypeDeclaration {
        var declaration = TypeDeclaration(table: try name(), columns: [], isLocal: try flag())
        while !isAtEnd { declaration.columns.append(TypedColumn(try name(), try columnType())) }
        return declaration
    }

    mutating func columnType() throws(MalformedBytes) -> ColumnType {
        guard let type = ColumnType(rawValue: try name()) else { throw MalformedBytes() }
        return type
    }
}

extension TableIndex {
    /// Whether it is what a declaration asks for.
    package func isCurrent(_ change: IndexChange) -> Bool {
        isSorted(by: change.columns) && including == change.including
    }
}
