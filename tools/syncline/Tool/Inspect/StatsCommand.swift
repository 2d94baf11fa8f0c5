// `stats`: counts for people, programs and scrapers.

import SegmentLog
import Syncline

enum StatsCommand {
    static let command = Command(
        "stats", "show counts of rows, events and changes",
        details: [
            """
            `pending` counts the operations that the next push sends, `waiting` the others of the outbox. In a shell, \
            `session` counts since the store was opened there.
            """,
            """
            `written` counts since the last opening: bytes of ids and values, and of the frames and checkpoints with \
            them, without zeros ahead, HEAD and removed checkpoints.
            """,
        ],
        options: [Option("prometheus", "print the counts in the format of Prometheus")],
        examples: [
            Example("syncline stats", "all counts"),
            Example("syncline stats --prometheus > syncline.prom", "for the text file collector"),
        ],
        result:
            #"""
            {"events":n,"firstEvent":n,"eventsByKind":{…},"tables":[{"table","rows":n}],"changes":{"made":n,"done":n,…},\#
            "pending":n,"waiting":n,"conflicts":n,"oldestPending":"…","log":{"bytes":n,"rawBytes":n,"segments":n},\#
            "written":{"since":"@35","ownValues":n,"serverValues":n,"logBytes":n,"checkpointBytes":n,\#
            "amplification":n or null},"session":{"opened","events":n} or null}
            """#, run: run)

    private static func run(_ arguments: Arguments, _ context: Context) async throws -> ExitCode {
        let view = try await context.view(arguments)
        let storage = try context.storage(arguments)
        let opened = await context.host.session?.opened
        let stats = try context.whileReading("reading") {
            try HistoryReading.run(storage) { try StoreStats(view, EventReading(storage, context), opened: opened) }
        }
        if arguments.flag("prometheus") {
            for line in stats.prometheus { try context.output.line(line) }
            try context.output.value(.string(stats.prometheus.joined(separator: "\n") + "\n"))
            return .done
        }
        return try context.output.result(stats.json, lines: stats.lines)
    }
}

/// The counts of `stats`.
struct StoreStats {
    let events: UInt64
    let first: UInt64
    let kinds: [EventCounts.Group]
    let tables: [(name: String, rows: Int)]
    let totals: ChangeCounts
    /// The operations that the next push sends, and all others of the outbox.
    let pending: Int
    let waiting: Int
    let conflicts: Int
    /// When the oldest pending change was made.
    let oldest: Int64?
    let storedBytes: UInt64
    let recordBytes: UInt64
    let segments: Int
    let written: WrittenBytes
    /// For a shell: when it opened the store, and the last event then.
    let opened: (time: Int64, event: UInt64)?

    init(_ view: StoreView, _ reading: EventReading, opened: (time: Int64, event: UInt64)?) throws {
        events = view.through
        let counts = try EventCounts(reading)
        kinds = counts.groups
        written = try WrittenBytes(reading.storage, since: counts.lastOpening)
        tables = try view.reader.tables().map { ($0, try view.reader.count(RowQuery(table: $0))) }
        totals = view.totals
        let outbox = try PushCounts(view.reader)
        pending = outbox.toPush
        waiting = outbox.all - pending
        conflicts = outbox.undecided
        recordBytes = kinds.reduce(0) { $0 + $1.bytes }
        let catalog = try LogInspection(reading.storage).catalog()
        segments = catalog.segments.count
        storedBytes = catalog.segments.reduce(0) { $0 + ($1.end ?? $1.size) }
        first = catalog.segments.first?.first.rawValue ?? 1
        var oldest: Int64?
        if let position = try view.reader.oldestPending, position >= first {
            try reading.forEach(from: position) { _, event in
                oldest = event.time
                return false
            }
        }
        self.oldest = oldest
        self.opened = opened
    }

    private var oldestText: String? { oldest.map { WallTime(rawValue: $0).text } }

    var json: JSONValue {
        [
            "events": .number(events), "firstEvent": .number(first),
            "eventsByKind": .object(kinds.map { .init(key: $0.kind, value: .number($0.count)) }),
            "tables": .array(tables.map { ["table": .string($0.name), "rows": .number($0.rows)] }),
            "changes": totals.json, "pending": .number(pending), "waiting": .number(waiting),
            "conflicts": .number(conflicts),
            "oldestPending": .optional(oldestText),
            "log": [
                "bytes": .number(storedBytes), "rawBytes": .number(recordBytes), "segments": .number(segments),
            ],
            "written": written.json,
            "session": opened.map { opened in
                [
                    "opened": .string(WallTime(rawValue: opened.time).text),
                    "events": .number(events - min(events, opened.event)),
                ]
            } ?? .null,
        ]
    }

    var lines: [String] {
        var lines = ["events \(events)"]
        if first > 1 { lines.append("first event \(first)") }
        lines += kinds.map { "events \($0.kind) \($0.count)" }
        lines += tables.map { "rows of \(escaped($0.name)) \($0.rows)" }
        lines += totals.named.map { "changes \($0.key) \($0.value)" }
        lines += ["operations pending \(pending)", "operations waiting \(waiting)", "conflicts \(conflicts)"]
        if let oldestText { lines.append("oldest pending \(oldestText)") }
        lines += ["log bytes \(storedBytes)", "log raw bytes \(recordBytes)", "log segments \(segments)"]
        lines += written.lines
        if let opened { lines.append("events since opened \(events - min(events, opened.event))") }
        return lines
    }

    var prometheus: [String] {
        func metric(_ name: String, _ type: String, _ help: String, _ samples: [(String, String)]) -> [String] {
            ["# HELP syncline_\(name) \(help)", "# TYPE syncline_\(name) \(type)"]
                + samples.map { "syncline_\(name)\($0.0) \($0.1)" }
        }
        func label(_ name: String, _ value: String) -> String {
            var text = ""
            for scalar in value.unicodeScalars {
                switch scalar {
                case "\\": text += "\\\\"
                case "\"": text += "\\\""
                case "\n": text += "\\n"
                default: text.unicodeScalars.append(scalar)
                }
            }
            return "{\(name)=\"\(text)\"}"
        }
        var lines = metric("last_event", "gauge", "The number of the last event.", [("", "\(events)")])
        lines += metric(
            "events_total", "counter", "Events in the log, by kind.",
            kinds.map { (label("kind", $0.kind), "\($0.count)") })
        lines += metric(
            "rows", "gauge", "Visible rows, by table.", tables.map { (label("table", $0.name), "\($0.rows)") })
        lines += metric(
            "changes_total", "counter", "Changes that the app made, by fate.",
            totals.named.filter { $0.key != "unconfirmed" }.map { (label("fate", $0.key), "\($0.value)") })
        lines += metric("pending_operations", "gauge", "Operations that the next push sends.", [("", "\(pending)")])
        lines += metric(
            "waiting_operations", "gauge", "Operations that a decision or a release keeps from being pushed.",
            [("", "\(waiting)")])
        lines += metric("conflicts", "gauge", "Operations that wait for a decision.", [("", "\(conflicts)")])
        if let oldest {
            lines += metric(
                "oldest_pending_timestamp_seconds", "gauge", "When the oldest pending change was made.",
                [("", decimal(Double(oldest) / 1000, places: 3))])
        }
        lines += metric("log_bytes", "gauge", "Bytes of the log's segments.", [("", "\(storedBytes)")])
        lines += metric("log_raw_bytes", "gauge", "Bytes of the log's events.", [("", "\(recordBytes)")])
        return lines + metric("log_segments", "gauge", "Segments of the log.", [("", "\(segments)")])
    }
}
