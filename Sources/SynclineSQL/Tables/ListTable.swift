// A table whose rows are made once for a statement: the system tables, except for the events.

import CSQLite
import SynclineCore

final class ListTable: VirtualTable {
    private let make: () throws(SyncError) -> [[Value]]
    /// Nil until a scan needs them.
    private var made: [[Value]]?

    init(columns: [String], rows: @escaping () throws(SyncError) -> [[Value]]) {
        make = rows
        super.init(columns: columns)
    }

    override func rows(_ plan: ScanPlan, _ values: [OpaquePointer]) throws(SyncError) -> ScanRows {
        let rows = if let made { made } else { try make() }
        made = rows
        return ListRows(rows)
    }
}

private final class ListRows: ScanRows {
    private let rows: [[Value]]

    init(_ rows: [[Value]]) {
        self.rows = rows
    }

    override var isAtEnd: Bool { number >= rows.count }

    override func advance() throws(SyncError) { number += 1 }

    override func write(_ column: Int, to sink: ResultSink) { sink.write(rows[Int(number)][column]) }
}
