// `config columns`: shows and declares the types of columns and the tables of this device only, and proposes types that all
// rows fit.

import Syncline

enum ConfigColumns {
    /// - Parameter words: A table, and the types of its columns, as in `amount:decimal,due:date`; all tables without one.
    static func run(_ words: ArraySlice<String>, _ arguments: Arguments, _ context: Context) async throws {
        let table = words.first
        if let table, let text = words.dropFirst().first {
            let columns = try types(text)
            try await context.withDatabase(arguments) { try await $0.declareColumns(table: table, columns) }
        }
        if arguments.flag("local") {
            guard let table else {
                throw ToolError.usage("--local needs a table", hint: "Write it as `config columns TABLE --local`.")
            }
            try await context.withDatabase(arguments) { try await $0.declareLocal(table: table) }
        }
        let reader = try await context.view(arguments).reader
        if arguments.flag("suggest") {
            guard let table else {
                throw ToolError.usage("--suggest needs a table", hint: "Write it as `config columns TABLE --suggest`.")
            }
            return try show(suggestion: try reader.suggestedTypes(of: table), table, context)
        }
        let tables = if let table { [table] } else { try reader.types.names }
        var members: [JSONValue.Member] = []
        for name in tables {
            let types = try reader.types(of: name)
            let columns = types.columns
            if types.isLocal { try context.output.line("\(escaped(name)) never leaves the device") }
            members.append(.init(key: name, value: JSONValue(types: columns)))
            for column in columns {
                try context.output.line("\(escaped(name)).\(escaped(column.name)) = \(column.type.rawValue)")
            }
        }
        let local = try reader.types.localTables.filter { tables.contains($0) }
        try context.output.value([
            "columns": .object(members), "local": .array(local.map(JSONValue.string)),
        ])
    }

    private static func show(suggestion columns: [TypedColumn], _ table: String, _ context: Context) throws {
        try context.output.value(["columns": .object([.init(key: table, value: JSONValue(types: columns))])])
        if columns.isEmpty { return try context.output.line("no column of \(escaped(table)) has values of one type") }
        let list = columns.map { "\($0.name):\($0.type.rawValue)" }.joined(separator: ",")
        try context.output.line("syncline config columns \(escaped(table)) '\(escaped(list))'")
    }

    /// Reads `amount:decimal,due:date`.
    private static func types(_ text: String) throws -> [String: ColumnType] {
        var columns: [String: ColumnType] = [:]
        for part in text.split(separator: ",") {
            guard let colon = part.lastIndex(of: ":"), colon > part.startIndex else {
                throw ToolError(
                    "invalid-configuration", "`\(escaped(String(part)))` has no type",
                    hint: "Write columns as `amount:decimal,due:date`.")
            }
            let name = String(part[..<colon])
            let type = try ColumnType(named: String(part[part.index(after: colon)...]))
            guard [nil, type].contains(columns.updateValue(type, forKey: name)) else {
                throw ToolError("invalid-configuration", "the column \(escaped(name)) is named with two types")
            }
        }
        return columns
    }
}
