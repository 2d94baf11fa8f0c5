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
            _ = try StateLoader(storage).load(usingCheckpoints: false)
            return true
        } catch {
            guard let error = ToolError(error), ReportSource.damage.contains(error.code) else { throw error }
            return false
        }
    }

    /// The codes of errors that a salvage may solve.
    private static let damage: Set<String> = ["store-corrupt", "collected"]

    /// Calls the body with each line except the first and the last, masked if there is a mask.
    func forEachLine(_ masking: Masking?, _ body: (Value) throws -> Void) throws {
        if start.through > 0 {
            try StateLines.forEach(of: masking?.mask(start) ?? start) { try body(Value(json: $0.text.utf8)) }
        }
        try EventWalk(storage).forEach(from: start.through + 1) { number, event in
            if number > last { return false }
            let record = (masking?.mask(event) ?? event).bytes
            try body(
                .object([.init("address", .string("@\(number)")), .init("record", .string(Base64.encode(record)))]))
            return true
        }
        for session in sessions {
            for line in (masking?.mask(session) ?? session).lines { try body(line) }
        }
    }
}
