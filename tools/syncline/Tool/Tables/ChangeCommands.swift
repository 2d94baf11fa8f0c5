// `insert`, `update`, `delete`, `transaction`, `undo`, `redo`: change rows by hand.

import Syncline

enum ChangeCommands {
    static let insert = change(.insert, "insert a row", "the new row as JSON; `-` reads one row per line of input")
    static let update = change(
        .update, "change columns of a row", "the id and the columns to change as JSON; `-` reads one row per line")

    private static func change(_ kind: OperationKind, _ summary: String, _ item: String) -> Command {
        Command(
            "\(kind)", summary,
            details: ["All lines of the input are one transaction, unless --each is given."],
            operands: [
                Operand("TABLE", "the table", isRequired: true), Operand("ITEM", item, isRequired: true),
            ],
            options: [Option("each", "one transaction for each line of the input")],
            examples: [Example("syncline \(kind) todoitem '{\"id\":\"a\",\"text\":\"milk\"}'", "one row")],
            result: "the row as stored; an array for lines of input"
        ) { arguments, context in
            try await run(kind, arguments, context)
        }
    }

    private static func run(
        _ kind: OperationKind, _ arguments: Arguments, _ context: Context
    ) async throws -> ExitCode {
        let (table, text) = (arguments.operands[0], arguments.operands[1])
        guard text == "-" else {
            let item = try Value.item(Array(text.utf8))
            let row = try await context.withDatabase(arguments) { try await store(kind, table, item, $0) }
            return try context.output.result(JSONValue(row), JSONValue(row).text)
        }
        var items: [Value] = []
        while let line = try context.host.input.next() {
            if line.isEmpty { continue }
            items.append(try Value.item(line, line: items.count + 1))
        }
        let all = items
        let isEach = arguments.flag("each")
        let rows = try await context.withDatabase(arguments) { database in
            guard isEach else {
                return try await database.transaction { transaction in
                    try all.map { item in
                        try kind == .insert ? transaction.insert(table, item) : transaction.update(table, item)
                    }
                }
            }
            var rows: [StoredRow] = []
            for item in all { rows.append(try await store(kind, table, item, database)) }
            return rows
        }
        try context.output.beginList()
        for row in rows {
            try context.output.element(JSONValue(row))
            try context.output.line(JSONValue(row).text)
        }
        try context.output.endList()
        return .done
    }

    private static func store(
        _ kind: OperationKind, _ table: String, _ item: Value, _ database: SyncDatabase
    ) async throws -> StoredRow {
        let table = database.rows(of: table)
        return kind == .insert ? try await table.insert(item) : try await table.update(item)
    }

    static let delete = Command(
        "delete", "delete a row",
        operands: [Operand("TABLE", "the table", isRequired: true), Operand("ID", "its id", isRequired: true)],
        examples: [Example("syncline delete todoitem a", "one row")], result: #"{"id":"…"}"#
    ) { arguments, context in
        let (table, id) = (arguments.operands[0], arguments.operands[1])
        try await context.withDatabase(arguments) { try await $0.rows(of: table).delete(id: id) }
        return try context.output.result(["id": .string(id)], "deleted \(escaped("\(table)/\(id)"))")
    }

    static let transaction = Command(
        "transaction", "store changes of several rows, all or none",
        details: [
            """
            Each line of the input is one change: {"insert":{"table":"todoitem","item":{…}}}, {"update":…}, \
            {"delete":{"table":…,"id":…}}.
            """
        ],
        operands: [Operand("INPUT", "`-`", isRequired: true, choices: ["-"])],
        examples: [Example("syncline transaction - < changes.jsonl", "all changes of a file as one transaction")],
        result: #"{"events":"@41"}"#
    ) { arguments, context in
        var lines: [(kind: OperationKind, table: String, item: Value)] = []
        while let line = try context.host.input.next() {
            if line.isEmpty { continue }
            lines.append(try TransactionLine.parse(line, lines.count + 1))
        }
        let all = lines
        let event = try await context.withDatabase(arguments) { database in
            try await database.transactionEvent { transaction in
                for (kind, table, item) in all {
                    switch kind {
                    case .insert: try transaction.insert(table, item)
                    case .update: try transaction.update(table, item)
                    case .delete: try transaction.delete(table, item: item)
                    }
                }
            }
        }
        return try context.output.result(
            ["events": .optional(event.map { "@\($0)" })], event.map { "stored as @\($0)" } ?? "nothing changed")
    }

    static let undo = Command(
        "undo", "undo the last local transaction that is not pushed",
        examples: [Example("syncline undo", "undo the last change")], result: #"{"events":"@12"}"#,
        exits: [Exit(.no, "there is nothing to undo")]
    ) { arguments, context in
        let event = try await context.withDatabase(arguments) { try await $0.undo() }
        return try context.output.result(["events": .string("@\(event)")], "undid @\(event)")
    }

    static let redo = Command(
        "redo", "make the last undone transaction again",
        details: ["It is a new transaction, possible until a row is changed here. Other columns keep their values."],
        examples: [Example("syncline redo", "after `syncline undo`")], result: #"{"events":"@13"}"#,
        exits: [Exit(.no, "there is nothing to redo")]
    ) { arguments, context in
        let event = try await context.withDatabase(arguments) { try await $0.redo() }
        return try context.output.result(["events": .string("@\(event)")], "made again as @\(event)")
    }
}

/// A line of a transaction.
enum TransactionLine {
    static func parse(_ line: [UInt8], _ number: Int) throws(ToolError) -> (OperationKind, String, Value) {
        func wrong(_ what: String) -> ToolError {
            ToolError(
                "invalid-item", "line \(number): \(what)",
                hint: #"Write {"insert":{"table":"todoitem","item":{"text":"milk"}}}."#)
        }
        guard case .object(let members) = try Value.item(line, line: number), members.count == 1 else {
            throw wrong("a change must be an object with one member")
        }
        let change = members[0].value
        guard case .string(let table)? = change[member: "table"] else { throw wrong("a change must name its table") }
        switch members[0].name {
        case "insert", "update":
            guard let item = change[member: "item"] else { throw wrong("the change has no item") }
            return (members[0].name == "insert" ? .insert : .update, table, item)
        case "delete":
            guard let id = change[member: "id"] else {
                throw ToolError("missing-id", "line \(number): the change has no id")
            }
            return (.delete, table, .object([.init("id", id)]))
        case let other: throw wrong("`\(escaped(other))` is not insert, update or delete")
        }
    }
}
