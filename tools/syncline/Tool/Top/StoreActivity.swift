// What happens in a store at the moment, as its newest events tell. Pure: it reads no clock and no file.

import Syncline

struct StoreActivity {
    /// The operations in the outbox.
    var outbox = StoreStatus.Outbox()
    private(set) var syncs = LastSyncs()
    private(set) var last: UInt64 = 0
    /// The newest events, and those that tell of a failure, the newest first.
    private(set) var newest: [EventSummary] = []
    private(set) var failures: [EventSummary] = []
    /// The number of events of each second of the last minute.
    private var seconds: [Int64: Int] = [:]

    static let kept = 10
    private static let keptFailures = 5
    /// The time in seconds that the present rate is measured over.
    static let window: Int64 = 10

    mutating func add(_ event: Event, number: UInt64) {
        last = max(last, number)
        syncs.add(event, number: number)
        let summary = EventSummary(number: number, event: event)
        newest = [summary] + newest.prefix(StoreActivity.kept - 1)
        if event.tellsOfFailure { failures = [summary] + failures.prefix(StoreActivity.keptFailures - 1) }
        let second = StoreActivity.second(event.time)
        seconds[second, default: 0] += 1
        if seconds.count > 120 { seconds = seconds.filter { $0.key > second - 60 } }
    }

    /// How many events were made in some seconds before now; both in milliseconds since 1970.
    func count(inLast length: Int64, now: Int64) -> Int {
        let end = StoreActivity.second(now)
        return seconds.reduce(0) { $1.key > end - length && $1.key <= end ? $0 + $1.value : $0 }
    }

    private static func second(_ time: Int64) -> Int64 { time >= 0 ? time / 1000 : (time - 999) / 1000 }

    func rate(now: Int64) -> Double {
        Double(count(inLast: StoreActivity.window, now: now)) / Double(StoreActivity.window)
    }
}

extension Event {
    /// Whether an operation has to be sent or decided again.
    fileprivate var tellsOfFailure: Bool {
        if case .answered(let answer) = body { StudioIndex.problems.contains(answer.outcome.name) } else { false }
    }
}

// MARK: JSON

extension StoreActivity {
    /// A sample for a program.
    func json(of path: String, now: Int64) -> JSONValue {
        [
            "time": .string(Timestamp(.init(milliseconds: now)).description), "store": .string(path),
            "event": .string("@\(last)"), "eventsPerSecond": .number(rate(now: now), places: 1),
            "eventsLastMinute": .number(count(inLast: 60, now: now)), "outbox": outbox.json,
            "lastPush": syncs.push?.json ?? .null, "lastPages": .array(syncs.pages.map(\.json)),
            "failures": .array(failures.map(StoreActivity.json)), "newest": .array(newest.map(StoreActivity.json)),
        ]
    }

    private static func json(_ summary: EventSummary) -> JSONValue {
        [
            "event": .string("@\(summary.number)"), "time": .string(summary.time),
            "kind": .string(summary.event.cause), "what": .string(summary.line),
        ]
    }
}

// MARK: Text

extension StoreActivity {
    /// A sample for people, in as many lines as a terminal has.
    func lines(of path: String, _ style: TextStyle, now: Int64, height: Int) -> [String] {
        let rate = decimal(rate(now: now), places: 1)
        let minute = counted(UInt64(count(inLast: 60, now: now)), "event")
        var facts: [(String, String, TextRole)] = [
            ("store", escaped(path), .heading),
            ("events", "through @\(last), \(rate) per second, \(minute) in a minute", .plain),
            ("outbox", outbox.text(style), outbox.conflicts + outbox.refused > 0 ? .warning : .plain),
            ("last push", syncs.push?.text(now: now) ?? "none in the newest events", .plain),
        ]
        facts += syncs.pages.suffix(3).map { ("last page", $0.text(now: now), .plain) }
        var lines = facts.map { label, text, role in
            style.paint(label.padded(to: 12), .dim) + style.paint(cut(text, style, 12), role)
        }
        if !failures.isEmpty { lines += ["", style.paint("failures", .heading)] }
        lines += failures.map { line($0, style, .bad) }
        lines += ["", style.paint("newest events", .heading)]
        lines += newest.map { line($0, style, .plain) }
        return Array(lines.prefix(max(1, height)))
    }

    private func line(_ summary: EventSummary, _ style: TextStyle, _ role: TextRole) -> String {
        let head = "@\(summary.number)  \(summary.time)  "
        let text = summary.event.cause.padded(to: 10) + "  " + escaped(summary.line)
        return style.paint(head, .dim) + style.paint(cut(text, style, head.count), role)
    }

    /// Shortens a string to what is left of a line.
    private func cut(_ text: String, _ style: TextStyle, _ used: Int) -> String {
        style.width.map { style.cut(text, to: max(2, $0 - used)) } ?? text
    }
}
