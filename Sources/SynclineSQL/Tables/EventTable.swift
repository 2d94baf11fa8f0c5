// The events of the store: what changed, when, and by whom. An event has a row for each row that it names. Events are read
// from the log as SQLite asks for them.

import CSQLite
import SegmentLog
import Syncline
import SynclineCore

final class EventTable: VirtualTable {
    let source: SQLSource

    init(_ source: SQLSource) {
        self.source = source
        super.init(columns: ["event", "time", "cause", "table", "id", "operation", "columns"])
    }

    /// A scan can use the number of one event, or the first number of a range.
    override func plan(_ request: PlanRequest) -> ScanPlan {
        var plan = ScanPlan(access: .all, cost: Double(source.event) + 1, rows: Double(source.event) + 1)
        for (place, condition) in request.conditions.enumerated() {
            guard let condition, condition.column == 0 else { continue }
            if condition.comparison == .equal {
                return ScanPlan(access: .id, used: [place], cost: 10, rows: 3)
            }
            guard plan.access == .all, !condition.comparison.isUpper else { continue }
            plan.access = .idRange(.lower)
            plan.used = [place]
            plan.cost /= 4
            plan.rows /= 4
        }
        return plan
    }

    override func scan() throws(SyncError) -> TableScan { EventScan(source) }
}

final class EventScan: TableScan {
    private let source: SQLSource
    private var rows: [[Value]] = []
    private var place = 0
    /// The next event to read, and the last one.
    private var next: UInt64 = 1
    private var last: UInt64 = 0

    /// How many events are read from the log at a time.
    private static let batch = 512

    init(_ source: SQLSource) {
        self.source = source
    }

    override var isAtEnd: Bool { place >= rows.count }

    override func begin(_ plan: ScanPlan, _ values: [OpaquePointer]) throws(SyncError) {
        (rows, place, next, last, number) = ([], 0, 1, source.event, 0)
        if let value = values.first {
            // Numbers are less than strings and bytes, so another value leaves no event.
            guard case .number(let bound) = Operand(value) else { return }
            let event = UInt64(max(0, min(bound.rounded, 0x1p62)))
            next = max(1, event)
            if plan.access == .id { last = min(last, event) }
        }
        try fill()
    }

    override func advance() throws(SyncError) {
        number += 1
        place += 1
        if place >= rows.count { try fill() }
    }

    override func write(_ column: Int, to sink: ResultSink) { sink.write(rows[place][column]) }

    private func fill() throws(SyncError) {
        (rows, place) = ([], 0)
        guard next <= last else { return }
        var count = 0
        let (start, last) = (next, last)
        do {
            try HistoryReading.run(source.storage) {
                (rows, count, next) = ([], 0, last + 1)
                let walk = EventWalk(source.storage)
                try walk.forEach(from: max(start, try walk.first)) { number, event in
                    guard number <= last, !Task.isCancelled else { return false }
                    if count == EventScan.batch {
                        next = number
                        return false
                    }
                    count += 1
                    rows += event.rows(number)
                    return true
                }
            }
        } catch let error as SyncError {
            throw error
        } catch {
            throw SyncError(.internalError, "\(error)")
        }
    }
}

extension Event {
    /// The event as rows: one for each row that it names, or one alone if it names none.
    fileprivate func rows(_ number: UInt64) -> [[Value]] {
        let head: [Value] = [
            .integer(Int64(number)), .date(Timestamp(.init(milliseconds: time))), .string(cause),
        ]
        let named = namedRows
        if named.isEmpty { return [head + [.null, .null, .null, .null]] }
        return named.map { row in
            head + [
                .string(row.table), row.id.map { .string($0) } ?? .null, row.kind.map { .string("\($0)") } ?? .null,
                SystemTable.object(row.columns),
            ]
        }
    }
}
