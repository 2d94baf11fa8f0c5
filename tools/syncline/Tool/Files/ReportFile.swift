// A bug report as a file with one JSON object per line: a head, the state before the first event if earlier history was
// removed, the events, the traffic with the server, and an end mark with the checksum of all that.

import SynclineCore
import SynclineReports
import SynclineWire

/// The content of a report that can be read: a store, and the recorded sessions.
struct Report {
    var head: Value
    /// The directory of the store.
    var store: String
    /// The events in the store's history; nil if it has none.
    var events: ClosedRange<UInt64>?
    /// The first event of the log; nil if there is none.
    var first: UInt64?
    var sessions: [TrafficSession]

    /// Whether a line is the first of a report.
    static func begins(with line: Value) -> Bool { line[member: "report"] != nil && line[member: "tool"] != nil }
}

/// Creates a store from a report, line by line. It gets its name only after the end mark and the checksum are right.
struct ReportReading {
    private let name: String
    private let path: String
    private let head: Value
    private var events: EventImport
    private var traffic: [Value] = []
    private var checksum = LineChecksum()
    private var isEnded = false

    /// - Parameters:
    ///   - head: The first line.
    ///   - name: The name of the file in errors.
    ///   - path: The directory of the new store.
    init(_ head: [UInt8], name: String, store path: String) throws {
        guard let value = try? Value(json: head), Report.begins(with: value),
            case .integer(let version)? = value[member: "report"], version >= ReportLines.version
        else { throw ReportReading.noReport(name) }
        if version > ReportLines.version {
            throw ToolError("store-newer", "the report was written by a newer version", hint: "Use that version.")
        }
        self.head = value
        self.name = name
        self.path = path
        events = try EventImport(path: path)
        checksum.add(ReportLines(head))
    }

    mutating func add(_ line: [UInt8]) throws {
        let number = Int(checksum.lines) + 1
        guard !isEnded else { throw ReportReading.wrong(name, "line \(number) comes after its end") }
        guard let value = try? Value(json: line) else {
            throw ReportReading.wrong(name, "line \(number) can't be read")
        }
        if value[member: "end"] != nil {
            guard value == checksum.endMark else {
                throw ReportReading.wrong(name, "it was changed: the checksum does not match")
            }
            isEnded = true
        } else if EventImport.holdsEvent(value) {
            do {
                try events.add(value, number)
            } catch let error as ToolError where error.code == "invalid-item" {
                throw ReportReading.wrong(name, error.message)
            }
        } else {
            traffic.append(value)
        }
        if !isEnded { checksum.add(ReportLines(line)) }
    }

    mutating func finish() throws -> Report {
        guard isEnded else { throw ReportReading.wrong(name, "it was cut: its end is missing") }
        try events.finish(Int(checksum.lines))
        return Report(
            head: head, store: path, events: events.events, first: events.first,
            sessions: TrafficSession.list(traffic))
    }

    /// Removes the unfinished store.
    func giveUp() { events.giveUp() }

    /// Reads all lines.
    static func read(
        head: [UInt8]? = nil, _ lines: any LineSource, name: String, store path: String
    ) throws -> Report {
        guard let head = try head ?? lines.next() else { throw noReport(name) }
        var reading = try ReportReading(head, name: name, store: path)
        do {
            while let line = try lines.next() { try reading.add(line) }
            return try reading.finish()
        } catch {
            reading.giveUp()
            throw error
        }
    }

    private static func noReport(_ name: String) -> ToolError {
        ToolError(
            "no-store", "\(escaped(name)) is neither a store nor a report",
            hint: "A store is a directory; `syncline report -o FILE` writes a report.")
    }

    private static func wrong(_ name: String, _ what: String) -> ToolError {
        ToolError(
            "invalid-item", "\(escaped(name)) is not a complete report: \(what)",
            hint: "Write one with `syncline report -o FILE`.")
    }
}
