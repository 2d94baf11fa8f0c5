// `log`, `tail`, `show`, `diff`, `blame`: what happened to a store, and what came of it.

import SegmentLog
import Syncline
import SynclineCore
import SynclineInspect

enum HistoryCommands {
    static let log = Command(
        "log", "lists events, the newest last",
        operands: [Operand("ADDRESS", "@41 or @41..57; all events without it")],
        options: [
            Option("table", value: "TABLE", "of one table"),
            Option(
                "kind", value: "KIND",
                choices: Event.causes, "of one kind"),
            Option("limit", short: "n", value: "N", "the newest so many"),
        ],
        examples: [Example("syncline log -n 20", "the last twenty")],
        result: #"[{"address":"@41","time","kind",…}]"#
    ) { arguments, context in
        let storage = try context.storage(arguments)
        let range = try range(arguments, storage)
        var found: [EventSummary] = []
        let limit = Int(try arguments.number("limit", in: 1...1_000_000) ?? 1_000_000)
        var first = range.lowerBound
        if arguments.operands.isEmpty, arguments.value("kind") == nil, arguments.value("table") == nil {
            first = try EventWalk(storage).first(ofLast: limit)
        }
        try EventWalk(storage).forEach(from: first) { number, event in
            if number > range.upperBound { return false }
            let summary = EventSummary(number: number, event: event)
            if let kind = arguments.value("kind"), kind != event.cause { return true }
            if let table = arguments.value("table"), !summary.tables.contains(table) { return true }
            found.append(summary)
            if found.count > 2 * limit { found.removeFirst(found.count - limit) }
            return true
        }
        try show(found.suffix(limit), context)
        return .done
    }

    private static func range(_ arguments: Arguments, _ storage: any LogStorage) throws -> ClosedRange<UInt64> {
        switch try arguments.address(at: 0) {
        case nil: return 1...UInt64.max
        case .record(let number)?: return number.rawValue...number.rawValue
        case .records(let range)?: return range.first.rawValue...range.last.rawValue
        case .fromEnd?:
            let event = try Moment(arguments.operands[0], storage).event
            return event...event
        default: throw ToolError.usage("log takes @41, @41..57 or @-1")
        }
    }

    private static func show(_ events: some Sequence<EventSummary>, _ context: Context) throws {
        var list = try ListWriter(context.output, [Column("event"), Column("time"), Column("kind"), Column("what")])
        for event in events {
            try list.row(
                [
                    Cell("@\(event.number)"), Cell(event.time), Cell(event.event.cause), Cell(escaped(event.line)),
                ],
                json: event.json)
        }
        try list.finish()
    }

    static let tail = Command(
        "tail", "shows the newest events, and with -f those to come",
        options: [
            Option("follow", short: "f", "waits for more, until interrupted"),
            Option("limit", short: "n", value: "N", "how many to begin with; 10"),
        ],
        examples: [Example("syncline tail -f", "watches another process write")],
        result: "an event a line, with --jsonl"
    ) { arguments, context in
        let storage = try context.storage(arguments)
        let limit = Int(try arguments.number("limit", in: 1...1_000_000) ?? 10)
        var found: [EventSummary] = []
        let walk = EventWalk(storage)
        var last = try walk.last
        try walk.forEach(from: try walk.first(ofLast: limit)) { number, event in
            found.append(EventSummary(number: number, event: event))
            last = number
            return true
        }
        try show(found.suffix(limit), context)
        guard arguments.flag("follow") else { return .done }
        context.host.interrupt.listen()
        while !context.host.interrupt.isSet, !context.output.isClosed {
            try await Task.sleep(for: .milliseconds(100))
            try EventWalk(storage).forEach(from: last + 1) { number, event in
                let summary = EventSummary(number: number, event: event)
                try context.output.value(summary.json)
                try context.output.line("@\(number)  \(summary.time)  \(event.cause)  \(escaped(summary.line))")
                last = number
                return true
            }
            try context.output.flush()
        }
        return .done
    }

    static let show = Command(
        "show", "shows one event, row or operation in full",
        operands: [Operand("ADDRESS", "@41, TodoItem/7f3a, TodoItem/7f3a@41 or ~3", isRequired: true)],
        examples: [Example("syncline show @-1", "the last event")], result: "object",
        exits: [Exit(.no, "there is no such thing")]
    ) { arguments, context in
        let text = arguments.operands[0]
        let json: JSONValue?
        if text.hasPrefix("@") {
            json = try event(text, try context.storage(arguments))
        } else if text.hasPrefix("~") {
            let reader = try await context.view(arguments).reader
            json = try operation(text, reader)
        } else {
            let address = try RowAddress(text)
            let reader = try await context.view(arguments, at: address.moment).reader
            json = try reader.entry(address.table, address.id).map { EntrySummary.json($0, address.id) }
        }
        guard let json else {
            try context.output.value(.null)
            return .no
        }
        try context.output.value(json)
        try context.output.line(json.text)
        return .done
    }

    private static func event(_ text: String, _ storage: any LogStorage) throws -> JSONValue? {
        let wanted = try Moment(text, storage).event
        var json: JSONValue?
        try EventWalk(storage).forEach(from: wanted) { number, event in
            if number == wanted { json = EventSummary(number: number, event: event).json }
            return false
        }
        return json
    }

    private static func operation(_ text: String, _ reader: StateReader) throws -> JSONValue? {
        guard let number = Int(text.dropFirst()), number > 0 else { throw ToolError.usage("an operation is ~1, ~2, …") }
        let operations = try PushPlan(reader).operations
        guard number <= operations.count else { return nil }
        let operation = operations[number - 1]
        return try reader.entry(key: operation.rowKey).map { EntrySummary.json($0, operation.id) }
    }

    static let diff = Command(
        "diff", "shows what changed between two moments, by row and field",
        operands: [
            Operand("A", "a moment: @41", isRequired: true), Operand("B", "a later one; the present without it"),
        ],
        options: [Option("stat", "counts rows only")],
        examples: [Example("syncline diff @41", "since event 41")],
        result: #"[{"table","id","change":"added|removed|changed","fields":[{"name","before","after"}]}]"#,
        exits: [Exit(.done, "nothing differs"), Exit(.no, "something differs")]
    ) { arguments, context in
        let before = try await context.view(arguments, at: arguments.operands[0]).reader
        let after = try await context.view(arguments, at: arguments.operands.count > 1 ? arguments.operands[1] : nil)
            .reader
        var differences: [RowDifference] = []
        try before.differences(to: after) { differences.append($0) }
        if arguments.flag("stat") {
            let counts = ["added", "removed", "changed"].map { word in
                (word, differences.count { $0.change == word })
            }
            try context.output.value(.object(counts.map { .init(key: $0.0, value: .number($0.1)) }))
            try context.output.line(counts.map { "\($0.1) \($0.0)" }.joined(separator: ", "))
        } else {
            try context.output.beginList()
            for difference in differences {
                try context.output.element(difference.json)
                try context.output.line("\(difference.change) \(escaped("\(difference.table)/\(difference.id)"))")
                for field in difference.fields where context.output.form.isText {
                    let (old, new) = (field.before.map { JSONValue($0).text }, field.after.map { JSONValue($0).text })
                    try context.output.line("  \(escaped(field.name)): \(old ?? "–") → \(new ?? "–")")
                }
            }
            try context.output.endList()
        }
        return differences.isEmpty ? .done : .no
    }

    static let blame = Command(
        "blame", "shows which event gave each field of a row its value",
        operands: [Operand("ROW", "TABLE/ID or TABLE/ID.FIELD", isRequired: true)],
        examples: [Example("syncline blame todoitem/a", "every field")],
        result: #"[{"field","value","event":"@41","time","cause"}]"#, exits: [Exit(.no, "there is no such row")]
    ) { arguments, context in
        let address = try RowAddress(arguments.operands[0])
        let storage = try context.storage(arguments)
        let (fields, wanted) = try blame(address, storage)
        var list = try ListWriter(
            context.output, [Column("field"), Column("event"), Column("time"), Column("cause"), Column("value")])
        for origin in fields ?? [] where wanted == nil || wanted == origin.field {
            let time = Timestamp(.init(milliseconds: origin.time)).description
            try list.row(
                [
                    Cell(escaped(origin.field)), Cell("@\(origin.event)"), Cell(time), Cell(origin.cause),
                    Cell(JSONValue(origin.value).text),
                ],
                json: [
                    "field": .string(origin.field), "value": JSONValue(origin.value),
                    "event": .string("@\(origin.event)"), "time": .string(time), "cause": .string(origin.cause),
                ])
        }
        try list.finish()
        return fields == nil ? .no : .done
    }

    /// The row as addressed, or else the field behind its last dot: ids may have dots.
    private static func blame(
        _ address: RowAddress, _ storage: any LogStorage
    ) throws -> (fields: [FieldOrigin]?, field: String?) {
        let loader = StateLoader(storage)
        let start = try loader.earliest()
        let first = start.through + 1
        var whole = try Blame(table: address.table, id: address.id, from: start)
        var part: Blame?
        let dot = address.id.lastIndex(of: ".")
        if let dot {
            part = try Blame(table: address.table, id: String(address.id[..<dot]), from: try loader.earliest())
        }
        try EventWalk(storage).forEach(from: first) { number, event in
            try whole.fold(event, number: number)
            try part?.fold(event, number: number)
            return true
        }
        if whole.fields == nil, let dot, let fields = part?.fields {
            return (fields, String(address.id[address.id.index(after: dot)...]))
        }
        return (whole.fields, nil)
    }
}

/// A row as a person names it: `TodoItem/7f3a`, with `@41` as of that event.
struct RowAddress {
    let table: String
    let id: String
    let moment: String?

    init(_ text: String) throws(ToolError) {
        guard let slash = text.firstIndex(of: "/") else {
            throw .usage("`\(escaped(text))` is no address", hint: "Write @41, TodoItem/7f3a, TodoItem/7f3a@41 or ~3.")
        }
        table = String(text[..<slash])
        let rest = text[text.index(after: slash)...]
        if let at = rest.lastIndex(of: "@"), Address(String(rest[at...])) != nil {
            id = String(rest[..<at])
            moment = String(rest[at...])
        } else {
            id = String(rest)
            moment = nil
        }
    }
}

/// All the state holds of a row.
enum EntrySummary {
    static func json(_ entry: RowEntry, _ id: String) -> JSONValue {
        let id = entry.spelling ?? id
        func row(_ columns: Row?) -> JSONValue { columns.map { JSONValue(StoredRow(id: id, columns: $0)) } ?? .null }
        return [
            "row": row(entry.visible), "base": row(entry.base),
            "pending": entry.pending.map { .optional($0.operation.map { "\($0.kind)" }) } ?? .null,
            "columns": entry.pending.map { JSONValue($0.overlay) } ?? .null,
        ]
    }
}

extension RowDifference {
    var change: String { before == nil ? "added" : after == nil ? "removed" : "changed" }

    var json: JSONValue {
        [
            "table": .string(table), "id": .string(id), "change": .string(change),
            "fields": .array(
                fields.map {
                    [
                        "name": .string($0.name), "before": $0.before.map { JSONValue($0) } ?? .null,
                        "after": $0.after.map { JSONValue($0) } ?? .null,
                    ]
                }),
        ]
    }
}
