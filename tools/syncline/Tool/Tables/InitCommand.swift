// `init` and `config`: create a store, and change its settings.

import SegmentLog
import Syncline
import SynclineTesting
import SynclineWire

enum InitCommand {
    static let command = Command(
        "init", "create a store",
        details: ["The store is the directory that --store names, or .syncline in the current directory."],
        options: [
            Option("backend", value: "URL", "the server that holds its tables"),
            Option("protocol", value: "NAME", choices: ["zumo2", "datasync3"], "server protocol (default: zumo2)"),
            Option("ids", value: "HOW", choices: ["exact", "ignore-case"], "how ids are compared (default: exact)"),
        ],
        examples: [Example("syncline init --backend https://example.com", "create ./.syncline")],
        result: #"{"store":"…"}"#, run: run)

    private static func run(_ arguments: Arguments, _ context: Context) async throws -> ExitCode {
        var arguments = arguments
        arguments.setStore(try StoreLocation.new(arguments, context.environment).path)
        let backend = try arguments.value("backend").map { try Setting.checked(backend: $0) }
        var configuration = SyncConfiguration()
        configuration.serverProtocol = arguments.value("protocol").flatMap(ServerProtocol.init(rawValue:)) ?? .zumo2
        configuration.ids = arguments.value("ids") == "ignore-case" ? .ignoreCase : .exact
        if let backend { configuration.settings = [("backend", .string(backend))] }
        try await context.withDatabase(arguments, creating: .always, configuration) { _ in }
        let path = try StoreLocation.find(arguments, context.environment).path
        return try context.output.result(["store": .string(path)], "created \(path)")
    }
}

enum ConfigCommand {
    static let command = Command(
        "config", "show or change settings",
        details: [
            """
            The token and the headers of requests are kept in secrets.json, which only your user can read, and are \
            shown masked.
            """,
            """
            `tables` lists the allowed tables; others are then refused with `unknown-table`. The value `any` removes \
            the restriction. An app with a schema sets the list again.
            """,
            """
            `ids ignore-case` makes ids that differ only in the case of ASCII letters one, for ever. It is refused \
            while a table has two such ids, and while there are branches.
            """,
            """
            `limits` limits requests to the server: seconds for `connect`, `stall`, `total`, `idle` and `wait` (the \
            longest `Retry-After`), bytes for `body` and `headers`, and the number of `pages` of one pull. A limit \
            that is not named keeps its default; `{}` resets all.
            """,
            """
            `columns` lists the types of columns: string, boolean, integer, number, decimal, date, uuid, bytes or \
            json, and decimal(string) and uuid(guid) for servers with decimals as strings and a type for UUIDs. A \
            column is compared, sorted, grouped and added up by its type. To declare types changes no row; another \
            type for a declared column is refused. A table with --local is neither pushed nor pulled; it must be empty, \
            and stays so.
            """,
            """
            With `record` the traffic of push, pull and sync is kept in traffic.jsonl next to the log, without \
            secrets, up to the size given (default: `off`).
            """,
        ],
        operands: [
            Operand("KEY", "the setting (default: show all)"),
            Operand("VALUE", "its new value; of `columns`, a table"),
            Operand("COLUMNS", "types of the table's columns"),
        ],
        options: [
            Option("suggest", "propose types for a table's columns from its rows"),
            Option("local", "declare that a table never leaves the device"),
        ],
        examples: [
            Example("syncline config", "show all settings"),
            Example("syncline config backend https://example.com", "set the server to push to and pull from"),
            Example("syncline config ids ignore-case", "ignore the case of ids"),
            Example("syncline config retention '30 days'", "keep a month of history"),
            Example("syncline config tables todoitem,list", "refuse every other table"),
            Example(#"syncline config limits '{"connect":5,"wait":60}'"#, "wait less for the server"),
            Example("syncline config columns entry amount:decimal,due:date", "declare the types of columns"),
            Example("syncline config columns entry --suggest", "propose types from the rows"),
            Example("syncline config columns draft --local", "keep a table on this device"),
            Example("syncline config record '8 MiB'", "record the traffic"),
        ],
        result:
            #"{"backend":"…","protocol":"zumo2","ids":"exact","retention":"all","tables":["…"],"limits":{…},"record":"off","token":"••••","headers":{…}}"#,
        run: run)

    private static func run(_ arguments: Arguments, _ context: Context) async throws -> ExitCode {
        let words = arguments.operands
        if words.first == "columns" {
            try await ConfigColumns.run(words.dropFirst(), arguments, context)
            return .done
        }
        if words.count > 2 || arguments.flag("suggest") || arguments.flag("local") {
            throw ToolError.usage("only `columns` has types", hint: "Write it as `config columns TABLE COLUMN:TYPE,…`.")
        }
        let secrets = StoreSecrets(store: try StoreLocation.find(arguments, context.environment).path)
        if arguments.operands.count == 2 {
            let (name, text) = (arguments.operands[0], arguments.operands[1])
            let value = try Setting.checked(name, text)
            try await context.withDatabase(arguments) { database in
                if name == "tables" { return try await database.setStrictTables(Setting.tables(value)) }
                if name == "limits" { return try await database.set(name, Setting.limits(value)) }
                guard Setting.local.contains(name) else { return try await database.set(name, .string(value)) }
                try await database.checkWritable()
                try StoreSecrets(database.storage).set(
                    name, name == "headers" ? try Value(json: Array(value.utf8)) : .string(value))
                database.forgetServer()
            }
        }
        let kept = try secrets.read()
        let reader = try await context.view(arguments).reader
        let wanted = arguments.operands.first
        if let wanted, !Setting.names.contains(wanted) { _ = try Setting.checked(wanted, "") }
        func value(_ name: String) throws -> Value {
            if name == "tables" { return try Setting.shown(tables: reader.declaration) }
            let known = try Setting.local.contains(name) ? kept[member: name] : reader.setting(name)
            guard let known else { return Setting.defaults[name].map { .string($0) } ?? .null }
            return Setting.secrets.contains(name) ? Setting.masked(known) : known
        }
        var members: [JSONValue.Member] = []
        for name in Setting.names where wanted == nil || wanted == name {
            let value = try value(name)
            members.append(.init(key: name, value: JSONValue(value)))
            if value.isNull { continue }
            try context.output.line("\(name) = \(escaped(value.text ?? value.json))")
        }
        try context.output.value(.object(members))
        return .done
    }
}
