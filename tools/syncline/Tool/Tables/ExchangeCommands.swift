// `export` and `import`: write and read rows as data.

import SegmentLog
import Syncline
import SynclineGround
import SynclineSQL

enum ExchangeCommands {
    static let export = Command(
        "export", "write rows as JSON Lines, CSV, SQL, events or an SQLite file",
        details: [
            """
            `sql` writes the tables, the operations to push (MS_TableOperations), those that wait for a decision \
            (MS_TableOperationErrors) and the cursors (MS_TableConfig).
            """,
            """
            `csv` writes a heading and one line per row. A string that looks like a number, true or false is quoted, \
            and a formula of a spreadsheet has an apostrophe before it. `import --format csv` reads the rows back; \
            null and a missing column are the same.
            """,
            "`sqlite` writes FILE, which must not exist, with an ordinary table for each table.",
            """
            `events` writes the events as `log --json` shows them, each with its bytes (`record`): `import` creates \
            the same store from them. If earlier history was removed, the state before the first event comes first: \
            `address`, version, digest and counts (`state`), and its entries (`entries`). With --table or --redact no \
            state is written.
            """,
        ],
        operands: [SQLiteExchange.operand],
        options: [
            Option(
                "format", value: "FORMAT", choices: ["jsonl", "csv", "sql", "events", "sqlite"],
                "output format (default: jsonl)"),
            Option("table", value: "TABLE", "only this table (default: all tables)"),
            Option("output", short: "o", value: "FILE", "write to a file, which appears when it is complete")
                .excluding("FILE"),
            .at, .redact,
        ],
        examples: [
            Example("syncline export --format csv --table todoitem > todo.csv", "write a file for a spreadsheet"),
            Example("syncline export --format sqlite todo.db", "create an SQLite database"),
            Example("syncline export --format events -o events.jsonl", "write the whole history"),
        ],
        result: #"[{"table","row"}], or with --format sqlite {"rows":n}"#
    ) { arguments, context in
        if let file = try SQLiteExchange.file(arguments) {
            return try await SQLiteExchange.export(to: file, arguments, context)
        }
        guard arguments.operands.isEmpty else {
            throw ToolError.usage("a FILE needs --format sqlite", hint: "--output writes another format to a file.")
        }
        guard let file = arguments.value("output") else { return try await write(arguments, context) }
        return try await context.writing(to: file) { try await write(arguments, $0) }
    }

    private static func write(_ arguments: Arguments, _ context: Context) async throws -> ExitCode {
        let view = try await context.view(arguments, at: arguments.value("at"))
        let format = arguments.value("format") ?? "jsonl"
        if format == "events" { return try exportEvents(arguments, view.reader, context) }
        if let table = arguments.value("table") { try context.check(table: table, view.reader) }
        let tables = try arguments.value("table").map { [$0] } ?? view.reader.tables()
        let isSQL = format == "sql" && context.output.form.isText
        if format == "csv", tables.count > 1 {
            context.narration.warn("CSV does not name its table: export one table at a time to import it again")
        }
        if isSQL { try context.output.line("BEGIN;") }
        try context.output.beginList()
        for (table, sqlName) in zip(tables, SQLText.tableNames(tables)) {
            if isSQL, sqlName != table { context.narration.warn("the table \(table) is called \(sqlName) in the SQL") }
            try RowExport(table: table, nameInSQL: sqlName, redacts: arguments.flag("redact"), context: context)
                .write(view.reader, as: format)
        }
        try context.output.endList()
        if isSQL {
            let system = arguments.value("table") == nil ? try SystemTables.sql(view.reader) : []
            for line in system + ["COMMIT;"] { try context.output.line(line) }
        }
        return .done
    }

    private static func exportEvents(
        _ arguments: Arguments, _ reader: StateReader, _ context: Context
    ) throws -> ExitCode {
        let storage = try context.storage(arguments)
        let claim = HistoryReading.claim(storage)
        defer { claim?.release() }
        try context.output.beginList()
        let last = try arguments.value("at").map { try context.event(at: $0, storage) } ?? .max
        let table = arguments.value("table")
        let redacts = arguments.flag("redact")
        var hasTable = table == nil
        var first: UInt64 = 1
        if try LogReader.open(storage, showing: .written).floor > .first, table == nil, !redacts {
            let state = try StateLoader(storage).earliest()
            first = state.through + 1
            try StateLines.forEach(of: state) { try context.output.elementAndLine(EncodedElement($0)) }
        }
        try context.whileListing("exporting") {
            let isWatched = context.output.isWatched
            try EventReading(storage, context).forEach(from: first, through: last) { number, event, bytes in
                let summary = EventSummary(number: number, event: event, redacts: redacts)
                if let table, !summary.tables.contains(table) { return nil }
                let record = redacts ? nil : JSONValue.string(Base64.encode(bytes))
                return EncodedElement(summary.json.adding(["record": record]), keepsValue: isWatched)
            } take: { (element: EncodedElement) in
                hasTable = true
                try context.output.elementAndLine(element)
            }
        }
        // A table that is not there any more may have events.
        if let table, !hasTable { try context.check(table: table, reader) }
        try context.output.endList()
        return .done
    }

    static let `import` = Command(
        "import", "import the output of `export`, or the database file of another client",
        details: [
            """
            Rows are inserted, one per line: {"table":…,"row":{…}}, or only the row with --table. With --format csv the \
            first line names the columns. It is all or none; above 64 MiB, repeat an interrupted import. Rows that are \
            there with the same values stay.
            """,
            """
            --format sqlite inserts the rows of an SQLite FILE, of all tables or of --table. A table needs a column `id`.
            """,
            """
            Events of `export --format events` or `report` create a new store with the same history, outbox and \
            conflicts, unless a line is wrong.
            """,
            """
            A FILE of MSClient (the SQLite file of its Core Data store) or of a Datasync client for .NET creates a new \
            store with its rows and its pending operations; the file is not changed. Describe types that it lacks with \
            --columns, once for each table: 'TodoItem=text:string,complete:bool'. Other names \
            in the store are written 'TodoItems as todoitem=Title as text:string'; 'photo:skip' and 'Settings=skip' \
            leave out a column and a table. The types are string, integer, number, bool, date, uuid, bytes, json and \
            skip. The first pull reads everything again.
            """,
        ],
        operands: [
            Operand("FILE", "an SQLite file, with --format sqlite, or the database file of another client, with --from")
        ],
        options: [
            Option("table", value: "TABLE", "the table, if the lines are only rows"),
            Option("format", value: "FORMAT", choices: ["jsonl", "csv", "sqlite"], "input format (default: jsonl)"),
            Option(
                "from", value: "CLIENT", choices: ForeignClient.allCases.map(\.rawValue),
                "the client that wrote FILE"
            ).excluding("table", "format"),
            Option("columns", value: "TABLE=…", "the columns of a table of FILE, with their types").needing("from"),
            Option("dry-run", "show what would be imported from FILE, without creating a store").needing("from"),
        ],
        examples: [
            Example("syncline import < rows.jsonl", "import rows as pending inserts"),
            Example("syncline import --format csv --table todoitem < todo.csv", "import rows from a spreadsheet"),
            Example("syncline import --format sqlite todo.db", "import the tables of an SQLite file"),
            Example("syncline import --store copy < events.jsonl", "create a store with the same history"),
            Example(
                "syncline import Model.sqlite --from msclient --columns 'TodoItem=text,complete:bool' -s notes",
                "create a store from that of MSClient"),
        ],
        result: #"""
            {"rows":n}, or {"store":"…","events":"@1..41"}, or with --from {"store","from","tables":[{"table","rows"}],\#
            "operations":n,"left":[{"table","ids","count","reason"}],"queries":[{"table","queryId"}]}
            """#,
        exits: [
            Exit(.done, "everything was imported"),
            Exit(.no, "with --from: the store was created, but without what `left out` lists"),
        ]
    ) { arguments, context in
        if let file = try SQLiteExchange.file(arguments) {
            return try await SQLiteExchange.import(from: file, arguments, context)
        }
        if let file = arguments.operands.first { return try await ForeignImport.run(file, arguments, context) }
        if arguments.value("from") != nil { throw ToolError.usage("--from needs the FILE of the other client") }
        let table = arguments.value("table")
        let isCSV = arguments.value("format") == "csv"
        if isCSV, table == nil {
            throw ToolError.usage("--format csv needs --table", hint: "A CSV file does not name its table.")
        }
        let lines = context.watched(context.host.input, "reading")
        defer { lines.finish() }
        var head: [[UInt8]] = []
        while table == nil, let line = try lines.next() {
            head.append(line)
            if line.isEmpty { continue }
            let value = try Value.item(line, line: head.count)
            if Report.begins(with: value) { return try importReport(line, lines, arguments, context) }
            if EventImport.holdsEvent(value) { return try importEvents(value, head.count, lines, arguments, context) }
            break
        }
        return try await importRows(table, head, lines, as: isCSV ? .csv : .jsonLines, arguments, context)
    }

    /// Rows of up to about this size are inserted in one transaction: all or none.
    private static let onceSize = 64 << 20

    /// Inserts rows. The lines, some of which were read already, are put into a file first.
    private static func importRows(
        _ table: String?, _ head: [[UInt8]], _ lines: WatchedLines, as format: RowFormat, _ arguments: Arguments,
        _ context: Context
    ) async throws -> ExitCode {
        let folder = try ScratchFolder()
        let path = folder.path + "/rows"
        var file = try FileDraft(path)
        do {
            for line in head { try file.add(line) }
            while let line = try lines.next() { try file.add(line) }
            try file.finish()
        } catch {
            file.giveUp()
            throw error
        }
        lines.finish()
        defer { withExtendedLifetime(folder) {} }
        return try await importRows(table, from: path, as: format, arguments, context)
    }

    /// Inserts the rows of a file.
    static func importRows(
        _ table: String?, from path: String, as format: RowFormat, _ arguments: Arguments, _ context: Context
    ) async throws -> ExitCode {
        let count = try await context.withDatabase(arguments) { database in
            try await database.importRows(into: table, from: path, as: format, atOnce: onceSize)
        }
        return try show(count, context)
    }

    static func show(_ rows: Int, _ context: Context) throws -> ExitCode {
        return try context.output.result(["rows": .number(rows)], "\(rows) rows")
    }

    private static func importEvents(
        _ first: Value, _ number: Int, _ lines: any LineSource, _ arguments: Arguments, _ context: Context
    ) throws -> ExitCode {
        let path = try StoreLocation.new(arguments, context.environment).path
        var number = number
        var events = try EventImport(path: path)
        do {
            try events.add(first, number)
            while let line = try lines.next() {
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
        _ head: [UInt8], _ lines: any LineSource, _ arguments: Arguments, _ context: Context
    ) throws -> ExitCode {
        let path = try StoreLocation.new(arguments, context.environment).path
        let report = try ReportReading.read(
            head: head, lines, name: "the input", store: path)
        return try show(path, report.events, report.first, context)
    }

    private static func show(
        _ path: String, _ events: ClosedRange<UInt64>?, _ first: UInt64?, _ context: Context
    ) throws -> ExitCode {
        let range = events.map { "@\($0.lowerBound)..\($0.upperBound)" }
        return try context.output.result(
            ["store": .string(path), "events": .optional(range)],
            "created \(escaped(path)) of \(counted(UInt64(events?.count ?? 0), "event"))"
                + ((first ?? 1) > 1 ? " and the state before them" : ""))
    }
}
