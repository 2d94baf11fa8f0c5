// `export` and `import`: rows as data, out and in.

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
            "`events` are the log's events, as `log --json` tells them, for other programs; `import` takes rows only.",
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
        try context.output.beginList()
        let last = try arguments.value("at").map { try Moment($0, try context.storage(arguments)).event } ?? .max
        let table = arguments.value("table")
        try EventReading(try context.storage(arguments), context).forEach { number, event in
            if number > last { return false }
            let summary = EventSummary(number: number, event: event, redacts: arguments.flag("redact"))
            if let table, !summary.tables.contains(table) { return true }
            let json = summary.json
            try context.output.element(json)
            try context.output.line(json.text)
            return true
        }
        try context.output.endList()
        return .done
    }

    static let `import` = Command(
        "import", "inserts rows that `export` wrote",
        details: [
            "Reads a line a row, {\"table\":…,\"row\":{…}}, or rows alone with --table. All are stored, or none."
        ],
        options: [Option("table", value: "TABLE", "the table, where the lines are rows alone")],
        examples: [Example("syncline import < rows.jsonl", "as pending inserts")], result: #"{"rows":n}"#
    ) { arguments, context in
        var rows: [(table: String, item: Value)] = []
        while let line = try context.host.input.next() {
            if line.isEmpty { continue }
            rows.append(try parse(line, rows.count + 1, arguments.value("table")))
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

    private static func parse(
        _ line: [UInt8], _ number: Int, _ table: String?
    ) throws(ToolError) -> (table: String, item: Value) {
        let value = try Value.item(line, line: number)
        if let table { return (table, value) }
        guard case .object(let members) = value,
            case .string(let name)? = members.last(where: { $0.name == "table" })?.value,
            let row = members.last(where: { $0.name == "row" })?.value
        else {
            throw ToolError(
                "invalid-item", "line \(number): a row comes as {\"table\":…,\"row\":{…}}",
                hint: "Name the table with --table if the lines are rows alone.")
        }
        return (name, row)
    }
}
