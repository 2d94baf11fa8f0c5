// The rows that may differ from those in a file: the rows that the events after its stamp name.

import Syncline
import SynclineGround

struct ChangedRows {
    struct Address: Hashable {
        var table: ExactString
        var id: ExactString
    }

    /// Tables of which any row may have changed.
    private(set) var tables: Set<ExactString> = []
    private(set) var rows: Set<Address> = []
    /// Whether rows or values were removed for good: by a purge or a migration.
    private(set) var areForgotten = false
    /// The hash of the last event's record.
    private(set) var record = ""

    /// If there are more rows than this, all rows are written again.
    private static let limit = 200_000

    /// Reads the events after a stamp, up to an event. Nil if the stamp does not fit the log, or if the events can't be
    /// read.
    init?(after stamp: FileStamp, through last: UInt64, _ storage: any LogStorage) {
        let read = try? HistoryReading.run(storage, claiming: false) {
            try ChangedRows.read(after: stamp, through: last, storage)
        }
        guard let read else { return nil }
        self = read
    }

    private init() {}

    private static func read(
        after stamp: FileStamp, through last: UInt64, _ storage: any LogStorage
    ) throws -> ChangedRows? {
        var changed = ChangedRows()
        var undone: [UInt64] = []
        var reached: UInt64?
        let shapes = ShapeTable()
        let walk = EventWalk(storage)
        try walk.forEachRecord(from: stamp.event) { number, record throws(SyncError) in
            let hash = number == stamp.event || number == last ? FileStamp.hash(record) : ""
            if reached == nil {
                guard number == stamp.event, hash == stamp.record else { return false }
            } else {
                let event = try Event(record, shapes: shapes)
                switch event.body {
                case .undone(let other): undone.append(other)
                case .purged, .declared: changed.areForgotten = true
                default: break
                }
                changed.add(event.namedRows)
            }
            changed.record = hash
            reached = number
            return number < last && changed.rows.count <= limit
        }
        guard reached == last else { return nil }
        for other in undone {
            var isFound = false
            try walk.forEach(from: other) { number, event in
                isFound = number == other
                changed.add(event.namedRows)
                return false
            }
            guard isFound else { return nil }
        }
        return changed.rows.count <= limit ? changed : nil
    }

    private mutating func add(_ named: [NamedRow]) {
        for row in named {
            let table = ExactString(row.table)
            if let id = row.id {
                rows.insert(Address(table: table, id: ExactString(id)))
            } else {
                tables.insert(table)
            }
        }
    }

    /// The hash of an event's record; empty if there is no such event.
    static func record(_ event: UInt64, _ storage: any LogStorage) throws(SyncError) -> String {
        try HistoryReading.run(storage, claiming: false) { () throws(SyncError) in
            var hash = ""
            try EventWalk(storage).forEachRecord(from: event) { number, record throws(SyncError) in
                if number == event { hash = FileStamp.hash(record) }
                return false
            }
            return hash
        }
    }
}
