// A moment in a store's past, as the user writes it: an event (`@41`, `@-1` the last) or a time.

import SegmentLog
import Syncline
import SynclineCore

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

    /// The events of `A..B`, where both are events or times; those at A and at B are among them. Nothing in place of A or
    /// of B means the first or the last event.
    static func range(_ text: String, _ storage: any LogStorage) throws -> ClosedRange<UInt64>? {
        let parts = text.split(separator: "..", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, parts != ["", ""], parts.contains(where: { $0.isEmpty || time($0) != nil }) else {
            return nil
        }
        let first = parts[0].isEmpty ? 1 : try Moment.first(from: parts[0], storage)
        let last = parts[1].isEmpty ? .max : try Moment(parts[1], storage).event
        guard first <= last else {
            throw ToolError.usage("there is no event in `\(escaped(text))`", hint: "Write the earlier moment first.")
        }
        return first...last
    }

    /// The first event of a span that begins at an event or a time.
    static func first(from text: String, _ storage: any LogStorage) throws -> UInt64 {
        guard let time = time(text) else { return try Moment(text, storage).event }
        let (milliseconds, instant) = (time.instant.milliseconds, time.instant)
        let isBetween = Timestamp.Instant(milliseconds: milliseconds) < instant
        return try EventWalk(storage).newest(until: isBetween ? milliseconds : milliseconds - 1).event + 1
    }

    init(_ text: String, _ storage: any LogStorage) throws {
        if let time = Moment.time(text) {
            let (event, first) = try EventWalk(storage).newest(until: time.instant.milliseconds)
            if event == 0, let first { throw Moment.before(first) }
            self.event = event
            return
        }
        switch Address(text) {
        case .records(.number(let number))?:
            event = number.rawValue
            // If the end of the log can't be read, the moment may still exist.
            if let last = try? EventWalk(storage).last, event > last { throw Moment.beyond(last) }
        case .records(.fromEnd(let back))?:
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

    /// The error for a time before the first event.
    static func before(_ first: (number: UInt64, time: Int64)) -> ToolError {
        let time = Timestamp(.init(milliseconds: first.time))
        return ToolError("usage", "the first event is @\(first.number), of \(time)", exit: .usage)
    }
}

extension String {
    func replacingSuffix(_ suffix: String, with other: String) -> String {
        hasSuffix(suffix) ? dropLast(suffix.count) + other : self
    }
}
