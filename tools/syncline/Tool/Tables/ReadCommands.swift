// `get`, `query`, `cursors`, `purge`: what a store holds.

import Syncline

extension Option {
    /// The moment that a read-only command shows.
    static let at = Option(
        "at", value: "ADDRESS", "the moment: @41, @-1, 2026-05-19T21:30Z, 11:00, yesterday, \"2 hours ago\"")
}

enum ReadCommands {
    static let get = Command(
        "get", "show a row",
        details: [Moment.details],
        operands: [
            Operand("ROW", "TodoItem/7f3a or TodoItem/7f3a@41; or the table, if ID is given", isRequired: true),
            Operand("ID", "the id as it is, with any `/` and `@`"),
        ],
        options: [.at],
        examples: [
            Example("syncline get todoitem/a", "a row"),
            Example("syncline get todoitem a --at @12", "the row as of event 12"),
        ],
        result: "the row, or null", exits: [Exit(.no, "the row does not exist")]
    ) { arguments, context in
        let address = arguments.operands.count > 1 ? nil : try RowAddress(arguments.operands[0])
        let focus = RowFocus(
            table: address?.table ?? arguments.operands[0], id: address?.id ?? arguments.operands[1])
        let moment = address?.moment ?? arguments.value("at")
        let reader = try await context.view(arguments, at: moment, of: focus).reader
        try reader.declaration.check(focus.table)
        guard let row = try reader.row(focus.table, focus.id) else {
            try context.output.value(.null)
            try await context.hint(missing: (focus.table, focus.id), at: moment, arguments)
            return .no
        }
        return try context.output.result(JSONValue(row), JSONValue(row).text)
    }

    static let query = Command(
        "query", "show the rows that match",
        operands: [Operand("TABLE", "the table", isRequired: true)],
        options: [
            Option("filter", value: "ODATA", "only rows that match: \"n gt 3 and not done\" (default: all rows)"),
            Option("orderby", value: "KEYS", "sort order: \"n desc, text\" (default: by id)"),
            Option("top", value: "N", "return at most N rows"), Option("skip", value: "N", "skip the first N rows"),
            Option("select", value: "COLUMNS", "only these columns: \"id,text\""),
            Option("count", "also count all rows that match, regardless of --top"),
            Option("explain", "show how the rows are found, or with --count counted"),
            .at,
        ],
        examples: [
            Example("syncline query todoitem --filter 'not done' --orderby 'n desc' --top 10", "the ten largest")
        ],
        result: """
            [row…], or {"count":n,"results":[row…]} with --count, or {"access","columns","ordered","covering",\
            "entriesRead","rowsRead","givenUp":[[column…]…]} with --explain
            """
    ) { arguments, context in
        let query = try StoreQuery.query(arguments)
        let reader = try await context.view(arguments, at: arguments.value("at")).reader
        try context.check(table: query.table, reader)
        try context.check(columnsOf: query, reader)
        if arguments.flag("explain") {
            let plan = try query.countsAll ? reader.explainCount(query).plan : reader.explain(query).plan
            return try context.output.result(JSONValue(plan), plan.description)
        }
        let result = try reader.run(query)
        if let count = result.count {
            try context.output.value([
                "count": .number(count),
                "results": .array(result.rows.map { JSONValue($0, selecting: query.select) }),
            ])
            try context.output.line("\(count)")
            if context.output.form.isText {
                for row in result.rows { try context.output.line(JSONValue(row, selecting: query.select).text) }
            }
            return .done
        }
        try context.output.beginList()
        for row in result.rows {
            try context.output.element(JSONValue(row, selecting: query.select))
            try context.output.line(JSONValue(row, selecting: query.select).text)
        }
        try context.output.endList()
        return .done
    }

    static let cursors = Command(
        "cursors", "show how far each query has been pulled",
        options: [Option("reset", value: "TABLE/QUERYID", "restart a query from the beginning").excluding("at"), .at],
        examples: [Example("syncline cursors", "all cursors")],
        result: #"[{"table","queryId","position","query","updated"}]"#
    ) { arguments, context in
        if let text = arguments.value("reset") {
            let parts = text.split(separator: "/", maxSplits: 1)
            guard parts.count == 2 else { throw ToolError.usage("--reset takes TABLE/QUERYID") }
            try await context.withDatabase(arguments) { database in
                try database.reader.declaration.check(String(parts[0]))
                try check(cursor: text, database.reader)
                try await database.resetCursor(table: String(parts[0]), queryID: String(parts[1]))
            }
        }
        let reader = try await context.view(arguments, at: arguments.value("at")).reader
        var list = try ListWriter(context.output, ["TABLE", "QUERY ID", "POSITION", "QUERY"])
        for cursor in try reader.cursors() {
            try list.row(
                [
                    Cell(escaped(cursor.table)), Cell(escaped(cursor.queryID)), Cell(escaped(cursor.state.position)),
                    Cell(escaped(cursor.state.query)),
                ],
                json: JSONValue(cursor: cursor))
        }
        return try list.finish()
    }

    /// Refuses a cursor that the store does not have.
    private static func check(cursor name: String, _ reader: StateReader) throws {
        let known = try reader.cursors().map { "\($0.table)/\($0.queryID)" }
        if known.contains(name) { return }
        throw ToolError.usage(
            "there is no cursor \(escaped(name))",
            hint: Suggestion.nearest(to: name, in: known).map { "Did you mean `\(escaped($0))`?" })
    }

    static let purge = Command(
        "purge", "remove local rows and cursors, without telling the server",
        operands: [Operand("TABLE", "the table", isRequired: true)],
        options: [
            Option("filter", value: "ODATA", "only rows that match (default: all rows)"),
            Option("force", "also drop pending changes of these rows"),
        ],
        examples: [Example("syncline purge todoitem --filter done", "remove the rows that are done")],
        result: #"{"removed":n,"dropped":n}"#
    ) { arguments, context in
        let filter = try StoreQuery.filter(arguments)
        let (table, force) = (arguments.operands[0], arguments.flag("force"))
        let report = try await context.withDatabase(arguments) { database in
            try context.check(table: table, database.reader)
            if let filter { try context.check(columnsOf: filter, database.reader) }
            return try await database.purge(table: table, filter: filter, force: force)
        }
        return try context.output.result(
            ["removed": .number(report.removed), "dropped": .number(report.dropped)],
            "removed \(report.removed), dropped \(report.dropped)")
    }
}
extension JSONValue {
    /// How a query was carried out.
    init(_ plan: QueryPlan) {
        var access: JSONValue = ["access": "table"]
        switch plan.access {
        case .table: break
        case .ids: access = ["access": "ids"]
        case .index(let columns, let isOrdered, let isCovering):
            access = [
                "access": "index", "columns": .array(columns.map(JSONValue.string)), "ordered": .boolean(isOrdered),
                "covering": .boolean(isCovering),
            ]
        }
        self = access.adding([
            "entriesRead": .number(plan.entriesRead), "rowsRead": .number(plan.rowsRead),
            "givenUp": .array(plan.givenUp.map { .array($0.map(JSONValue.string)) }),
        ])
    }
}
