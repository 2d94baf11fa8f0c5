// A report of a bug as a file: a line of JSON that says what it is, then a line an event, then a line an exchange.

import SegmentLog
import Syncline
import SynclineCore
import SynclineInspect
import SynclineWire

/// What a report holds.
struct ReportFile {
    var head: Value
    /// The events, from the first one, as the log has them.
    var events: [[UInt8]] = []
    var traffic: [Value] = []

    static let version: Int64 = 1

    /// Reads a report.
    init(_ bytes: [UInt8], name: String) throws(ToolError) {
        func wrong(_ what: String) -> ToolError {
            ToolError(
                "invalid-item", "\(escaped(name)) is no report: \(what)", hint: "`syncline report -o FILE` writes one.")
        }
        var lines = bytes.split(separator: 0x0a)[...]
        guard let first = lines.popFirst(), let head = try? Value(json: first) else {
            throw wrong("its head can't be read")
        }
        guard case .integer(let version)? = head[member: "report"] else { throw wrong("its head says nothing of one") }
        guard version <= ReportFile.version else {
            throw ToolError("store-newer", "the report was written by a newer version", hint: "Use that version.")
        }
        self.head = head
        for (index, line) in lines.enumerated() {
            guard let value = try? Value(json: line) else { throw wrong("line \(index + 2) can't be read") }
            if case .string(let text)? = value[member: "event"] {
                guard let event = Base64.decode(text) else { throw wrong("line \(index + 2) holds no event") }
                events.append(event)
            } else {
                traffic.append(value)
            }
        }
    }

    /// The lines of a report of a store.
    static func write(
        _ reading: EventReading, _ traffic: [Value], _ masking: Masking?, engine: String, created: String,
        through last: UInt64, _ line: (Value) throws -> Void
    ) throws {
        let first = try LogInspection(reading.storage).catalog().segments.first?.first.rawValue ?? 1
        guard first <= 1 else {
            throw ToolError(
                "collected", "the history before @\(first) was let go of, so that the store can't be made again",
                hint: "Report what `syncline inspect` and `syncline log` say instead.")
        }
        let names = ["report", "tool", "engine", "projector", "created", "masked", "through"]
        let values: [Value] = [
            .integer(version), .string(Tool.version), .string(engine), .integer(Int64(Projector.version)),
            .string(created), .bool(masking != nil), .integer(Int64(last)),
        ]
        try line(.object(zip(names, values).map { .init($0, $1) }))
        try reading.forEach { number, event in
            let event = masking?.mask(event) ?? event
            try line(.object([.init("event", .string(Base64.encode(event.bytes)))]))
            return number < last
        }
        for value in traffic { try line(masking?.mask(traffic: value) ?? value) }
    }
}

extension Masking {
    /// A line of a recording, masked as the log is, so that what a machine sends over the one is found in the other.
    fileprivate func mask(traffic value: Value) -> Value {
        if case .array(let words)? = value[member: "command"] {
            let masked = words.map { word -> Value in
                if case .string(let text) = word { .string(mask(quoted: text)) } else { word }
            }
            return value.setting("command", .array(masked))
        }
        guard var exchange = RecordedExchange(value) else { return value.withoutWords }
        exchange.request.query = exchange.request.query.map { HTTPHeader($0.name, mask(quoted: $0.value)) }
        exchange.request.body = exchange.request.body.map { mask(body: $0, isRow: true) }
        switch exchange.outcome {
        case .response(var response):
            response.body = mask(body: response.body, isRow: false)
            exchange.outcome = .response(response)
        case .failure(.offline(let reason)): exchange.outcome = .failure(.offline(mask(reason)))
        case .failure(.refused(let reason)): exchange.outcome = .failure(.refused(mask(reason)))
        case .failure(.cancelled), .failure(.notSent): break
        }
        return exchange.value
    }

    private func mask(body: [UInt8], isRow: Bool) -> [UInt8] {
        guard let value = try? Value(json: body) else { return Array(mask(String(decoding: body, as: UTF8.self)).utf8) }
        return Array(mask(json: value, isRow: isRow).json.utf8)
    }

    /// Rows are masked wherever they are: objects with an id that hold no row themselves. What else an answer has is the
    /// protocol's, but for words about an error.
    private func mask(json value: Value, isRow: Bool) -> Value {
        switch value {
        case .array(let elements): return .array(elements.map { mask(json: $0, isRow: false) })
        case .object(let members):
            let wraps = members.contains {
                ["item", "row", "results", "value", "operations", "changes"].contains($0.name)
            }
            let holdsRow = !wraps && (isRow || members.contains { $0.name == "id" })
            return .object(
                members.map { member in
                    if holdsRow {
                        return Masking.isPlain(member.name) ? member : .init(member.name, mask(member.value))
                    }
                    if case .string(let text) = member.value,
                        ["error", "message", "detail", "title", "nextLink"].contains(member.name)
                    {
                        return .init(member.name, .string(mask(text)))
                    }
                    return .init(member.name, mask(json: member.value, isRow: ["item", "row"].contains(member.name)))
                })
        default: return value
        }
    }
}

extension Value {
    /// A command's report without what is said in words: they may be the server's, and are no outcome.
    var withoutWords: Value {
        switch self {
        case .array(let elements): .array(elements.map(\.withoutWords))
        case .object(let members):
            .object(
                members.filter { $0.name != "message" && $0.name != "warnings" }
                    .map { .init($0.name, $0.value.withoutWords) })
        default: self
        }
    }

    /// An object with a member replaced.
    fileprivate func setting(_ name: String, _ value: Value) -> Value {
        guard case .object(let members) = self else { return self }
        return .object(members.map { $0.name == name ? .init(name, value) : $0 })
    }
}
