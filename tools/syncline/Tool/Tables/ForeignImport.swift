// `import FILE --from CLIENT`: makes a store from the database file of another client.

import Syncline
import SynclineSQL

enum ForeignImport {
    /// Makes the store, or with --dry-run only says what would be in it.
    static func run(_ file: String, _ arguments: Arguments, _ context: Context) async throws -> ExitCode {
        guard let client = arguments.value("from").flatMap(ForeignClient.init(rawValue:)) else {
            throw ToolError.usage(
                "a FILE needs --from or --format sqlite",
                hint: "Name the client that wrote it: --from msclient or --from datasync.")
        }
        let tables = try arguments.values(of: "columns").map { try table($0) }
        let foreign = ForeignStore(at: file, from: client, tables: tables)
        if arguments.flag("dry-run") { return try show(try await foreign.check(), nil, context) }
        let path = try StoreLocation.new(arguments, context.environment).path
        let draft = try StoreDraft(of: path) {
            ToolError(
                "store-exists", "\(escaped(path)) is not empty; a file is imported into a new store",
                hint: "Name a new directory with --store.")
        }
        do {
            let configuration = SyncConfiguration(serverProtocol: client == .msclient ? .zumo2 : .datasync3)
            let report = try await foreign.write(into: draft.storage, configuration)
            try draft.putInPlace()
            return try show(report, path, context)
        } catch {
            draft.remove()
            throw error
        }
    }

    // MARK: Descriptions

    /// Reads `TABLE=COLUMN:TYPE,…`, in which a table and a column may be followed by `as` and another name.
    static func table(_ text: String) throws(ToolError) -> ForeignTable {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map { String($0) }
        guard parts.count == 2, let names = names(parts[0]) else { throw invalid(text) }
        var table = ForeignTable(names.file, as: names.store)
        if parts[1] == ForeignType.skip.rawValue {
            table.isSkipped = true
            return table
        }
        for column in parts[1].split(separator: ",", omittingEmptySubsequences: false) {
            let pieces = column.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map { String($0) }
            guard let (file, store) = self.names(pieces[0]) else { throw invalid(text) }
            let type = try pieces.count == 2 ? self.type(pieces[1]) : nil
            table.columns.append(ForeignColumn(store ?? file, type, from: store == nil ? nil : file))
        }
        return table
    }

    /// `NAME`, or `NAME as NAME`.
    private static func names(_ text: String) -> (file: String, store: String?)? {
        let words = text.split(separator: " ")
        switch words.count {
        case 1: return (String(words[0]), nil)
        case 3 where words[1] == "as": return (String(words[0]), String(words[2]))
        default: return nil
        }
    }

    private static func type(_ text: String) throws(ToolError) -> ForeignType {
        if let type = ForeignType(rawValue: text) { return type }
        let known = ForeignType.allCases.map(\.rawValue)
        let meant = Suggestion.nearest(to: text, in: known).map { "Did you mean `\($0)`?" }
        throw .usage(
            "`\(escaped(text))` is not a type", hint: meant ?? "The types are \(known.joined(separator: ", ")).")
    }

    private static func invalid(_ text: String) -> ToolError {
        .usage(
            "`\(escaped(text))` does not describe a table",
            hint: "Write TABLE=COLUMN:TYPE,…, for example todoitem=text:string,complete:bool.")
    }

    // MARK: Results

    private static func show(_ report: ForeignReport, _ path: String?, _ context: Context) throws -> ExitCode {
        let tables = report.tables.map { table -> JSONValue in
            ["table": .string(table.name), "rows": .number(table.rows)]
        }
        let left = report.left.map { left -> JSONValue in
            [
                "table": .string(left.table), "ids": .array(left.ids.map { .string($0) }), "count": .number(left.count),
                "reason": .string(left.reason.description),
            ]
        }
        let queries = report.queries.map { query -> JSONValue in
            ["table": .string(query.table), "queryId": .string(query.queryID)]
        }
        try context.output.value([
            "store": .optional(path), "from": .string(report.client.rawValue), "tables": .array(tables),
            "operations": .number(report.operations), "left": .array(left), "queries": .array(queries),
        ])
        for table in report.tables {
            try context.output.line("\(escaped(table.name)): \(counted(UInt64(table.rows), "row"))")
        }
        try context.output.line("\(counted(UInt64(report.operations), "pending operation"))")
        let style = context.output.style
        for left in report.left {
            let rows = left.ids.map { escaped("\(left.table)/\($0)") }
            let names = rows.isEmpty ? escaped(left.table) : rows.joined(separator: ", ")
            let count = left.count > max(1, rows.count) ? " (\(left.count) in all)" : ""
            try context.output.line(
                style.paint("left out", .bad) + "  \(names)\(count): \(escaped(left.reason.description))")
        }
        for query in report.queries {
            try context.output.line(
                "the first pull of \(escaped(query.table)) with the query id \(escaped(query.queryID)) reads everything again"
            )
        }
        if let path { try context.output.line("created \(escaped(path))") }
        return report.left.isEmpty ? .done : .no
    }
}
