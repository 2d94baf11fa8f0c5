// What a report is made of: the store's events, the state before the first that is there, and the recorded sessions that
// can be run from one of them. Of a damaged store it is what a rescue makes of it.

import SegmentLog
import Syncline
import SynclineCore
import SynclineInspect
import SynclineWire

struct ReportSource {
    let storage: POSIXStorage
    /// The state before the first event.
    let start: Projector
    /// The last event.
    let last: UInt64
    private(set) var sessions: [TrafficSession]
    /// Sessions of which it is not known any more what they started from.
    private(set) var leftOut = 0
    /// Of a damaged store: what is missing.
    let rescue: Rescue?
    /// Holds what a rescue made.
    private let folder: ScratchFolder?

    init(_ store: POSIXStorage, traffic: [TrafficSession], through text: String?, _ context: Context) throws {
        var rescue: Rescue?
        var folder: ScratchFolder?
        var storage = store
        if try !ReportSource.isWhole(store) {
            let scratch = try ScratchFolder()
            storage = POSIXStorage(directory: scratch.path + "/store")
            rescue = try Rescue.run(from: store, to: storage, now: context.clock.now().rawValue)
            guard rescue != nil else {
                throw ToolError("no-store", "the log holds no events, so there is nothing to report")
            }
            folder = scratch
        }
        (self.storage, self.rescue, self.folder) = (storage, rescue, folder)
        start = try StateLoader(storage).earliest()
        let newest = try EventWalk(storage).last
        last = try text.map { try Moment($0, storage).event } ?? max(newest, start.through)
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

    /// Whether every event that is there can be read, and folded onto what is before it.
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

    /// What an error is called that a rescue may help against.
    private static let damage: Set<String> = ["store-corrupt", "collected"]

    /// Calls the body with each line but the first and the last, under a mask if there is one.
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
