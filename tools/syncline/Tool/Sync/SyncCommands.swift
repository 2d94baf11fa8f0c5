// `push`, `pull`, `sync`: talk to the server.

import Syncline
import SynclineWire

enum SyncCommands {
    static let push = Command(
        "push", "send the pending changes to the server",
        details: [
            """
            The report lists all operations in the order of the push. Operations that could not be sent stay pending.
            """,
            """
            --dry-run lists each operation with its request (without credentials), or null if it, or an earlier one on \
            the row, waits for a decision. A server with batch support would receive several operations in one request.
            """,
        ],
        options: [
            Option("table", value: "TABLE", "only operations on this table; can be repeated"),
            Option(
                "policy", value: "NAME", choices: ["fail", "server-wins", "client-wins", "merge"],
                "how to resolve conflicts (default: fail, which leaves them to `resolve`)"),
            Option("concurrency", value: "N", "maximum operations in flight (default: \(PushSettings().concurrency))"),
            .retries, Option("dry-run", "show the requests without sending them"),
        ],
        examples: [
            Example("syncline push --policy merge", "merge conflicts"),
            Example("syncline push --dry-run --json", "show the requests and foreseeable conflicts"),
        ],
        result:
            #"{"outcome":"complete|incomplete|stopped","reason":…,"operations":[{"table","id","kind","outcome":…}]}"#,
        exits: [
            Exit(.done, "all operations are done"), Exit(.no, "some operations are not done"),
            Exit(.failed, "the push stopped"),
        ]
    ) { arguments, context in
        var settings = PushSettings()
        let tables = arguments.values(of: "table")
        if !tables.isEmpty { settings.tables = Set(tables) }
        settings.policy = policy(arguments.value("policy") ?? "fail")
        settings.concurrency =
            try arguments.number("concurrency", in: 1...64).map { Int($0) } ?? settings.concurrency
        settings.retries = try arguments.retries()
        let (wanted, isDry) = (settings, arguments.flag("dry-run"))
        if isDry {
            let view = try await context.view(arguments)
            for table in tables { try context.check(table: table, view.reader) }
            try context.show(
                try PushPreview(view.reader, tables: wanted.tables, rowsOnTheirWay: view.rowsOnTheirWay))
            return .done
        }
        let report = try await context.withDatabase(arguments) { database in
            for table in tables { try context.check(table: table, database.reader) }
            return try await context.recorded(arguments, database, \.json) {
                try await context.whileWatching { try await database.push(wanted, progress: $0) }
            }
        }
        try context.show(report)
        return report.exit
    }

    /// The policy with a name.
    static func policy(_ name: String) -> ConflictPolicy {
        [ConflictPolicy.serverWins, .clientWins, .merge].first { $0.name == name } ?? .fail
    }

    static let pull = Command(
        "pull", "fetch rows from the server",
        details: [DryRun.details],
        operands: [Operand("TABLE", "the table", isRequired: true)],
        options: [
            Option("query-id", value: "ID", "pull only changes since the last pull with this id"),
            Option("filter", value: "ODATA", "only rows that match (default: all rows)"),
            Option("orderby", value: "KEYS", "sort order; not with --query-id"),
            Option("top", value: "N", "return at most N rows; not with --query-id"),
            Option("skip", value: "N", "skip the first N rows; not with --query-id"),
            Option(
                "page-size", value: "N",
                "rows per page (default: 50 with zumo2, 100 with datasync3, 1000 with a changes feed)"),
            Option("overlap", value: "SECONDS", "start this long before the cursor, for late commits (default: 0)")
                .needing("query-id"),
            Option("reconcile", "remove local rows that the server no longer has"),
            Option("no-push", "do not push pending changes of the table first"), .retries, .dryPull,
        ],
        examples: [
            Example("syncline pull todoitem --query-id all", "fetch the changes since the last pull"),
            Example("syncline pull todoitem --query-id all --dry-run", "show what it would change"),
        ],
        result:
            #"""
            {"outcome":"complete|stopped","reason":…,"requests":n,"received":n,"changed":n,"deleted":n,"conflicts":n,\#
            "unreadable":n}, with --dry-run as `sync`
            """#,
        exits: [Exit(.failed, "the pull stopped; the rows received so far are kept")]
    ) { arguments, context in
        let settings = try pullSettings(arguments)
        let table = arguments.operands[0]
        if arguments.flag("dry-run") {
            let run = try await context.dryRun(arguments, pushes: settings.pushesFirst ? [table] : []) { _ in
                [(table, settings)]
            }
            return try context.show(run)
        }
        let report = try await context.withDatabase(arguments) { database in
            try await context.recorded(arguments, database, \.json) {
                try await context.whileWatching { try await database.pull(table, settings, progress: $0) }
            }
        }
        return try context.output.result(report.json, report.line(table), exit: report.reason == nil ? .done : .failed)
    }

    private static func pullSettings(_ arguments: Arguments) throws -> PullSettings {
        var settings = PullSettings()
        let query = try StoreQuery.window(arguments)
        settings.filter = query.filter
        settings.order = query.order
        settings.top = query.top
        settings.skip = query.skip
        settings.queryID = arguments.value("query-id")
        settings.pageSize = try arguments.number("page-size", in: 1...128_000).map { Int($0) }
        if let text = arguments.value("overlap") {
            guard let seconds = Double(text), seconds.isFinite, seconds >= 0, seconds < 1e9 else {
                throw ToolError.usage("--overlap takes a number of seconds")
            }
            settings.overlap = .seconds(seconds)
        }
        settings.reconciles = arguments.flag("reconcile")
        settings.pushesFirst = !arguments.flag("no-push")
        settings.retries = try arguments.retries()
        return settings
    }

    static let sync = Command(
        "sync", "push, then pull each table",
        details: [
            """
            Pulls are incremental, with the query id `sync`. Conflicts are merged: changes to different columns are \
            combined, and the rest waits for `resolve`.
            """,
            DryRun.details,
        ],
        operands: [Operand("TABLE", "the tables to pull (default: all tables)", repeats: true)],
        options: [
            Option(
                "policy", value: "NAME", choices: ["fail", "server-wins", "client-wins", "merge"],
                "how to resolve conflicts (default: merge)"),
            Option("watch", "repeat until interrupted").endless,
            Option("interval", value: "SECONDS", "pause between rounds, with --watch (default: 10)")
                .needing("watch"), .retries, .dryPull.excluding("watch"),
        ],
        examples: [
            Example("syncline sync todoitem", "push, then pull one table"),
            Example("syncline sync --dry-run", "show what it would send and change"),
        ],
        result:
            #"""
            {"push":{…},"pulls":[{"table","outcome",…}]}, one per round; with --dry-run also "rows":[… as in diff], \#
            "conflictRows":[… as in conflicts], and "push" as in `push --dry-run`, or null
            """#,
        exits: [Exit(.no, "some changes are left to push"), Exit(.failed, "the push or a pull stopped")]
    ) { arguments, context in
        let retries = try arguments.retries()
        let interval = try arguments.number("interval", in: 1...86_400) ?? 10
        var settings = SyncSettings(tables: arguments.operands.isEmpty ? nil : arguments.operands)
        settings.push.policy = policy(arguments.value("policy") ?? "merge")
        settings.push.retries = retries
        settings.pulls = settings.pulls?.map { pull in
            var pull = pull
            pull.settings.retries = retries
            return pull
        }
        if arguments.flag("dry-run") {
            let run = try await context.dryRun(arguments, pushes: nil) { [settings] reader in
                let pulls = try settings.pulls ?? SyncSettings(tables: reader.syncedTables()).pulls ?? []
                return pulls.map { pull in
                    var pull = pull
                    (pull.settings.retries, pull.settings.pushesFirst) = (retries, false)
                    return pull
                }
            }
            return try context.show(run)
        }
        let (wanted, keepsGoing) = (settings, arguments.flag("watch"))
        // The last round is printed after the store is closed, so that an error on closing is the only answer.
        let (last, isShown) = try await context.withDatabase(arguments) { database in
            while true {
                let round = try await context.recorded(arguments.without("watch"), database, \.json) {
                    try await context.whileWatching { try await database.sync(wanted, progress: $0) }
                }
                if !keepsGoing || Task.isCancelled || context.host.interrupt.isSet { return (round, false) }
                try context.show(round)
                try context.output.flush()
                _ = try? await context.whileWatching { _ in try await Task.sleep(for: .seconds(Int64(interval))) }
                if Task.isCancelled || context.host.interrupt.isSet { return (round, true) }
            }
        }
        if !isShown { try context.show(last) }
        return last.exit
    }
}

extension SyncReport {
    var json: JSONValue {
        ["push": push.json, "pulls": .array(pulls.map { $0.report.json(["table": .string($0.table)]) })]
    }

    var exit: ExitCode {
        pulls.contains { $0.report.reason != nil } ? .failed : push.exit
    }
}

extension Option {
    static let retries = Option(
        "retries", value: "N", "retries after 408, 429 or 5xx (default: \(PushSettings().retries))")
}

extension Arguments {
    func retries() throws(ToolError) -> Int {
        try number("retries", in: 0...100).map { Int($0) } ?? PushSettings().retries
    }
}

// MARK: Reports

extension PushReport {
    var exit: ExitCode {
        switch outcome {
        case .complete: .done
        case .incomplete: .no
        case .stopped: .failed
        }
    }

    var json: JSONValue { json(operations.map(\.json)) }

    fileprivate func json(_ operations: [JSONValue]) -> JSONValue {
        [
            "outcome": .string(outcome.name), "reason": .optional(reason?.code.rawValue),
            "operations": .array(operations),
            "message": reason.map { .string($0.message) }, "address": (reason?.address).map { .string($0) },
            "warnings": warnings.isEmpty ? nil : .array(warnings.map(JSONValue.string)),
            "rounded": rounded == 0 ? nil : .number(rounded),
        ]
    }
}

extension OperationReport {
    fileprivate var json: JSONValue {
        [
            "table": .string(table), "id": .string(id), "kind": .string("\(kind)"),
            "outcome": .string(outcome.rawValue), "status": status.map { .number($0) } ?? .null,
            "code": .optional(reason?.code),
            "rounded": rounded.isEmpty ? nil : .array(rounded.map(JSONValue.string)),
        ]
    }
}

extension PushPreview {
    var json: JSONValue {
        report.json(
            report.operations.indices.map { index in
                report.operations[index].json.adding([
                    "bytes": requests[index].map { .number($0.size) } ?? .null,
                    "expects": .optional(foreseen[index]?.rawValue), "request": requests[index]?.json ?? .null,
                ])
            })
    }
}

extension PushPreview.Request {
    fileprivate var json: JSONValue {
        let sorted = headers.sorted { $0.key < $1.key }
        return [
            "method": .string(method), "path": .string(path),
            "headers": .object(sorted.map { .init(key: $0.key, value: .string($0.value)) }),
            "body": body.flatMap { try? Value(json: $0) }.map { JSONValue($0) } ?? .null,
        ]
    }

    /// The request in the form of HTTP, one header per line.
    fileprivate var lines: [String] {
        ["\(method) \(path)"] + headers.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
            + (body.map { [String(decoding: $0, as: UTF8.self)] } ?? [])
    }
}

extension PullReport {
    /// With members that name the pull.
    func json(_ head: JSONValue) -> JSONValue { head.adding(membersOf: json) }

    var json: JSONValue {
        [
            "outcome": .string(reason == nil ? "complete" : "stopped"), "reason": .optional(reason?.code.rawValue),
            "requests": .number(requests), "received": .number(received), "changed": .number(changed),
            "deleted": .number(deleted), "conflicts": .number(conflicts), "unreadable": .number(unreadable),
            "message": reason.map { .string($0.message) }, "address": (reason?.address).map { .string($0) },
        ]
    }

    func line(_ table: String) -> String {
        let counts =
            "\(received) received, \(changed) changed, \(deleted) deleted, \(conflicts) conflicts"
            + (unreadable == 0 ? "" : ", \(unreadable) unreadable (`syncline inspect unreadable` lists them)")
        return escaped("\(table): \(reason.map { "stopped, \($0.message); " } ?? "")\(counts)")
    }
}

extension Context {
    fileprivate func show(_ report: PushReport) throws {
        try output.value(report.json)
        try lines(of: report)
    }

    fileprivate func show(_ preview: PushPreview) throws {
        try output.value(preview.json)
        try lines(of: preview)
    }

    func lines(of preview: PushPreview) throws {
        try lines(of: preview.report) { index in
            let expected = preview.foreseen[index].map { ["expect a conflict: \($0.sentence)"] } ?? []
            let request = preview.requests[index]
            return expected + (request?.lines ?? []) + (request?.body == nil ? [] : ["\(request?.size ?? 0) bytes"])
        }
    }

    private func lines(of report: PushReport, details: (Int) -> [String] = { _ in [] }) throws {
        for (index, operation) in report.operations.enumerated() {
            let why = operation.reason.map { " (\($0.code))" } ?? ""
            try output.line(
                escaped("\(operation.kind) \(operation.table)/\(operation.id): \(operation.outcome.rawValue)\(why)"))
            for line in details(index) { try output.line(escaped("  " + line)) }
        }
        let reason = report.reason.map { ": \($0.message)" } ?? ""
        try output.line(escaped("push \(report.outcome.name)\(reason)"))
        for warning in report.warnings { narration.warn(warning) }
    }

    fileprivate func show(_ round: SyncReport) throws {
        try output.value(round.json)
        try lines(of: round.push)
        for pull in round.pulls { try output.line(pull.report.line(pull.table)) }
    }
}
