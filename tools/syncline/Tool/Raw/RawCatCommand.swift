// `raw cat`: prints records, one per line, also those after damage; with --follow new ones as they arrive.

import SegmentLog
import SynclineGround

enum RawCatCommand {
    static let command = Command(
        "raw cat", "print records, one per line",
        details: [
            """
            Control characters are escaped, so that a record is always one line; --exact writes its bytes unchanged. \
            Damage is reported on standard error, or at its place in JSON, and every intact record after it is \
            printed.
            """,
            """
            --durable shows only records that are known to survive a power loss. After a kill, the last commits are not yet.
            """,
        ],
        options: [
            Option("from", value: "ADDRESS", "where to start: @41, @41..57, @-1 (the last)"),
            Option("follow", short: "f", "wait for more records and print them").endless,
            Option("durable", "print only durable records"),
            Option("exact", "print the exact bytes of each record"),
            .full, .redact,
        ],
        examples: [
            Example("syncline raw cat --from @-10", "the last ten records"),
            Example("syncline raw cat -f --jsonl", "all records and new ones, for a program"),
        ],
        result: #"[{"sequence":n,"time","text" or "base64"} or {"hole":"@7..9"} or {"address","damage":{…}}]"#,
        exits: [
            Exit(.done, "every requested record was printed"),
            Exit(.partial, "some records can't be read"),
        ],
        run: run)

    private static func run(_ arguments: Arguments, _ context: Context) async throws -> ExitCode {
        let printer = RecordPrinter(arguments, context)
        if arguments.flag("exact"), !context.output.form.isText || arguments.flag("redact") {
            throw ToolError.usage("--exact can't be used with --json, --jsonl or --redact")
        }
        let follows = arguments.flag("follow")
        let address = try arguments.address("from").map { address throws(LogError) in try address.records() }
        if follows, case .range = address {
            throw ToolError.usage("--follow has no end: pass one record to --from, not a range")
        }
        let storage = try context.storage(arguments)
        if follows { context.host.interrupt.listen() }
        try context.output.beginList()
        var next = SequenceNumber.first
        if arguments.flag("durable") {
            next = try readDurable(storage, address, printer)
        } else {
            next = try LogInspection(storage).records(from: address, printer.show)
        }
        if follows {
            try await follow(storage, from: next, arguments.flag("durable") ? .durable : .written, printer, context)
        }
        try context.output.endList()
        return printer.hasLoss ? .partial : .done
    }

    /// Prints the durable records; returns where to continue.
    private static func readDurable(
        _ storage: POSIXStorage, _ address: RecordAddress?, _ printer: RecordPrinter
    ) throws -> SequenceNumber {
        let inspection = LogInspection(storage)
        let end = try inspection.lastDurableRecord()
        let next = try inspection.records(from: address) { found in
            if case .record(let record) = found, record.sequence > end { return }
            try printer.show(found)
        }
        return min(next, end.next)
    }

    private static func follow(
        _ storage: POSIXStorage, from start: SequenceNumber, _ visibility: LogReader.Visibility,
        _ printer: RecordPrinter,
        _ context: Context
    ) async throws {
        let reader = try LogReader.open(storage, showing: visibility)
        var cursor = try reader.cursor(from: start)
        while true {
            while try cursor.nextFrame() {
                if let hole = cursor.lastHole, hole.first >= start { try printer.show(.hole(hole)) }
                try cursor.forEachRecord { number, bytes in
                    let record = RecordEntry(
                        sequence: number, time: cursor.time, bytes: bytes.withUnsafeBytes { [UInt8]($0) })
                    try printer.show(.record(record))
                }
                if context.host.interrupt.isSet { return }
            }
            try context.output.flush()
            if context.output.isClosed { throw ClosedPipe() }
            try? await Task.sleep(for: .milliseconds(50))
            if context.host.interrupt.isSet || Task.isCancelled { return }
        }
    }
}

/// Prints records as lines.
private final class RecordPrinter {
    private let output: Output
    private let narration: Narration
    private let isExact: Bool
    private let isFull: Bool
    private let isRedacted: Bool
    /// Whether an acknowledged record could not be shown.
    private(set) var hasLoss = false

    init(_ arguments: Arguments, _ context: Context) {
        output = context.output
        narration = context.narration
        isExact = arguments.flag("exact")
        isFull = arguments.flag("full")
        isRedacted = arguments.flag("redact")
    }

    func show(_ found: RecordFound) throws {
        switch found {
        case .record(let record): try show(record)
        case .hole(let range):
            try output.element(["hole": .string(range.description)])
            warn("\(range) are known to be lost")
        case .damage(let damage):
            if damage.remedy != .cutTail { hasLoss = true }
            try output.element(["address": .string(damage.address), "damage": damage.json])
            warn(damage.sentence)
        }
    }

    private func warn(_ text: String) {
        if output.form.isText { narration.warn(text) }
    }

    private func show(_ record: RecordEntry) throws {
        guard output.form.isText else { return try output.element(json(record)) }
        let isPlain = output.form == .plain && !isRedacted && record.bytes.allSatisfy { (0x20..<0x7f).contains($0) }
        if isExact || isPlain { return try output.raw(record.bytes + [0x0a]) }
        let text = isRedacted ? "\(kind(record.bytes)) of \(record.bytes.count) bytes" : escaped(bytes: record.bytes)
        guard output.form == .human else { return try output.line(text) }
        let number = record.sequence.description
        let room = (output.style.width ?? 80) - number.count - 2
        try output.line(
            output.style.paint(number, .address) + "  " + (isFull ? text : output.style.cut(text, to: room)))
    }

    private func json(_ record: RecordEntry) -> JSONValue {
        let head: JSONValue = ["sequence": .number(record.sequence.rawValue), "time": .string(record.time.text)]
        if isRedacted {
            return head.adding(["type": .string(kind(record.bytes)), "bytes": .number(record.bytes.count)])
        }
        if let text = record.bytes.withBytes({ String(validUTF8: $0) }) { return head.adding(["text": .string(text)]) }
        return head.adding(["base64": .string(Base64.encode(record.bytes))])
    }

    private func kind(_ bytes: [UInt8]) -> String {
        bytes.withBytes({ String(validUTF8: $0) }) == nil ? "binary" : "text"
    }
}
