// `drop`: drops one row's pending operation, and nothing else.

import Syncline

enum DropCommand {
    static let command = Command(
        "drop", "drop the pending changes of a row",
        details: [
            """
            The row's operations leave the outbox together, and the row returns to the server's version. An operation \
            that is being sent can't be dropped.
            """,
            """
            Changes of another process that wait are dropped by the address that `pending` shows.
            """,
        ],
        operands: [
            Operand("ROW", "TABLE/ID, or ~2 as in `pending`", isRequired: true)
        ],
        options: [Option("force", "drop it even if it may have reached the server; pull afterwards to see")],
        examples: [
            Example("syncline drop todoitem/a", "drop a row's change"),
            Example("syncline drop ~2", "drop the second operation"),
        ],
        result: #"{"table","id","dropped":n}"#
    ) { arguments, context in
        let text = arguments.operands[0]
        let force = arguments.flag("force")
        if TributaryName(text) != nil {
            try await context.withDatabase(arguments) { try await $0.dropWaiting(text) }
            return try context.output.result(
                ["commit": .string(text), "dropped": .number(1)], "dropped the changes of \(text)")
        }
        let (row, count) = try await context.withDatabase(arguments) { database in
            let row = try await PlannedRow(text, in: database)
            if row.isOneOfSeveral {
                throw ToolError(
                    "pending-changes", "\(text) is one of two operations on \(row.table)/\(row.id)",
                    hint: "`syncline drop \(row.table)/\(row.id)` drops both.")
            }
            return (row, try await database.discard(table: row.table, id: row.id, force: force))
        }
        return try context.output.result(
            [
                "table": .string(row.table), "id": .string(row.id), "dropped": .number(count),
            ], "dropped \(counted(UInt64(count), "operation"))")
    }
}
