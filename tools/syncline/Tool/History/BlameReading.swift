// The log as far as it concerns one row: the row as addressed, or else the row before its last dot, because ids
// may have dots.

import Syncline

struct BlameReading {
    /// The row as addressed.
    private(set) var whole: Blame
    /// The row before the last dot, and the field after it.
    private(set) var part: (blame: Blame, id: String, field: String)?

    /// Reads the events that are kept, up to one.
    init(_ address: RowAddress, _ reading: EventReading, through last: UInt64) throws {
        let claim = HistoryReading.claim(reading.storage)
        defer { claim?.release() }
        let loader = StateLoader(reading.storage)
        let start = try loader.earliest()
        let first = start.through + 1
        var whole = try Blame(table: address.table, id: address.id, from: start)
        var part: (blame: Blame, id: String, field: String)?
        if let dot = address.id.lastIndex(of: ".") {
            let id = String(address.id[..<dot])
            let blame = try Blame(table: address.table, id: id, from: try loader.earliest())
            part = (blame, id, String(address.id[address.id.index(after: dot)...]))
        }
        try reading.context.whileReading("reading") {
            try reading.forEachRecord(from: first) { number, record in
                if number > last { return false }
                try whole.fold(record, number: number)
                try part?.blame.fold(record, number: number)
                return true
            }
        }
        try whole.declaration.check(address.table)
        self.whole = whole
        self.part = part
    }
}
