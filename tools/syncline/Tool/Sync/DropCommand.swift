// `drop`: drops one row's pending operation, and nothing else.

import Syncline
import SynclineInspect

enum DropCommand {
    static let command = Command(
        "drop", "drop the pending changes of a row",
        details: [
            """
            The row's operation is removed from the outbox, with those that depend on it, and the row becomes the \
            server's again. Other rows and all cursors stay. An operation that is being sent can't be dropped.
            """
        ],
        operands: [Operand("TABLE/ID", "the row", isRequired: true)],
        options: [Option("force", "drop it even if it may have reached the server; pull afterwards to see")],
        examples: [Example("syncline drop todoitem/a", "drop a change that the server always refuses")],
        result: #"{"dropped":n}"#
    ) { arguments, context in
        let row = try RowAddress(arguments.operands[0])
        guard row.moment == nil else { throw ToolError.usage("`drop` takes TABLE/ID, without a moment") }
        let force = arguments.flag("force")
        let count = try await context.withDatabase(arguments) {
            try await $0.discard(table: row.table, id: row.id, force: force)
        }
        try context.output.value(["dropped": .number(count)])
        try context.output.line("dropped \(count == 1 ? "1 operation" : "\(count) operations")")
        return .done
    }
}
