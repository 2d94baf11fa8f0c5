// `conflicts` and `resolve`: list what waits for a decision, and resolve it.

import Syncline

enum ConflictCommands {
    static let conflicts = Command(
        "conflicts", "list conflicts and operations that the server refused",
        options: [.at, .redact],
        examples: [Example("syncline conflicts", "list what `resolve` can decide")],
        result:
            #"""
            [{"table","id","kind","state":"conflict|parked","status","code","message","reason","mayHaveBeenDone",\#
            "base","mine","current","server"}]
            """#
    ) { arguments, context in
        let reader = try await context.view(arguments, at: arguments.value("at")).reader
        var list = try ListWriter(context.output, ["ROW", "KIND", "STATE", "STATUS", "WHY"])
        for conflict in try reader.conflicts() {
            try list.row(
                [
                    Cell(escaped("\(conflict.table)/\(conflict.id)")), Cell("\(conflict.kind)"),
                    Cell(conflict.state.rawValue), Cell(conflict.status.map { "\($0)" } ?? ""),
                    Cell(escaped(conflict.why)),
                ],
                json: conflict.json(redacts: arguments.flag("redact"), tellsReason: true))
        }
        return try list.finish()
    }

    static let resolve = Command(
        "resolve", "resolve a conflict or a parked operation",
        operands: [Operand("TABLE/ID", "the row", isRequired: true)],
        options: [
            Option("take-server", "drop the local changes; the row becomes the server's"),
            Option("keep-mine", "send the local changes on top of the server's row, or try again"),
            Option("discard", "the same as --take-server"),
            Option("merge", "combine the columns that only one side changed"),
            Option("row", value: "JSON", "send this row instead"),
            Option(
                "as", value: "KIND", choices: ["insert", "update", "delete"],
                "the operation for --row (default: update or insert)"),
        ],
        examples: [
            Example("syncline resolve todoitem/a --merge", "combine both sides"),
            Example("syncline resolve todoitem/a --row '{\"text\":\"both\"}'", "use neither side"),
        ],
        result: #"{"table","id","resolved":"keep-mine"}"#
    ) { arguments, context in
        guard let slash = arguments.operands[0].firstIndex(of: "/") else {
            throw ToolError.usage("`resolve` takes TABLE/ID", hint: "`syncline conflicts` lists the rows.")
        }
        let table = String(arguments.operands[0][..<slash])
        let id = String(arguments.operands[0][arguments.operands[0].index(after: slash)...])
        let (name, decision) = try decision(arguments, id)
        try await context.withDatabase(arguments) { try await $0.resolve(table: table, id: id, decision) }
        return try context.output.result(
            ["table": .string(table), "id": .string(id), "resolved": .string(name)],
            escaped("resolved \(table)/\(id): \(name)"))
    }

    private static func decision(_ arguments: Arguments, _ id: String) throws -> (name: String, ConflictDecision) {
        let flags = ["take-server", "keep-mine", "discard", "merge"].filter { arguments.flag($0) }
        let item = arguments.value("row")
        guard flags.count + (item == nil ? 0 : 1) == 1 else {
            throw ToolError.usage("`resolve` takes one of --take-server, --keep-mine, --discard, --merge and --row")
        }
        let kind = OperationKind.allCases.first { "\($0)" == arguments.value("as") }
        if arguments.value("as") != nil, item == nil { throw ToolError.usage("--as needs --row") }
        if let item {
            let item = try Item(try Value.item(Array(item.utf8)))
            guard item.id == nil || item.id == id else { throw ToolError.usage("the id in --row is not \(id)") }
            return ("row", .row(item.columns, as: kind))
        }
        switch flags[0] {
        case "keep-mine": return ("keep-mine", .keepMine)
        case "merge": return ("merge", .merge)
        default: return (flags[0], .takeServer)
        }
    }
}

extension Conflict {
    /// Why it awaits a decision, in the server's words if it said why.
    var why: String {
        reason == .rightLost ? SyncIssue(self).reason : message ?? reason.rawValue
    }

    /// The conflict with its three rows, and if wanted what happened in words, which another version may say differently.
    func json(redacts: Bool = false, tellsReason: Bool = false) -> JSONValue {
        func shown(_ row: Row?) -> JSONValue { .row(id, row, redacts: redacts) }
        return [
            "table": .string(table), "id": .string(id), "kind": .string("\(kind)"),
            "state": .string(state.rawValue), "status": status.map { .number($0) } ?? .null,
            "code": .string(reason.rawValue), "message": .optional(message),
            "reason": tellsReason ? .string(SyncIssue(self).reason) : nil,
            "mayHaveBeenDone": .boolean(mayHaveBeenDone),
            "base": shown(base), "mine": shown(mine), "current": shown(current), "server": shown(server),
        ]
    }
}
