// A table whose rows are made once for a statement: the system tables, except for the events.

import CSQLite
import Syncline
import SynclineCore

final class ListTable: VirtualTable {
    private let make: () throws(SyncError) -> [[Value]]
    /// Nil until a scan needs them.
    private var made: [[Value]]?

    init(columns: [String], rows: @escaping () throws(SyncError) -> [[Value]]) {
        make = rows
        super.init(columns: columns)
    }

    override func scan() throws(SyncError) -> TableScan { ListScan(self) }

    fileprivate func rows() throws(SyncError) -> [[Value]] {
        if let made { return made }
        let rows = try make()
        made = rows
        return rows
    }
}

final class ListScan: TableScan {
    private let table: ListTable
    private var rows: [[Value]] = []

    init(_ table: ListTable) {
        self.table = table
    }

    override var isAtEnd: Bool { number >= rows.count }

    override func begin(_ plan: ScanPlan, _ values: [OpaquePointer]) throws(SyncError) {
        number = 0
        rows = try table.rows()
    }

    override func advance() throws(SyncError) { number += 1 }

    override func write(_ column: Int, to sink: ResultSink) { sink.write(rows[Int(number)][column]) }
}
