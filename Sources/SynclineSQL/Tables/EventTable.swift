// The events of the store: what changed, when, and by whom. An event has a row for each row that it names. Events are read
// from the log as SQLite asks for them. Events that can't be read are one row, with the cause `lost`.

import CSQLite
import SegmentLog
import Syncline

final class EventTable: VirtualTable {
    let source: SQLSource

    init(_ source: SQLSource) {
        self.source = source
        super.init(columns: ["event", "time", "cause", "table", "id", "operation", "columns", "outcome"])
    }

    /// A scan can use the number of one event, a list of them, or the first number of a range.
    override func plan(_ request: PlanRequest) -> ScanPlan {
        var plan = ScanPlan(access: .all, cost: Double(source.event) + 1, rows: Double(source.event) + 1)
        for (place, condition) in request.conditions.enumerated() {
            guard let condition, condition.column == 0 else { continue }
            if condition.comparison == .equal {
                return ScanPlan(
                    access: .id, used: [place], list: condition.isList ? 0 : nil, cost: 10, rows: 3)
            }
            guard plan.access == .all, !condition.comparison.isUpper else { continue }
            plan.access = .idRange(.lower)
            plan.used = [place]
            plan.cost /= 4
            plan.rows /= 4
        }
        return plan
    }

    override func rows(_ plan: ScanPlan, _ values: [OpaquePointer]) throws(SyncError) -> ScanRows {
        try EventRows(self, plan, values)
    }

    // MARK: The log

    /// Keeps the events while the statement runs.
    private var claim: LogLease?
    private var walk: EventWalk?

    deinit { claim?.release() }

    /// Calls a body with the log, which is opened once for all scans.
    fileprivate func read(_ body: (EventWalk) throws -> Void) throws(SyncError) {
        do {
            claim = claim ?? HistoryReading.claim(source.storage)
            try HistoryReading.run(source.storage, claiming: false) {
                let open = try walk ?? EventWalk(opening: source.storage)
                // After an error the log is opened again.
                walk = nil
                try body(open)
                walk = open
            }
        } catch {
            throw error as? SyncError ?? SyncError(.internalError, "\(error)")
        }
    }
}

private final class EventRows: ScanRows {
    private let table: EventTable
    private var rows: [(number: Int64, values: [Value])] = []
    private var place = 0
    /// The next event to read, and the last one.
    private var next: UInt64 = 1
    private var last: UInt64

    /// After this many rows, reading pauses at the end of an event.
    private static let batch = 1024

    init(_ table: EventTable, _ plan: ScanPlan, _ values: [OpaquePointer]) throws(SyncError) {
        self.table = table
        last = table.source.event
        super.init()
        if let value = values.first {
            guard let wanted = try EventRows.events(value, isList: plan.list != nil) else { return }
            next = max(1, wanted.lowerBound)
            if plan.access == .id { last = min(last, wanted.upperBound) }
        }
        try fill()
    }

    override var isAtEnd: Bool { place >= rows.count }

    /// The event of a value, or all events from the first to the last one of a list, which can be longer than memory.
    /// Nil if there are none.
    private static func events(_ value: OpaquePointer, isList: Bool) throws(SyncError) -> ClosedRange<UInt64>? {
        guard isList else { return event(Operand(value, .none)).map { $0...$0 } }
        var found: ClosedRange<UInt64>?
        try Operand.forEach(in: value, .none) { operand in
            if let event = event(operand) {
                found = min(found?.lowerBound ?? event, event)...max(found?.upperBound ?? event, event)
            }
            return true
        }
        return found
    }

    /// The event of a value. Numbers are less than strings and bytes, so another value is that of no event.
    private static func event(_ value: Operand) -> UInt64? {
        guard case .number(let number) = value else { return nil }
        return UInt64(max(0, min(number.rounded, 0x1p62)))
    }

    override func advance() throws(SyncError) {
        place += 1
        if isAtEnd { try fill() } else { number = rows[place].number }
    }

    override func write(_ column: Int, to sink: ResultSink) { sink.write(rows[place].values[column]) }

    /// Reads the next rows.
    private func fill() throws(SyncError) {
        (rows, place) = ([], 0)
        guard next <= last else { return }
        let (start, last) = (next, last)
        try table.read { walk in
            (rows, next) = ([], last + 1)
            do {
                try walk.forEach(from: start <= 1 ? start : max(start, try walk.first)) { number, event in
                    try add(number, through: last) { event.rows(number) }
                }
            } catch let error as SyncError where error.code == .storeCorrupt {
                (rows, next) = ([], last + 1)
                try readAroundDamage(from: start, through: last)
            }
        }
        if let first = rows.first { number = first.number }
    }

    /// Adds the rows of an event; returns false if it is left for the next time.
    private func add(_ number: UInt64, through last: UInt64, _ rows: () -> [[Value]]) throws -> Bool {
        if Task.isCancelled { throw SyncError.queryCancelled }
        guard number <= last, self.rows.count < EventRows.batch else {
            next = number
            return false
        }
        for (place, values) in rows().enumerated() {
            self.rows.append((EventRows.number(of: number, place), values))
        }
        return true
    }

    private func readAroundDamage(from start: UInt64, through last: UInt64) throws {
        let shapes = ShapeTable()
        func lost(_ number: UInt64) -> [[Value]] {
            [[.integer(Int64(number)), .null, .string("lost")] + Array(repeating: .null, count: 5)]
        }
        try LogInspection(table.source.storage).forEachRecord(from: start) { number, record in
            let event = try? Event(record, shapes: shapes)
            return try add(number, through: last) { event?.rows(number) ?? lost(number) }
        } lost: { found in
            let range: SequenceRange? =
                switch found {
                case .record: nil
                case .hole(let range): range
                case .damage(let damage): damage.records
                }
            if let number = range?.first.rawValue { _ = try add(number, through: last) { lost(number) } }
        }
    }

    /// A number that a row has in every scan: SQLite recognises a row that two scans find.
    private static func number(of event: UInt64, _ place: Int) -> Int64 {
        Int64(truncatingIfNeeded: event << 24) + Int64(place)
    }
}

extension Event {
    /// The event as rows: one for each row that it names, or one alone if it names none.
    fileprivate func rows(_ number: UInt64) -> [[Value]] {
        let head: [Value] = [
            .integer(Int64(number)), .date(Timestamp(.init(milliseconds: time))), .string(cause),
        ]
        let named = namedRows
        if named.isEmpty { return [head + [.null, .null, .null, .null, outcome]] }
        return named.map { row in
            head + [
                .string(row.table), row.id.map { .string($0) } ?? .null, row.kind.map { .string("\($0)") } ?? .null,
                SystemTable.object(row.columns), outcome,
            ]
        }
    }

    /// How the server answered.
    private var outcome: Value {
        guard case .answered(let answer) = body else { return .null }
        return .string(answer.outcome.name)
    }
}
