// The data of the page, in parts. Past states come from one replay that moves to the requested event; data that needs a
// replay of the whole log is made once for each number of events.

import SegmentLog
import Syncline
import SynclineCore
import SynclineGround
import SynclineInspect

final class StudioData: Sendable {
    private let path: String
    private let storage: POSIXStorage
    // Unchecked: it is used only between lock and unlock.
    private struct Content: @unchecked Sendable {
        var session: ReplaySession?
        var present: Projector?
        var charts: (through: UInt64, json: JSONValue)?
    }
    private let content = Mutex(Content())

    init(_ path: String) throws {
        self.path = path
        storage = POSIXStorage(directory: path)
        _ = try LogInspection(storage).catalog()
    }

    private var last: UInt64 {
        get throws {
            let inspection = LogInspection(storage)
            return try inspection.lastRecord(try inspection.catalog()).rawValue
        }
    }

    /// Reads the store as of an event, or its present state without one.
    private func look(at event: UInt64?, _ body: (ReplaySession) throws -> JSONValue) throws -> JSONValue {
        let last = try last
        return try content.withLock { content throws -> JSONValue in
            if content.session == nil || content.session?.last ?? 0 < last {
                content.session = try ReplaySession(storage)
            }
            guard let session = content.session else { return .null }
            do {
                try session.seek(min(event ?? last, last))
                return try body(session)
            } catch {
                // A session that failed has no defined position.
                content.session = nil
                throw error
            }
        }
    }

    /// Reads the state as of an event. The present state comes from the newest checkpoint rather than from a replay.
    private func state(
        at event: UInt64?, _ body: (StateReader, _ through: UInt64) throws -> JSONValue
    ) throws -> JSONValue {
        let last = try last
        if let event, event < last { return try look(at: event) { try body($0.reader, $0.through) } }
        return try content.withLock { content throws -> JSONValue in
            let known = content.present.flatMap { $0.through == last ? $0 : nil }
            let projector =
                try known
                ?? HistoryReading.run(storage, claiming: false) { () throws(SyncError) in
                    try StateLoader(storage).load()
                }
            content.present = projector
            return try body(projector.present, projector.through)
        }
    }

    // MARK: Events

    func summary(mayWrite: Bool) throws -> JSONValue {
        let catalog = try LogInspection(storage).catalog()
        let first = catalog.segments.first?.first.rawValue ?? 1
        return try state(at: nil) { reader, last in
            let plan = try PushPlan(reader).operations
            return [
                "store": .string(path), "first": .number(first), "last": .number(last),
                "segments": .number(catalog.segments.count), "writable": .boolean(mayWrite),
                "pending": .number(plan.count), "version": .string(CommandTable.version),
                "conflicts": .number(plan.count { $0.state == .conflict || $0.state == .parked }),
                "damage": .array(catalog.damage.map { .string($0.sentence) }),
            ]
        }
    }

    func events(from first: UInt64, count: Int) throws -> JSONValue {
        var found: [JSONValue] = []
        let shapes = ShapeTable()
        let count = min(max(1, count), 500)
        let floor = try LogInspection(storage).catalog().segments.first?.first.rawValue ?? 1
        try LogInspection(storage).forEachRecord(from: max(first, floor)) { number, record in
            if number - first >= UInt64(count) { return false }
            let event = try Event(record, shapes: shapes)
            let summary = EventSummary(number: number, event: event)
            found.append([
                "n": .number(number), "time": .string(summary.time), "kind": .string(event.cause),
                "what": .string(summary.line),
            ])
            return found.count < count
        } lost: { _ in
        }
        return .array(found)
    }

    func event(_ number: UInt64) throws -> JSONValue {
        try look(at: number) { session in
            guard let step = session.step else { return ["n": .number(number), "event": .null, "changes": []] }
            return [
                "n": .number(step.number), "event": EventSummary(number: step.number, event: step.event).json,
                "changes": .array(
                    step.changes.rows.prefix(200).map { row in
                        RowDifference(
                            table: row.table, id: row.id, before: row.before?.visible, after: row.after?.visible
                        ).json()
                    }),
            ]
        }
    }

    // MARK: States

    func tables(at event: UInt64?) throws -> JSONValue {
        try state(at: event) { reader, _ in
            .array(
                try reader.tables().map { table in
                    ["table": .string(table), "rows": .number(try reader.count(RowQuery(table: table)))]
                })
        }
    }

    func table(_ name: String, at event: UInt64?, skip: Int, top: Int) throws -> JSONValue {
        try state(at: event) { reader, through in
            var query = RowQuery(table: name)
            query.skip = skip
            query.top = top
            let rows = try reader.run(query).rows
            return [
                "count": .number(try reader.count(RowQuery(table: name))), "at": .number(through),
                "rows": .array(rows.map { JSONValue($0) }),
            ]
        }
    }

    func outbox(at event: UInt64?) throws -> JSONValue {
        try state(at: event) { reader, _ in
            return [
                "operations": .array(
                    try reader.outbox().prefix(500).enumerated().map { OutboxJSON.json($1, number: $0 + 1) }),
                "conflicts": .array(try reader.conflicts().map { $0.json() }),
                "cursors": .array(
                    try reader.cursors().map {
                        [
                            "table": .string($0.table), "queryId": .string($0.queryID),
                            "position": .string($0.state.position),
                        ]
                    }),
            ]
        }
    }

    /// The events that changed a row, each with its changes, and the source of each present value.
    func row(_ table: String, _ id: String) throws -> JSONValue {
        let claim = HistoryReading.claim(storage)
        defer { claim?.release() }
        let start = try StateLoader(storage).earliest()
        let first = start.through + 1
        var blame = try Blame(table: table, id: id, from: start)
        let shapes = ShapeTable()
        var history: [JSONValue] = []
        var before = try blame.entry?.visible
        try LogInspection(storage).forEachRecord(from: first) { number, record in
            guard try blame.fold(record, number: number) else { return true }
            let after = try blame.entry?.visible
            let event = EventSummary(number: number, event: try Event(record, shapes: shapes))
            history.append([
                "n": .number(number), "time": .string(event.time), "kind": .string(event.event.cause),
                "difference": RowDifference(table: table, id: id, before: before, after: after).json(),
            ])
            before = after
            return history.count < 1000
        } lost: { _ in
        }
        return [
            "table": .string(table), "id": .string(id), "history": .array(history),
            "fields": .array(
                (blame.fields ?? []).map { origin in
                    [
                        "field": .string(origin.field), "value": JSONValue(origin.value),
                        "n": .number(origin.event), "by": .string(origin.provenance.description),
                    ]
                }),
        ]
    }

    // MARK: Charts

    func charts() throws -> JSONValue {
        let through = try last
        if let known = content.withLock({ $0.charts }), known.through == through { return known.json }
        let json = try StudioCharts(storage, through: through).json
        content.withLock { $0.charts = (through, json) }
        return json
    }
}
