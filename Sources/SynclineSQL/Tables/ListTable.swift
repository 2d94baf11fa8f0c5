// A table whose rows are made when a scan begins: the system tables, except for the events.

import CSQLite
import Syncline
import SynclineCore

final class ListTable: VirtualTable {
    private let rows: () throws(StateError) -> [[Value]]

    init(columns: [String], rows: @escaping () throws(StateError) -> [[Value]]) {
        self.rows = rows
        super.init(columns: columns)
    }

    override func scan() throws(SyncError) -> TableScan { ListScan(rows) }
}

final class ListScan: TableScan {
    private let make: () throws(StateError) -> [[Value]]
    private var rows: [[Value]] = []

    init(_ make: @escaping () throws(StateError) -> [[Value]]) {
        self.make = make
    }

    override var isAtEnd: Bool { number >= rows.count }

    override func begin(_ plan: ScanPlan, _ values: [OpaquePointer]) throws(SyncError) {
        number = 0
        rows = try mapErrors(make)
    }

    override func advance() throws(SyncError) { number += 1 }

    override func write(_ column: Int, to sink: ResultSink) { sink.write(rows[Int(number)][column]) }
}
