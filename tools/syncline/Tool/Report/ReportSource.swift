// The content of a report: the store's events, the state before the first one in the log, and the recorded sessions
// that can be run from one of them. Of a damaged store it is what a salvage keeps.

import SegmentLog
import Syncline
import SynclineCore
import SynclineGround
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
    /// The rescue of a damaged store.
    let rescue: Rescue?
    /// The folder of the salvaged store.
    private let folder: ScratchFolder?

    init(_ store: POSIXStorage, traffic: [TrafficSession], through text: String?, _ context: Context) throws {
        var rescue: Rescue?
        var folder: ScratchFolder?
        var storage = store
        if try !context.whileReading("verifying", { try ReportSource.isWhole(store) }) {
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
    }

    /// Whether every event in the log can be read and applied.
    private static func isWhole(_ storage: POSIXStorage) throws -> Bool {
        do {
            if try LogInspection(storage).verify().damage.contains(where: { $0.remedy != .cutTail }) { return false }
            var rows = FoldedRows()
            let shapes = ShapeTable()
            while true {
                var outbox = try OutboxFold(from: StateLoader(storage).earliest(), folding: rows)
                let first = outbox.projector.through + 1
                try EventWalk(storage).forEachRecord(from: first) { number, record throws(SyncError) in
                    _ = try Event(record, shapes: shapes)
                    try outbox.apply(record, number: number)
                    return true
                }
                if outbox.isExact { return true }
                rows = outbox.rows
            }
        } catch {
            guard let error = ToolError(error), ReportSource.damage.contains(error.code) else { throw error }
            return false
        }
    }

    /// The codes of errors that a salvage may solve.
    private static let damage: Set<String> = ["store-corrupt", "collected"]

    /// Shows all values to a mask that collects them.
    func collect(_ masking: Masking) throws {
        if start.through > 0 { _ = try masking.mask(start) }
        let shapes = ShapeTable()
        try forEachRecord { _, record in
            if !masking.keeps(record) { _ = try masking.mask(Event(record, shapes: shapes)) }
        }
        for session in sessions { _ = masking.mask(session) }
    }

    /// Calls the body with each line except the first and the last, masked if there is a mask.
    func forEachLine(_ masking: Masking?, _ body: ([UInt8]) throws -> Void) throws {
        if start.through > 0 {
            try StateLines.forEach(of: masking?.mask(start) ?? start) {
                try body(Array(Value(json: $0.text.utf8).json.utf8))
            }
        }
        let shapes = ShapeTable()
        try forEachRecord { number, record in
            let bytes: String
            if let masking, !masking.keeps(record) {
                bytes = Base64.encode(try masking.mask(Event(record, shapes: shapes)).bytes)
            } else {
                bytes = Base64.encode(record)
            }
            try body(Array("{\"address\":\"@\(number)\",\"record\":\"\(bytes)\"}".utf8))
        }
        for session in sessions {
            for line in (masking?.mask(session) ?? session).lines { try body(Array(line.json.utf8)) }
        }
    }

    /// Calls the body with the bytes of each event.
    private func forEachRecord(_ body: (UInt64, UnsafeRawBufferPointer) throws -> Void) throws {
        var failure: (any Error)?
        try EventWalk(storage).forEachRecord(from: start.through + 1) { number, record in
            if number > last { return false }
            do { try body(number, record) } catch { failure = error }
            return failure == nil
        }
        if let failure { throw failure }
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
