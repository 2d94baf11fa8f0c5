// `hold` and `release`: which operations a push leaves alone.

import Syncline

enum HoldCommands {
    static let hold = Command(
        "hold", "hold back the pending operation of a row",
        details: [
            """
            The row's operations, and those that follow, stay in the outbox until `release` or `drop`. Without ROW it \
            lists the rows that are held.
            """
        ],
        operands: [Operand("ROW", "TABLE/ID, or ~2 as in `pending`")],
        examples: [
            Example("syncline hold todoitem/a", "push everything else first"),
            Example("syncline hold", "list what is held"),
        ],
        result: #"{"table","id","held":true}; without ROW [{"table","id"}]"#
    ) { arguments, context in
        guard let text = arguments.operands.first else { return try await list(arguments, context) }
        let row = try await context.withDatabase(arguments) { database in
            let row = try await PlannedRow(text, in: database)
            try await database.hold(table: row.table, id: row.id)
            return row
        }
        return try context.output.result(
            ["table": .string(row.table), "id": .string(row.id), "held": .boolean(true)],
            escaped("\(row.table)/\(row.id) is held until `syncline release`"))
    }

    private static func list(_ arguments: Arguments, _ context: Context) async throws -> ExitCode {
        let reader = try await context.view(arguments).reader
        var list = try ListWriter(context.output, ["ROW"])
        for row in try reader.heldRows() {
            try list.row(
                [Cell(escaped("\(row.table)/\(row.id)"))], json: ["table": .string(row.table), "id": .string(row.id)])
        }
        return try list.finish()
    }

    static let release = Command(
        "release", "release an operation that was held back",
        operands: [Operand("ROW", "TABLE/ID, or ~2 as in `pending`")],
        options: [Option("all", "every row that is held").excluding("ROW")],
        examples: [Example("syncline release --all", "release everything")],
        result: #"{"released":[{"table","id"}]}"#
    ) { arguments, context in
        let text = arguments.operands.first
        guard text != nil || arguments.flag("all") else {
            throw ToolError.usage("`release` takes TABLE/ID, ~N or --all", hint: "`syncline hold` lists what is held.")
        }
        let released = try await context.withDatabase(arguments) { database in
            var rows = try await database.heldRows().map { PlannedRow(table: $0.table, id: $0.id) }
            if let text { rows = [try await PlannedRow(text, in: database)] }
            for row in rows { try await database.release(table: row.table, id: row.id) }
            return rows
        }
        try context.output.value([
            "released": .array(released.map { ["table": .string($0.table), "id": .string($0.id)] })
        ])
        for row in released { try context.output.line(escaped("released \(row.table)/\(row.id)")) }
        return .done
    }
}

/// The row of an operation, named by itself or by the operation's number.
struct PlannedRow: Sendable {
    var table: String
    var id: String
    /// Whether another operation on the row is pending beside the one that was named by its number.
    var isOneOfSeveral = false

    init(table: String, id: String) {
        self.table = table
        self.id = id
    }

    init(_ text: String, in database: SyncDatabase) async throws {
        guard text.hasPrefix("~") else {
            let row = try RowAddress(text)
            guard row.moment == nil else {
                throw ToolError.usage("the past can't be changed", hint: "Write TABLE/ID or ~2.")
            }
            self.init(table: row.table, id: row.id)
            return
        }
        guard let number = Int(text.dropFirst()), number > 0 else {
            throw ToolError.usage("`\(escaped(text))` is not an operation", hint: "Write ~1, ~2, … as `pending` does.")
        }
        let operations = try await database.pending()
        guard number <= operations.count else {
            throw ToolError(
                "operation-not-found",
                "there is no operation ~\(number): \(counted(UInt64(operations.count), "operation")) pending",
                hint: "`syncline pending` lists them.", exit: .no)
        }
        let operation = operations[number - 1]
        self.init(table: operation.table, id: operation.id)
        isOneOfSeveral = operation.isOneOfSeveral
    }
}
