// `search`: finds a string in the rows of a store and in its history, in any case.

import SegmentLog
import Syncline

enum SearchCommand {
    static let command = Command(
        "search", "find a string in rows and in the history",
        details: [
            """
            Upper and lower case are equal. Ids and strings are searched, also within arrays and objects, but not \
            numbers or system columns. Rows are listed first, then the events that had the string, newest last.
            """
        ],
        operands: [Operand("TEXT", "the string", isRequired: true)],
        options: [
            Option("table", value: "TABLE", "only in this table"),
            Option("rows", "only in rows").excluding("history", "since"),
            Option("history", "only in events").excluding("rows", "at"),
            Option("since", value: "ADDRESS", "only in events from this moment on"),
            Option("limit", short: "n", value: "N", "at most N rows, and the N newest events (default: 100)"), .at,
        ],
        examples: [
            Example("syncline search milk", "where it is, and where it was"),
            Example("syncline search milk --history --since yesterday", "only in new events"),
        ],
        result:
            #"[{"event":null or "@41","kind":"row" or as in log,"table","id","column","parts":["before","found","after"]}]"#,
        exits: [Exit(.no, "it was not found"), Exit(.partial, "some events can't be read")], run: run)

    private static func run(_ arguments: Arguments, _ context: Context) async throws -> ExitCode {
        guard !arguments.operands[0].isEmpty else { throw ToolError.usage("the string is empty") }
        let limit = Int(try arguments.number("limit", in: 1...1_000_000) ?? 100)
        let search = RowSearch(arguments.operands[0], rows: .max, matches: limit)
        let table = arguments.value("table")
        let view = try await context.view(arguments, at: arguments.value("at"))
        if let table { try context.check(table: table, view.reader) }
        var list = try ListWriter(context.output, ["EVENT", "KIND", "ROW", "COLUMN", "TEXT"])
        var count = 0
        if !arguments.flag("history") {
            count += try context.whileReading("searching") {
                try rows(search, view.reader, table.map { [$0] } ?? view.reader.tables(), limit, &list, context)
            }
        }
        if !arguments.flag("rows") {
            count += try events(search, view.storage, table, limit, &list, arguments, context)
        }
        try list.finish()
        return count > 0 ? .done : .no
    }

    private static func rows(
        _ search: RowSearch, _ reader: StateReader, _ tables: [String], _ limit: Int, _ list: inout ListWriter,
        _ context: Context
    ) throws -> Int {
        var count = 0
        for table in tables {
            let found = try search.run(reader, table, from: nil)
            for match in found.matches.prefix(limit - count) {
                count += 1
                try add(HistoryMatch(event: nil, kind: "row", table: table, match), to: &list, context)
            }
            if found.next != nil || count == limit {
                context.narration.warn("only the first \(counted(UInt64(limit), "row")) are listed")
                return count
            }
        }
        return count
    }

    private static func events(
        _ search: RowSearch, _ storage: any LogStorage, _ table: String?, _ limit: Int, _ list: inout ListWriter,
        _ arguments: Arguments, _ context: Context
    ) throws -> Int {
        let now = context.clock.now().rawValue
        let first = try arguments.value("since").map { try Moment.first(from: $0, storage, now: now) } ?? 1
        let last = try arguments.value("at").map { try context.event(at: $0, storage) } ?? .max
        let claim = HistoryReading.claim(storage)
        defer { claim?.release() }
        var found: [HistoryMatch] = []
        var left = 0
        try context.whileReading("searching") {
            try EventReading(storage, context).forEach(from: first) { number, event in
                if number > last || context.output.isClosed { return false }
                found += HistoryMatch.all(search, in: event, number: number).filter {
                    table == nil || $0.table == table
                }
                if found.count >= 2 * limit {
                    left += found.count - limit
                    found.removeFirst(found.count - limit)
                }
                return true
            }
        }
        left += max(0, found.count - limit)
        if left > 0 { context.narration.warn("\(counted(UInt64(left), "older place")) in events not listed") }
        for match in found.suffix(limit) { try add(match, to: &list, context) }
        return min(found.count, limit)
    }

    private static func add(_ match: HistoryMatch, to list: inout ListWriter, _ context: Context) throws {
        let style = context.output.style
        let text = match.parts.enumerated().map {
            style.paint(escaped($1), $0 == 1 && !style.isForPeople ? .good : .plain)
        }
        try list.row(
            [
                Cell(match.event.map { "@\($0)" } ?? "now", .address), Cell(match.kind),
                Cell(escaped(match.id.map { "\(match.table)/\($0)" } ?? match.table)), Cell(escaped(match.column)),
                Cell(text.joined()),
            ], json: match.json)
    }
}

/// A place of the string in an event or in a row.
private struct HistoryMatch {
    var event: UInt64?
    var kind: String
    var table: String
    var id: String?
    var column: String
    var parts: [String]

    init(event: UInt64?, kind: String, table: String, _ match: RowSearch.Match, hasID: Bool = true) {
        (self.event, self.kind, self.table) = (event, kind, table)
        (id, column, parts) = (hasID ? match.id : nil, match.column, match.parts)
    }

    /// The first place in each row of an event, in an answer's message, or in a setting.
    static func all(_ search: RowSearch, in event: Event, number: UInt64) -> [HistoryMatch] {
        var found: [HistoryMatch] = []
        func look(_ table: String, _ id: String, _ columns: Row?, _ more: [Value.Member] = []) {
            guard let match = search.match(id, (columns?.members ?? []) + more) else { return }
            found.append(HistoryMatch(event: number, kind: event.cause, table: table, match))
        }
        switch event.body {
        case .local(let transaction):
            for change in transaction.changes { look(change.table, change.id, change.columns) }
        case .page(let page):
            for row in page.rows { look(page.table, row.id, row.row) }
            for row in page.unreadable { look(page.table, row.id ?? "", nil, [.init("reason", .string(row.reason))]) }
        case .answered(let answer):
            let message = answer.message.map { [Value.Member("message", .string($0))] } ?? []
            look(answer.table, answer.id, answer.outcome.row, message)
        case .resolved(let resolution): look(resolution.table, resolution.id, resolution.change?.columns)
        case .purged(let purge): for id in purge.ids ?? [] { look(purge.table, id, nil) }
        case .discarded(let table, let id): look(table, id, nil)
        case .sent(let operations): for operation in operations { look(operation.table, operation.id, nil) }
        case .configured(let name, let value):
            guard let match = search.match(name, value.map { [.init("value", $0)] } ?? []) else { break }
            found.append(HistoryMatch(event: number, kind: event.cause, table: name, match, hasID: false))
        default: break
        }
        return found
    }

    var json: JSONValue {
        [
            "event": .optional(event.map { "@\($0)" }), "kind": .string(kind), "table": .string(table),
            "id": .optional(id), "column": .string(column), "parts": .array(parts.map(JSONValue.string)),
        ]
    }
}
