// A moment in a store's past, as the user writes it: an event (`@41`, `@-1` the last), a time, or a time in words.

import SegmentLog
import Syncline

struct Moment {
    /// The last event up to that moment.
    let event: UInt64

    /// How moments are written.
    static let forms = "@41, @-1, 2026-05-19T21:30Z, 11:00, yesterday, \"2 hours ago\""

    /// For the help of a command that takes them.
    static let details = """
        Moments in words are in UTC: `yesterday` (its midnight; for `log` the day), `yesterday 9:30`, `11:00` (the last), \
        `2026-05-19 11:00`, `2 hours ago`, `now`.
        """

    private static func time(_ text: String) -> Timestamp? {
        Timestamp(text) ?? Timestamp(text.replacingSuffix("Z", with: ":00Z"))
    }

    /// A time, also in words, which count from `now`.
    private static func time(_ text: String, _ now: Int64) -> Timestamp? {
        time(text) ?? TimeWords(text, now: now).map { Timestamp(.init(milliseconds: $0.time)) }
    }

    /// The moment that `@41` or `@2026-05-19T21:30Z` after a row means; nil for anything else.
    static func text(after text: Substring) -> String? {
        if Address(String(text)) != nil { return String(text) }
        let rest = String(text.dropFirst())
        return time(rest) == nil ? nil : rest
    }

    /// The events of `A..B`, where both are events or times, or of a day; those at A and at B are among them. Nothing in
    /// place of A or of B means the first or the last event.
    static func range(_ text: String, _ storage: any LogStorage, now: Int64) throws -> ClosedRange<UInt64>? {
        if let words = TimeWords(text, now: now), words.isDay {
            let walk = EventWalk(storage)
            let first = try walk.newest(until: words.time - 1).event + 1
            let last = try walk.newest(until: words.time + 86_399_999).event
            // Of a day without events none is in the range.
            return first <= last ? first...last : .max ... .max
        }
        let parts = text.split(separator: "..", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, parts != ["", ""], parts.contains(where: { $0.isEmpty || time($0, now) != nil }) else {
            return nil
        }
        let first = parts[0].isEmpty ? 1 : try Moment.first(from: parts[0], storage, now: now)
        let last = parts[1].isEmpty ? .max : try Moment(parts[1], storage, now: now).event
        guard first <= last else {
            throw ToolError.usage("there is no event in `\(escaped(text))`", hint: "Write the earlier moment first.")
        }
        return first...last
    }

    /// The first event of a span that begins at an event or a time.
    static func first(from text: String, _ storage: any LogStorage, now: Int64) throws -> UInt64 {
        guard let time = time(text, now) else { return try Moment(text, storage, now: now).event }
        let (milliseconds, instant) = (time.instant.milliseconds, time.instant)
        let isBetween = Timestamp.Instant(milliseconds: milliseconds) < instant
        return try EventWalk(storage).newest(until: isBetween ? milliseconds : milliseconds - 1).event + 1
    }

    /// - Parameter now: The time that words are counted from, in milliseconds since 1970.
    init(_ text: String, _ storage: any LogStorage, now: Int64) throws {
        if let time = Moment.time(text, now) {
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
                hint: "Write \(Moment.forms). Times are in UTC.")
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

extension Context {
    /// The last event up to a moment that the user wrote.
    func event(at moment: String, _ storage: any LogStorage) throws -> UInt64 {
        try Moment(moment, storage, now: clock.now().rawValue).event
    }
}

extension String {
    func replacingSuffix(_ suffix: String, with other: String) -> String {
        hasSuffix(suffix) ? dropLast(suffix.count) + other : self
    }
}
