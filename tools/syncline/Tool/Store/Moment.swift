// A moment in a store's past, as the user writes it: an event (`@41`, `@-1` the last) or a time.

import SegmentLog
import Syncline
import SynclineCore
import SynclineInspect

struct Moment {
    /// The last event up to that moment.
    let event: UInt64

    private static func time(_ text: String) -> Timestamp? {
        Timestamp(text) ?? Timestamp(text.replacingSuffix("Z", with: ":00Z"))
    }

    /// The moment that `@41` or `@2026-05-19T21:30Z` after a row means; nil for anything else.
    static func text(after text: Substring) -> String? {
        if Address(String(text)) != nil { return String(text) }
        let rest = String(text.dropFirst())
        return time(rest) == nil ? nil : rest
    }

    /// The events of `A..B`, where both are events or times: those after the time A, and those until B.
    static func range(_ text: String, _ storage: any LogStorage) throws -> ClosedRange<UInt64>? {
        let parts = text.split(separator: "..", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, parts.contains(where: { time($0) != nil }) else { return nil }
        let first = try Moment(parts[0], storage).event + (time(parts[0]) == nil ? 0 : 1)
        let last = try Moment(parts[1], storage).event
        guard first <= last else {
            throw ToolError.usage("there is no event in `\(escaped(text))`", hint: "Write the earlier moment first.")
        }
        return first...last
    }

    init(_ text: String, _ storage: any LogStorage) throws {
        if let time = Moment.time(text) {
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
        ToolError("usage", "there is no such event: the last event is @\(last)", exit: .usage)
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
