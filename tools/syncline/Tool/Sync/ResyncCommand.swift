// `resync`: reads all rows from the server again, and keeps pending changes.

import Syncline

enum ResyncCommand {
    static let command = Command(
        "resync", "read all rows from the server again",
        details: [
            """
            Every query of the tables starts from the beginning, and rows that the server no longer has are removed. \
            Pending changes and conflicts stay; nothing is pushed. If it stops, the \
            next pull of each query continues it.
            """
        ],
        operands: [Operand("TABLE", "the tables to read (default: all tables pulled before)", repeats: true)],
        options: [.retries],
        examples: [Example("syncline resync", "after `repair --salvage`")],
        result: #"{"pulls":[{"table","queryId","outcome",…}]}"#,
        exits: [Exit(.failed, "a pull stopped; the rows received so far are kept")]
    ) { arguments, context in
        let tables = arguments.operands.isEmpty ? nil : arguments.operands
        let retries = try arguments.retries()
        let report = try await context.withDatabase(arguments) { database in
            try await context.recorded(arguments, database, \.json) {
                try await context.whileWatching {
                    try await database.resync(tables, retries: retries, progress: $0)
                }
            }
        }
        try context.output.value(report.json)
        for pull in report.pulls { try context.output.line(pull.report.line(pull.table)) }
        if report.pulls.isEmpty { try context.output.line("nothing was pulled from a server yet") }
        return report.reason == nil ? .done : .failed
    }
}

extension ResyncReport {
    fileprivate var json: JSONValue {
        let pulls = pulls.map { $0.report.json(["table": .string($0.table), "queryId": .optional($0.queryID)]) }
        return ["pulls": .array(pulls)]
    }
}
