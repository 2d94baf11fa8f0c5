// `export` and `import`: rows as data, out and in.

import SegmentLog
import Syncline
import SynclineCore
import SynclineInspect
import SynclineWire

enum ExchangeCommands {
    static let export = Command(
        "export", "writes rows as data",
        details: [
            """
            `sql` makes the data tables, and three more: what is to be pushed (MS_TableOperations), what waits for a \
            decision (MS_TableOperationErrors) and the cursors (MS_TableConfig), as the retired client's store had them.
            """,
            """
            `events` are the log's events, as `log --json` tells them, for other programs, and each as the log has it \
            (`record`), from which `import` makes the same store elsewhere. Where the history before them was let go of, \
            the state before the first comes first: its `address`, the version of the fold, its digest and the counts of \
            changes (`state`), and its entries (`entries`). With --table or --redact there is no state.
            """,
        ],
        options: [
            Option("format", value: "FORMAT", choices: ["jsonl", "csv", "sql", "events"], "jsonl"),
            Option("table", value: "TABLE", "one table; all of them"), .at, .redact,
        ],
        examples: [
            Example("syncline export --format csv --table todoitem > todo.csv", "for a spreadsheet"),
            Example("syncline export --format sql | sqlite3 out.db", "for SQL"),
        ],
        result: #"[{"table","row"}]"#
    ) { arguments, context in
        let view = try await context.view(arguments, at: arguments.value("at"))
        let format = arguments.value("format") ?? "jsonl"
        if format == "events" { return try exportEvents(arguments, context) }
        if let table = arguments.value("table") { try view.reader.declaration.check(table) }
        let tables = try arguments.value("table").map { [$0] } ?? view.reader.tables()
        let isSQL = format == "sql" && context.output.form.isText
        if isSQL { try context.output.line("BEGIN;") }
        try context.output.beginList()
        for table in tables {
            var rows = try view.reader.run(Query(table: table)).rows
            if arguments.flag("redact") { rows = rows.map(\.redacted) }
            for row in rows {
                try context.output.element(["table": .string(table), "row": JSONValue(row)])
            }
            guard context.output.form.isText else { continue }
            switch format {
            case "csv":
                for line in RowText.csv(rows) {
                    try context.output.line(context.output.form == .human ? escaped(line) : line)
                }
            case "sql": try SQLText.table(table, rows).forEach { try context.output.line($0) }
            default:
                for row in rows {
                    let json: JSONValue = ["table": .string(table), "row": JSONValue(row)]
                    try context.output.line(json.text)
                }
            }
        }
        try context.output.endList()
        if isSQL {
            let system = arguments.value("table") == nil ? try SystemTables.sql(view.reader) : []
            for line in system + ["COMMIT;"] { try context.output.line(line) }
        }
        return .done
    }

    private static func exportEvents(_ arguments: Arguments, _ context: Context) throws -> ExitCode {
        let storage = try context.storage(arguments)
        let claim = HistoryReading.claim(storage)
        defer { claim?.release() }
        try context.output.beginList()
        let last = try arguments.value("at").map { try Moment($0, storage).event } ?? .max
        let table = arguments.value("table")
        let redacts = arguments.flag("redact")
        var first: UInt64 = 1
        if try LogReader.open(storage, showing: .written).floor > .first, table == nil, !redacts {
            let state = try StateLoader(storage).earliest()
            first = state.through + 1
            try StateLines.forEach(of: state) { line in
                try context.output.element(line)
                try context.output.line(line.text)
            }
        }
        try EventReading(storage, context).forEach(from: first) { number, event in
            if number > last { return false }
            let summary = EventSummary(number: number, event: event, redacts: redacts)
            if let table, !summary.tables.contains(table) { return true }
            let record = summary.redacts ? nil : JSONValue.string(Base64.encode(event.bytes))
            let json = summary.json.adding(["record": record])
            try context.output.element(json)
            try context.output.line(json.text)
            return true
        }
        try context.output.endList()
        return .done
    }

    static let `import` = Command(
        "import", "takes in what `export` wrote: rows, or the events of a whole store",
        details: [
            """
            Rows are inserted: a line a row, {"table":…,"row":{…}}, or rows alone with --table. All are stored, or none.
            """,
            """
            Events, as `export --format events` writes them, make a store where there is none: in the directory that \
            --store names, or in .syncline in the current one. It has the history, the outbox and the conflicts of the \
            other. Each line is read by its `address` and its `record`, and folded; where one is wrong no store is made. \
            The first event that the other still had is the first of the new one. A report, as `report` writes it, makes a \
            store in the same way.
            """,
        ],
        options: [Option("table", value: "TABLE", "the table, where the lines are rows alone")],
        examples: [
            Example("syncline import < rows.jsonl", "as pending inserts"),
            Example("syncline import --store copy < events.jsonl", "a store with the same history"),
        ],
        result: #"{"rows":n}, or {"store":"…","events":"@1..41"}"#
    ) { arguments, context in
        var rows: [(table: String, item: Value)] = []
        var number = 0
        while let line = try context.host.input.next() {
            number += 1
            if line.isEmpty { continue }
            let value = try Value.item(line, line: number)
            let table = arguments.value("table")
            if rows.isEmpty, table == nil, Report.begins(with: value) {
                return try importReport(line, arguments, context)
            }
            if rows.isEmpty, table == nil, EventImport.holdsEvent(value) {
                return try importEvents(value, number, arguments, context)
            }
            rows.append(try row(value, number, table))
        }
        let all = rows
        try await context.withDatabase(arguments) { database in
            try await database.transaction { transaction in
                for (table, item) in all { try transaction.insert(table, item) }
            }
        }
        try context.output.value(["rows": .number(all.count)])
        try context.output.line("\(all.count) rows")
        return .done
    }

    private static func importEvents(
        _ first: Value, _ number: Int, _ arguments: Arguments, _ context: Context
    ) throws -> ExitCode {
        let path = try StoreLocation.new(arguments, context.environment).path
        var number = number
        var events = try EventImport(path: path)
        do {
            try events.add(first, number)
            while let line = try context.host.input.next() {
                number += 1
                if !line.isEmpty { try events.add(try Value.item(line, line: number), number) }
            }
            try events.finish(number)
        } catch {
            events.giveUp()
            throw error
        }
        return try show(path, events.events, events.first, context)
    }

    private static func importReport(
        _ head: [UInt8], _ arguments: Arguments, _ context: Context
    ) throws -> ExitCode {
        let path = try StoreLocation.new(arguments, context.environment).path
        let report = try ReportReading.read(
            head: head, context.host.input, name: "the input", store: path)
        return try show(path, report.events, report.first, context)
    }

    private static func show(
        _ path: String, _ events: ClosedRange<UInt64>?, _ first: UInt64?, _ context: Context
    ) throws -> ExitCode {
        let range = events.map { "@\($0.lowerBound)..\($0.upperBound)" }
        try context.output.value(["store": .string(path), "events": .optional(range)])
        try context.output.line(
            "created \(escaped(path)) of \(counted(UInt64(events?.count ?? 0), "event"))"
                + ((first ?? 1) > 1 ? " and the state before them" : ""))
        return .done
    }

    private static func row(
        _ value: Value, _ number: Int, _ table: String?
    ) throws(ToolError) -> (table: String, item: Value) {
        if let table { return (table, value) }
        guard case .string(let name)? = value[member: "table"], let row = value[member: "row"] else {
            throw ToolError(
                "invalid-item", "line \(number): a row comes as {\"table\":…,\"row\":{…}}",
                hint: "Name the table with --table if the lines are rows alone.")
        }
        return (name, row)
    }
}
