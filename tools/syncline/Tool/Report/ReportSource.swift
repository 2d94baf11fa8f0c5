// The content of a report: the store's events, the state before the first one in the log, and the recorded sessions
// that can be run from one of them. Of a damaged store it is what a salvage keeps.

import Dispatch
import SegmentLog
import Syncline
import SynclineReports
import SynclineWire

struct ReportSource {
    let storage: POSIXStorage
    /// The state before the first event.
    let start: Projector
    /// The last event.
    let last: UInt64
    private(set) var sessions: [TrafficSession]
    /// Sessions left out, because the state that they started from is no longer known.
    private(set) var leftOut = 0
    /// The mask of all values of the report; nil if they are not masked.
    let masking: Masking?
    /// The rescue of a damaged store.
    let rescue: Rescue?
    /// The folder of the salvaged store.
    private let folder: ScratchFolder?

    /// - Parameter masked: What is masked; nil to mask nothing.
    init(
        _ store: POSIXStorage, traffic: [TrafficSession], through text: String?, masked: Masking.Options?,
        _ context: Context
    ) throws {
        var rescue: Rescue?
        var folder: ScratchFolder?
        var storage = store
        // If the store is damaged, the rescued one decides what is wrong with the address.
        let bound = (try? text.map { try context.event(at: $0, store) } ?? .max) ?? 0
        var collected = try context.whileReading("verifying") {
            try ReportSource.collectWhole(store, through: bound, masked)
        }
        if collected == nil {
            let scratch = try ScratchFolder()
            let rescued = POSIXStorage(directory: scratch.path + "/store")
            rescue = try context.whileReading("rescuing") {
                try Rescue.run(from: store, to: rescued, now: context.clock.now().rawValue)
            }
            storage = rescued
            guard rescue != nil else {
                throw ToolError("no-store", "the log holds no events, so there is nothing to report")
            }
            folder = scratch
        }
        (self.storage, self.rescue, self.folder) = (storage, rescue, folder)
        start = try StateLoader(storage).earliest()
        let newest = try EventWalk(storage).last
        last = try text.map { try context.event(at: $0, storage) } ?? max(newest, start.through)
        guard last >= start.through else {
            throw ToolError("collected", "the history in the log begins after @\(start.through)")
        }
        let through = (start.through, last)
        let isTrue = rescue?.isWhole ?? true
        sessions = traffic.filter {
            isTrue && $0.through >= through.0 && $0.through <= through.1 && (try? $0.check()) != nil
        }
        leftOut = traffic.count - sessions.count
        if rescue != nil, let masked {
            let values = try CollectedValues(masked, start, through: last)
            try context.whileReading("ranking values") {
                try ReportSource.forEachBatch(storage, from: through.0 + 1, values.add)
            }
            collected = values
        }
        masking = collected?.finished()
        for session in sessions { _ = masking?.mask(session) }
        masking?.close()
    }

    /// The values of a store of which every event can be read and applied; nil if one can't.
    private static func collectWhole(
        _ storage: POSIXStorage, through last: UInt64, _ masked: Masking.Options?
    ) throws -> CollectedValues? {
        do {
            if try LogInspection(storage).verify().damage.contains(where: { $0.remedy != .cutTail }) { return nil }
            let values = try CollectedValues(masked, StateLoader(storage).earliest(), through: last)
            var (rows, isCollected) = (FoldedRows(), false)
            while true {
                var outbox = try OutboxFold(from: StateLoader(storage).earliest(), folding: rows)
                let first = outbox.projector.through + 1
                if isCollected {
                    try EventWalk(storage).forEachBytes(from: first) { number, record in
                        try outbox.apply(record, number: number)
                        return true
                    }
                } else {
                    try forEachBatch(storage, from: first) { records, events in
                        values.add(records, events)
                        try records.forEach { number, record in try outbox.apply(record, number: number) }
                    }
                }
                if outbox.isExact { return values }
                (rows, isCollected) = (outbox.rows, true)
            }
        } catch {
            guard let error = ToolError(error), ReportSource.damage.contains(error.code) else { throw error }
            return nil
        }
    }

    /// The codes of errors that a salvage may solve.
    private static let damage: Set<String> = ["store-corrupt", "collected"]

    /// Calls the body with all events, several at a time, the last of them first.
    private static func forEachBatch(
        _ storage: POSIXStorage, from first: UInt64, _ body: (NumberedRecords, [Event]) throws -> Void
    ) throws {
        var pipeline = RecordPipeline<(NumberedRecords, [Event])> {
            let shapes = ShapeTable()
            return { records in
                var events: [Event] = []
                try records.forEach { events.append(try Event($1, shapes: shapes)) }
                // The last one is taken first, without a copy.
                events.reverse()
                return (records, events)
            }
        }
        try EventWalk(storage).forEachBytes(from: first) { number, record in
            try pipeline.add(number, record, body)
            return true
        }
        try pipeline.finish(body)
    }

    /// Calls the body with all lines except the first and the last, masked if there is a mask.
    func writeLines(_ body: (ReportLines) throws -> Void) throws {
        if start.through > 0 {
            try StateLines.forEach(of: masking?.mask(start) ?? start) {
                try body(ReportLines(Array(Value(json: $0.text.utf8).json.utf8)))
            }
        }
        var pipeline = RecordPipeline<ReportLines> {
            // Each thread has a copy of its own.
            nonisolated(unsafe) let masking = masking.map { Masking($0) }
            let shapes = ShapeTable()
            return { try ReportSource.lines($0, masking, shapes) }
        }
        try EventWalk(storage).forEachBytes(from: start.through + 1) { number, record in
            if number > last { return false }
            try pipeline.add(number, record, body)
            return true
        }
        try pipeline.finish(body)
        for session in sessions {
            for line in (masking?.mask(session) ?? session).lines { try body(ReportLines(Array(line.json.utf8))) }
        }
    }

    private static func lines(
        _ batch: NumberedRecords, _ masking: Masking?, _ shapes: ShapeTable
    ) throws -> ReportLines {
        var lines = ReportLines()
        try batch.forEach { number, record in
            if let masking, !masking.keeps(record) {
                try masking.mask(Event(record, shapes: shapes)).bytes.withUnsafeBytes { lines.append(number, $0) }
            } else {
                lines.append(number, record)
            }
        }
        return lines
    }
}

/// The values of a report, which a mask collects on a thread of its own to know their ranks.
private final class CollectedValues {
    let masking: Masking?
    private let last: UInt64
    private let queue = DispatchQueue(label: "syncline.values")
    /// Allows some batches to wait.
    private let room = DispatchSemaphore(value: 4)

    init(_ options: Masking.Options?, _ start: Projector, through last: UInt64) throws {
        self.last = last
        masking = options.map { Masking($0, of: start) }
        if start.through > 0, let masking { _ = try masking.mask(start) }
    }

    func add(_ records: NumberedRecords, _ events: [Event]) {
        guard let masking else { return }
        // No other thread uses it before the end.
        nonisolated(unsafe) let collecting = masking
        room.wait()
        queue.async { [last, room] in
            var events = events
            records.forEach { number, record in
                let event = events.removeLast()
                if number <= last, !collecting.keeps(record) { _ = collecting.mask(event) }
            }
            room.signal()
        }
    }

    /// The mask, once it has all values.
    func finished() -> Masking? {
        queue.sync {}
        return masking
    }
}

extension Masking {
    /// Whether an event, by its kind, has nothing that is masked.
    fileprivate func keeps(_ record: UnsafeRawBufferPointer) -> Bool {
        switch record.first.flatMap(EventKind.init(rawValue:)) {
        case .opened, .undone, .serverWorked: true
        case .sent, .discarded: options == Options()
        default: false
        }
    }
}
