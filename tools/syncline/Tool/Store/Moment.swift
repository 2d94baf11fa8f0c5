// A moment in a store's past, as the user writes it: an event (`@41`, `@-1` the last) or a time.

import SegmentLog
import Syncline
import SynclineCore
import SynclineInspect

struct Moment {
    /// The last event up to that moment.
    let event: UInt64

    init(_ text: String, _ storage: any LogStorage) throws {
        if let time = Timestamp(text) ?? Timestamp(text.replacingSuffix("Z", with: ":00Z")) {
            event = try Moment.event(at: time.instant.milliseconds, storage)
            return
        }
        switch Address(text) {
        case .record(let number)?:
            event = number.rawValue
            // If the end of the log can't be read, the moment may still exist.
            if let last = try? EventWalk(storage).last, event > last { throw Moment.beyond(last) }
        case .fromEnd(let back)?:
            let last = try EventWalk(storage).last
            guard back <= last else { throw Moment.beyond(last) }
            event = last - back + 1
        default:
            throw ToolError.usage(
                "`\(escaped(text))` is not a valid moment",
                hint: "Write @41, @-1 (the last event) or 2026-05-19T21:30Z.")
        }
    }

    private static func beyond(_ last: UInt64) -> ToolError {
        ToolError("usage", "there is no such moment: the last event is @\(last)", exit: .usage)
    }

    private static func event(at time: Int64, _ storage: any LogStorage) throws -> UInt64 {
        var newest: UInt64 = 0
        let shapes = ShapeTable()
        try EventWalk(storage).forEachRecord(from: 1) { number, record throws(SyncError) in
            let moment: Int64
            do throws(StateError) { moment = try EventReader(record, shapes).time } catch { throw SyncError(error) }
            if moment > time { return false }
            newest = number
            return true
        }
        return newest
    }
}

extension String {
    func replacingSuffix(_ suffix: String, with other: String) -> String {
        hasSuffix(suffix) ? dropLast(suffix.count) + other : self
    }
}
