// `log`, `tail`, `show`: show the events in the log.

import SegmentLog
import Syncline

enum LogCommands {
    static let log = Command(
        "log", "list events, the newest last",
        details: [
            """
            Events that can't be read are named on standard error, and the exit code is 4.
            """,
            """
            The events of a row are reduced to the part that concerns it; `show` has the rest.
            """,
            Moment.details,
        ],
        operands: [
            Operand(
                "ADDRESS",
                "@41, @41..57, 9:00..11:30 or yesterday, both ends included; or a row: TodoItem/7f3a (default: all events)"
            )
        ],
        options: [
            Option("row", value: "TABLE/ID", "only events of this row; the id is all after the slash, also `@`")
                .excluding("table"),
            Option("since", value: "ADDRESS", "only events from this moment on"),
            Option("table", value: "TABLE", "only events of this table"),
            Option("kind", value: "KIND", choices: EventKind.causes, "only events of this kind"),
            Option("limit", short: "n", value: "N", "show the N newest"),
            .at, .full, .redact,
        ],
        examples: [
            Example("syncline log -n 20", "show the last twenty"),
            Example("syncline log yesterday", "what happened yesterday"),
            Example("syncline log todoitem/a --since \"2 hours ago\"", "what happened to a row"),
        ],
        result: #"[{"address":"@41","time","kind",…}]"#,
        exits: [Exit(.no, "no event concerns the row"), Exit(.partial, "some events can't be read")]
    ) { arguments, context in
        let storage = try context.storage(arguments)
        if let row = try row(arguments) { return try await log(of: row, storage, arguments, context) }
        let table = arguments.value("table")
        let reader = try await context.view(arguments).reader
        if let table { try reader.declaration.check(table) }
        let kind = arguments.value("kind")
        let (first, last) = try range(arguments, storage, context)
        let limit = try arguments.number("limit", in: 1...1_000_000).map { Int($0) }
        let reading = EventReading(storage, context)
        let claim = HistoryReading.claim(storage)
        defer { claim?.release() }
        var list = try EventList(context, arguments)
        var hasTable = table == nil
        func matches(_ event: Event) -> Bool {
            if let table {
                guard EventSummary(number: 0, event: event).tables.contains(table) else { return false }
                hasTable = true
            }
            return kind == nil || kind == event.cause
        }
        // Without a limit, events are written as they are read.
        if let limit {
            let newest = try context.whileReading("searching") {
                try reading.newest(limit, from: first, through: last, where: matches)
            }
            for (number, event) in newest { try list.add(number, event) }
        } else {
            try context.whileListing("reading") {
                try reading.forEach(from: first) { number, event in
                    if number > last || context.output.isClosed { return false }
                    if matches(event) { try list.add(number, event) }
                    return true
                }
            }
        }
        // A table that is not there any more may have events.
        if let table, !hasTable { try context.check(table: table, reader) }
        return try list.finish()
    }

    /// The row whose events are wanted; nil for those of all rows.
    private static func row(_ arguments: Arguments) throws -> RowFocus? {
        if let text = arguments.value("row") {
            guard let slash = text.firstIndex(of: "/") else { throw ToolError.usage("--row takes TABLE/ID") }
            return RowFocus(table: String(text[..<slash]), id: String(text[text.index(after: slash)...]))
        }
        guard let text = arguments.operands.first, !text.hasPrefix("@"), text.contains("/") else { return nil }
        let address = try RowAddress(text)
        guard address.moment == nil else {
            throw ToolError.usage(
                "`log` takes a row without a moment", hint: "Use --at, or --row if `@` is part of the id.")
        }
        return RowFocus(table: address.table, id: address.id)
    }

    private static func log(
        of row: RowFocus, _ storage: any LogStorage, _ arguments: Arguments, _ context: Context
    ) async throws -> ExitCode {
        let reader = try await context.view(arguments).reader
        try reader.declaration.check(row.table)
        let (first, last) = try range(arguments, storage, context)
        let kind = arguments.value("kind")
        let limit = try arguments.number("limit", in: 1...1_000_000).map { Int($0) } ?? .max
        var events = RowEvents(row, try reader.idComparison)
        var found: [(number: UInt64, event: Event)] = []
        let claim = HistoryReading.claim(storage)
        defer { claim?.release() }
        try context.whileReading("searching") {
            try EventReading(storage, context).forEach(of: &events, from: first, through: last) { number, part in
                if kind == nil || kind == part.cause { found.append((number, part)) }
                return true
            }
        }
        var list = try EventList(context, arguments)
        for (number, part) in found.suffix(limit) {
            try list.add(number, part, line: RowEvents.line(of: part, redacts: arguments.flag("redact")))
        }
        try list.finish()
        if !found.isEmpty { return .done }
        try await context.hint(missing: (row.table, row.id), at: nil, arguments)
        return .no
    }

    private static func range(
        _ arguments: Arguments, _ storage: any LogStorage, _ context: Context
    ) throws -> (first: UInt64, last: UInt64) {
        let now = context.clock.now().rawValue
        let end = try arguments.value("at").map { try Moment($0, storage, now: now).event } ?? .max
        let since = try arguments.value("since").map { try Moment.first(from: $0, storage, now: now) } ?? 1
        guard let text = arguments.operands.first, try row(arguments) == nil || arguments.value("row") != nil else {
            return (since, end)
        }
        if let range = try Moment.range(text, storage, now: now) {
            return (max(since, range.lowerBound), min(end, range.upperBound))
        }
        switch Address(text) {
        case .records(.range(let range))?:
            let last = try Moment("@\(range.last.rawValue)", storage, now: now).event
            return (max(since, range.first.rawValue), min(end, last))
        case .records?:
            let event = try Moment(text, storage, now: now).event
            return (max(since, event), min(end, event))
        default:
            throw ToolError.usage(
                "`log` does not take `\(escaped(text))`",
                hint:
                    "Write @41, @41..57, yesterday, 11:00..12:00 or TodoItem/7f3a; for all since 11:00, --since 11:00.")
        }
    }

    static let tail = Command(
        "tail", "show the newest events, and with -f new ones as they arrive",
        options: [
            Option("follow", short: "f", "wait for new events until interrupted").endless,
            Option("limit", short: "n", value: "N", "start with the N newest (default: 10)"),
            .full, .redact,
        ],
        examples: [Example("syncline tail -f", "watch the writes of another process")],
        result: "one event per line, with --jsonl"
    ) { arguments, context in
        let storage = try context.storage(arguments)
        let limit = Int(try arguments.number("limit", in: 1...1_000_000) ?? 10)
        let reading = EventReading(storage, context)
        var next = try reading.first(ofLast: limit)
        var list = try EventList(context, arguments)
        try reading.forEach(from: next) { number, event in
            try list.add(number, event)
            next = number + 1
            return true
        }
        guard arguments.flag("follow") else {
            return try list.finish()
        }
        try list.flush()
        let shapes = ShapeTable()
        try await context.follow(storage, from: next) { cursor in
            try cursor.forEachRecord { (number, record) throws in
                try list.add(number.rawValue, try record.withUnsafeBytes { try Event($0, shapes: shapes) })
            }
        } caughtUp: {
            try list.flush()
        }
        return try list.finish()
    }

    static let show = Command(
        "show", "show one event, frame, row or operation in full",
        operands: [
            Operand("ADDRESS", "@41, s7:5209663, TodoItem/7f3a, TodoItem/7f3a@41 or ~3", isRequired: true)
        ],
        options: [.at, .redact],
        examples: [
            Example("syncline show @-1", "show the last event"),
            Example("syncline show ~1", "show the first operation of a push"),
        ],
        result: "object", exits: [Exit(.no, "the event, frame, row or operation does not exist")]
    ) { arguments, context in
        let text = arguments.operands[0]
        let redacts = arguments.flag("redact")
        let at = arguments.value("at")
        let json: JSONValue?
        if text.hasPrefix("@") {
            json = try event(text, try context.storage(arguments), redacts, context)
        } else if text.hasPrefix("~") {
            let reader = try await context.view(arguments, at: at).reader
            json = try operation(text, reader, redacts)
        } else if case .position? = Address(text) {
            json = try frame(text, LogInspection(try context.storage(arguments)))
        } else {
            let address = try RowAddress(text)
            let focus = RowFocus(table: address.table, id: address.id)
            let reader = try await context.view(arguments, at: address.moment ?? at, of: focus).reader
            try reader.declaration.check(address.table)
            json = try reader.entry(address.table, address.id).map {
                EntrySummary.json($0, address.id, redacts: redacts)
            }
        }
        guard let json else {
            try context.output.value(.null)
            if context.output.form.isText { context.narration.say("\(escaped(text)) does not exist") }
            return .no
        }
        return try context.output.result(json, lines: json.lines())
    }

    private static func event(
        _ text: String, _ storage: any LogStorage, _ redacts: Bool, _ context: Context
    ) throws -> JSONValue? {
        let wanted = try context.event(at: text, storage)
        var json: JSONValue?
        try EventReading(storage, context).forEach(from: wanted) { number, event in
            if number == wanted { json = EventSummary(number: number, event: event, redacts: redacts).json }
            return false
        }
        return json
    }

    private static func frame(_ text: String, _ inspection: LogInspection) throws -> JSONValue? {
        struct Found: Error {}
        var json: JSONValue?
        do {
            try inspection.frames(FrameSelection(at: Address(text))) { found in
                switch found {
                case .item(let frame): json = frame.json()
                case .damage(let damage): json = ["address": .string(damage.address), "damage": damage.json]
                }
                throw Found()
            }
        } catch is Found {}
        return json
    }

    private static func operation(_ text: String, _ reader: StateReader, _ redacts: Bool) throws -> JSONValue? {
        guard let number = Int(text.dropFirst()), number > 0 else {
            throw ToolError.usage("write an operation as ~1, ~2, …")
        }
        let operations = try reader.outbox()
        guard number <= operations.count else { return nil }
        let report = operations[number - 1]
        let head = OutboxJSON.json(report, number: number)
        return try reader.entry(key: report.operation.rowKey).map {
            head.adding(membersOf: EntrySummary.json($0, report.operation.id, redacts: redacts))
        } ?? head
    }
}
