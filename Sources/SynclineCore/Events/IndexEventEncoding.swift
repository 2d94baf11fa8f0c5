// The bytes of the events that declare and drop indexes, in either form.
//
//   indexed            := name of the table · name of the column · on
//   indexed by columns := name of the table · on · count name* · count name*

import SynclineGround

extension EventWriter {
    mutating func append(_ change: IndexChange) {
        append(name: change.table)
        if change.isOlderForm {
            for column in change.columns { append(name: column) }
            return append(flag: change.isOn)
        }
        append(flag: change.isOn)
        for names in [change.columns, change.including] {
            append(varint: names.count)
            for name in names { append(name: name) }
        }
    }
}

extension EventReader {
    mutating func indexChange() throws(MalformedBytes) -> IndexChange {
        var change = IndexChange(table: try name(), columns: [], isOn: try flag())
        for _ in 0..<(try count()) { change.columns.append(try name()) }
        for _ in 0..<(try count()) { change.including.append(try name()) }
        guard !change.columns.isEmpty else { throw MalformedBytes() }
        return change
    }
}

extension TableIndex {
    /// Whether it is what a declaration asks for.
    package func isCurrent(_ change: IndexChange) -> Bool {
        number != nil && isSorted(by: change.columns) && including == change.including
    }
}
