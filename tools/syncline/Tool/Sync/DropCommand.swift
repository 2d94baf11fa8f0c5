// `drop`: takes back one row's pending operation, and nothing else.

import Syncline
import SynclineInspect

enum DropCommand {
    static let command = Command(
        "drop", "takes back what is pending on one row",
        details: [
            """
            The row's operation leaves the outbox, with those that follow it, and the row is what the server last told. \
            Other rows and all cursors stay. An operation that is on the wire can't be dropped.
            """
        ],
        operands: [Operand("TABLE/ID", "the row", isRequired: true)],
        options: [Option("force", "also if the operation may have reached the server; pull afterwards to see")],
        examples: [Example("syncline drop todoitem/a", "when the server refuses it again and again")],
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
