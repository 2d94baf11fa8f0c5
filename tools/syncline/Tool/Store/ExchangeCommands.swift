// `export` and `import`: rows as data, out and in.

import Syncline
import SynclineCore
import SynclineInspect
import SynclineWire

enum ExchangeCommands {
    static let export = Command(
        "export", "writes rows as data",
        options: [
            Option("format", value: "FORMAT", choices: ["jsonl", "csv", "sql", "events"], "jsonl"),
            Option("table", value: "TABLE", "one table; all of them"), .at,
        ],
        examples: [Example("syncline export --format csv --table todoitem > todo.csv", "for a spreadsheet")],
        result: #"[{"table","row"}]"#
    ) { arguments, context in
        let view = try await context.view(arguments, at: arguments.value("at"))
        let format = arguments.value("format") ?? "jsonl"
        if format == "events" { return try exportEvents(arguments, context) }
        if let table = arguments.value("table") { try view.reader.declaration.check(table) }
        let tables = try arguments.value("table").map { [$0] } ?? view.reader.tables()
        try context.output.beginList()
        for table in tables {
            let rows = try view.reader.run(Query(table: table)).rows
            for row in rows {
                try context.output.element(["table": .string(table), "row": JSONValue(row)])
            }
            guard context.output.form.isText else { continue }
            switch format {
            case "csv": try RowText.csv(rows).forEach { try context.output.line($0) }
            case "sql": try RowText.sql(table, rows).forEach { try context.output.line($0) }
            default:
                for row in rows {
                    let json: JSONValue = ["table": .string(table), "row": JSONValue(row)]
                    try context.output.line(json.text)
                }
            }
        }
        try context.output.endList()
        return .done
    }

    private static func exportEvents(_ arguments: Arguments, _ context: Context) throws -> ExitCode {
        try context.output.beginList()
        try EventWalk(try context.storage(arguments)).forEach { number, event in
            let json = EventSummary(number: number, event: event).json
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

/// Rows in the forms of other programs.
enum RowText {
    private static func columns(_ rows: [StoredRow]) -> [String] {
        var names: [String] = []
        var known: Set<String> = []
        for row in rows {
            for name in row.columns.columns where known.insert(name).inserted { names.append(name) }
        }
        return names
    }

    private static func text(_ value: Value) -> String {
        switch value {
        case .null: ""
        case .string(let text): text
        default: JSONValue(value).text
        }
    }

    static func csv(_ rows: [StoredRow]) -> [String] {
        func quoted(_ text: String) -> String {
            guard text.contains(where: { ",\"\n\r".contains($0) }) else { return text }
            return "\"" + text.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
        }
        let names = columns(rows)
        let heading = (["id"] + names).map(quoted).joined(separator: ",")
        return [heading]
            + rows.map { row in
                ([row.id] + names.map { text(row.columns[$0] ?? .null) }).map(quoted).joined(separator: ",")
            }
    }

    static func sql(_ table: String, _ rows: [StoredRow]) -> [String] {
        func name(_ text: String) -> String {
            "\"" + text.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
        }
        func literal(_ value: Value) -> String {
            switch value {
            case .null: return "NULL"
            case .bool(let flag): return flag ? "1" : "0"
            case .integer, .double: return JSONValue(value).text
            default:
                let text = text(value)
                return "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''") + "'"
            }
        }
        let names = columns(rows)
        let list = (["id"] + names).map(name).joined(separator: ", ")
        return ["CREATE TABLE IF NOT EXISTS \(name(table)) (\(list));"]
            + rows.map { row in
                let values = [literal(.string(row.id))] + names.map { literal(row.columns[$0] ?? .null) }
                return "INSERT INTO \(name(table)) (\(list)) VALUES (\(values.joined(separator: ", ")));"
            }
    }
}
