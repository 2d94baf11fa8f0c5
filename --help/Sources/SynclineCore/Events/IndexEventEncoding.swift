// The bytes of the events that declare and drop indexes, in each form.
//
//   indexed            := name of the table · name of the column · on
//   indexed by columns := name of the table · on · count name* · count name*
//   indexed with marks := name of the table · count name*

import SynclineGround

extension EventWriter {
    mutating func append(_ change: IndexChange) {
        append(name: change.table)
        switch change.form {
        case .older:
            for column in change.columns { append(name: column) }
            append(flag: change.isOn)
        case .sorted:
            append(flag: change.isOn)
            append(counted: change.columns)
            append(counted: change.including)
        case .marked: append(counted: change.columns)
        }
    }

    private mutating func append(counted names: [String]) {
        append(varint: names.count)
        for name in names { append(name: name) }
    }
}

extension EventReader {
    mutating func indexChange() throws(MalformedBytes) -> IndexChange {
        let table = try name()
        let isOn = try flag()
        return IndexChange(table: table, columns: try columns(), including: try names(), isOn: isOn, form: .sorted)
    }

    mutating func markedIndex() throws(MalformedBytes) -> IndexChange {
        IndexChange(table: try name(), columns: try columns(), isOn: true, form: .marked)
    }

    private mutating func columns() throws(MalformedBytes) -> [String] {
        let columns = try names()
        guard !columns.isEmpty else { throw MalformedBytes() }
        return columns
    }

    private mutating func names() throws(MalformedBytes) -> [String] {
        var names: [String] = []
        for _ in 0..<(try count()) { names.append(try name()) }
        return names
    }
}

extension TableIndex {
    /// Whether it is what a declaration asks for.
    package func isCurrent(_ change: IndexChange) -> Bool {
        number != nil && isSorted(by: change.columns) && including == change.including
            && hasMarks == (change.form == .marked)
    }
}
