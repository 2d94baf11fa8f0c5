// `drop`: drops one row's pending operation, and nothing else.

import Syncline
import SynclineInspect

enum DropCommand {
    static let command = Command(
        "drop", "drop the pending changes of a row",
        details: [
            """
            The row's operation leaves the outbox, with those that follow it, and the row is what the server last told. \
            Other rows and all cursors stay. An operation that is on the wire can't be dropped, and of two on one row \
            neither alone: the later one was made on top of the earlier.
            """
        ],
        operands: [
            Operand("ROW", "TABLE/ID, or the number of an operation as in `pending`: ~2", isRequired: true)
        ],
        options: [Option("force", "also if the operation may have reached the server; pull afterwards to see")],
        examples: [
            Example("syncline drop todoitem/a", "when the server refuses it again and again"),
            Example("syncline drop ~2", "the second operation of the next push"),
        ],
        result: #"{"table","id","dropped":n}"#
    ) { arguments, context in
        let text = arguments.operands[0]
        let force = arguments.flag("force")
        let (row, count) = try await context.withDatabase(arguments) { database in
            let row = try await PlannedRow(text, in: database)
            if row.isOneOfSeveral {
                throw ToolError(
                    "pending-changes", "\(text) is one of two operations on \(row.table)/\(row.id)",
                    hint: "`syncline drop \(row.table)/\(row.id)` drops both.")
            }
            return (row, try await database.discard(table: row.table, id: row.id, force: force))
        }
        try context.output.value([
            "table": .string(row.table), "id": .string(row.id), "dropped": .number(count),
        ])
        try context.output.line("dropped \(counted(UInt64(count), "operation"))")
        return .done
    }
}
