// A row's story: what it was at a moment and why, in sentences, with its base, its pending changes and the server's row
// side by side, and every event that changed it.

import SegmentLog
import Syncline

extension StudioData {
    private static let limit = 500

    /// - Parameter field: The field whose nearest changes are looked for; nil for those of the row.
    func row(_ row: StudioRow, field: String? = nil, at event: UInt64?) throws -> JSONValue {
        try states.read(at: event) { state in
            let view = StoreView(
                reader: state.reader, through: state.through, totals: state.totals, storage: states.storage)
            // It cuts off long values.
            let style = TextStyle(isForPeople: true, hasColour: false)
            var why = JSONValue.null
            let story = try RowStory(row, field, states.storage, limit: StudioData.limit, pausingAt: state.through) {
                blame in
                let report = try WhyReport((row.table, row.id), nil, blame, view, redacts: false, style)
                why = report.json.adding(["parts": .array(report.sentences.map(\.json))])
            }
            let entry = try state.reader.entry(row.table, row.id)
            return [
                "table": .string(row.table), "id": .string(entry?.spelling ?? row.id), "at": .number(state.through),
                "whole": .boolean(state.isWhole && story.isWhole), "why": why,
                "entry": entry.map { EntrySummary.json($0, row.id) } ?? .null,
                "conflict": try state.reader.conflict(of: row).map { try $0.preview(state.reader) } ?? .null,
                "systemColumns": .array(Item.systemColumns.sorted().map(JSONValue.string)),
                "count": .number(story.count),
                "undecidedSince": story.undecidedSince.map { .number($0) } ?? .null,
                "near": [
                    "before": story.before.map { .number($0) } ?? .null,
                    "after": story.after.map { .number($0) } ?? .null,
                ],
                "history": .array(story.steps.map(\.json)),
            ]
        }
    }
}

extension StateReader {
    fileprivate func conflict(of row: StudioRow) throws(SyncError) -> Conflict? {
        guard let entry = try entry(row.table, row.id), let frozen = entry.pending?.frozen else { return nil }
        var conflict = Conflict(table: row.table, id: row.id, frozen, try types(of: row.table))
        conflict?.current = entry.visible
        return conflict
    }
}

extension JSONValue {
    /// Its strings cut off at a length. The page shows whole values only of the row itself, not of each event of its story.
    fileprivate func shortened(to length: Int) -> JSONValue {
        switch self {
        case .string(let text) where text.utf8.count > length:
            .string(text.prefix(length) + "… (\(text.utf8.count) bytes)")
        case .array(let elements): .array(elements.map { $0.shortened(to: length) })
        case .object(let members): .object(members.map { .init(key: $0.key, value: $0.value.shortened(to: length)) })
        default: self
        }
    }
}

/// The events that changed a row, with what the row's share of the log says of a moment on the way.
private struct RowStory {
    struct Step {
        var event: EventSummary
        var difference: RowDifference

        var json: JSONValue {
            [
                "n": .number(event.number), "time": .number(event.event.time), "kind": .string(event.event.cause),
                "what": .string(event.line), "difference": difference.json().shortened(to: 4000),
            ]
        }
    }

    /// The newest of the events that changed it.
    private(set) var steps: [Step] = []
    private(set) var count = 0
    /// The nearest events before and after the moment that changed the field.
    private(set) var before: UInt64?
    private(set) var after: UInt64?
    /// The event that began what awaits a decision at the moment.
    private(set) var undecidedSince: UInt64?
    /// Whether every event was read and made sense.
    private(set) var isWhole = true

    init(
        _ row: StudioRow, _ field: String?, _ storage: POSIXStorage, limit: Int, pausingAt moment: UInt64,
        _ pause: (Blame) throws -> Void
    ) throws {
        let claim = HistoryReading.claim(storage)
        defer { claim?.release() }
        let start = try RowStory.start(storage)
        var next = start.through + 1
        var blame = try Blame(table: row.table, id: row.id, from: start)
        var known = try blame.entry?.visible
        var isUndecided = try blame.entry?.isUndecided ?? false
        var hasPaused = false
        let shapes = ShapeTable()
        try LogInspection(storage).forEachRecord(from: next) { number, record in
            if number != next { isWhole = false }
            next = number + 1
            // What follows the moment changes what the blame knows.
            if number > moment, !hasPaused {
                hasPaused = true
                try pause(blame)
            }
            guard fold(record, number, into: &blame), let event = try? Event(record, shapes: shapes) else {
                return true
            }
            let now = try blame.entry?.visible
            let difference = RowDifference(table: row.table, id: row.id, before: known, after: now, blame.types)
            note(number, moment, field == nil || difference.fields.contains { $0.name == field })
            steps.append(Step(event: EventSummary(number: number, event: event), difference: difference))
            count += 1
            if steps.count > limit * 2 { steps.removeFirst(limit) }
            known = now
            let awaits = try blame.entry?.isUndecided ?? false
            if number <= moment, awaits != isUndecided { undecidedSince = awaits ? number : nil }
            isUndecided = awaits
            return true
        }
        if !hasPaused { try pause(blame) }
        steps = Array(steps.suffix(limit))
    }

    private mutating func note(_ number: UInt64, _ moment: UInt64, _ isChange: Bool) {
        guard isChange else { return }
        if number < moment { before = number } else if number > moment, after == nil { after = number }
    }

    /// Folds an event; one that makes no sense without lost ones is left out.
    private mutating func fold(_ record: UnsafeRawBufferPointer, _ number: UInt64, into blame: inout Blame) -> Bool {
        do throws(SyncError) {
            return try blame.fold(record, number: number)
        } catch {
            isWhole = false
            return false
        }
    }

    /// The earliest state; the empty one if the history before the first event is lost.
    private static func start(_ storage: POSIXStorage) throws -> Projector {
        do throws(SyncError) {
            return try StateLoader(storage).earliest()
        } catch {
            guard error.code.rawValue == LogError.Code.collected.rawValue || error.code == .storeCorrupt else {
                throw error
            }
            return try Projector()
        }
    }
}
