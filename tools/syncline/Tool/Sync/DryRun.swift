// A sync that stores nothing: it asks the server, and the pages change a copy of the state in memory.

import Syncline

/// What a sync would do.
struct DryRun: Sendable {
    /// What would be pushed first; nil if nothing would.
    var preview: PushPreview?
    var pulls: [(table: String, report: PullReport)] = []
    /// The rows that the app would see differently, without system columns.
    var rows: [RowDifference] = []
    /// The conflicts that would arise.
    var conflicts: [Conflict] = []

    static let details = """
        With --dry-run the server is asked, and nothing is sent or stored: the requests of the push, and what would \
        change and conflict, are shown. The pulls are as if nothing was pushed.
        """

    var json: JSONValue {
        [
            "push": preview?.json ?? .null, "pulls": .array(pulls.map { $0.report.json(["table": .string($0.table)]) }),
            "rows": .array(rows.map { $0.json() }),
            "conflictRows": .array(conflicts.map { $0.json() }),
        ]
    }

    fileprivate var isNothing: Bool { preview == nil && rows.isEmpty && conflicts.isEmpty && exit == .done }

    fileprivate var exit: ExitCode { pulls.contains { $0.report.reason != nil } ? .failed : .done }
}

extension Option {
    static let dryPull = Option("dry-run", "ask the server and show what would change, without storing it")
}

extension Context {
    /// Pulls into a copy of the store.
    /// - Parameter pushes: The tables whose pending operations would cause a push first; nil for all.
    func dryRun(
        _ arguments: Arguments, pushes: Set<String>?,
        _ pulls: (StateReader) throws -> [(table: String, settings: PullSettings)]
    ) async throws -> DryRun {
        try await withCopy(arguments) { database in
            let before = try database.reader
            let wanted = try pulls(before)
            for pull in wanted { try check(table: pull.table, before) }
            if host.transport == nil, try before.setting("backend") == nil {
                throw SyncError(.invalidConfiguration, "the store has no backend", hint: Hint.backend)
            }
            var run = DryRun()
            let preview = try PushPreview(before)
            let isPushed = preview.report.operations.contains {
                $0.outcome == .pending && pushes?.contains($0.table) ?? true
            }
            if isPushed { run.preview = preview }
            let first = run
            run = try await whileWatching { progress in
                var run = first
                for var pull in wanted {
                    pull.settings.pushesFirst = false
                    let report = try await database.pull(pull.table, pull.settings, progress: progress)
                    run.pulls.append((pull.table, report))
                    if report.reason != nil { break }
                }
                return run
            }
            let after = try database.reader
            try before.differences(to: after) { found in
                var difference = found
                (difference.before, difference.after) = (found.before?.own, found.after?.own)
                if !difference.isEmpty { run.rows.append(difference) }
            }
            let known = Set(try before.conflicts().map { RowKey(table: $0.table, id: $0.id) })
            run.conflicts = try after.conflicts().filter { !known.contains(RowKey(table: $0.table, id: $0.id)) }
            return run
        }
    }

    func show(_ run: DryRun) throws -> ExitCode {
        try output.value(run.json)
        if let preview = run.preview { try lines(of: preview) }
        for row in run.rows {
            for line in row.lines(output.style) { try output.line(line) }
        }
        for conflict in run.conflicts {
            for line in lines(of: conflict) { try output.line(line) }
        }
        for pull in run.pulls { try output.line(pull.report.line(pull.table)) }
        if run.isNothing { try output.line("nothing would change") }
        return run.exit
    }

    private func lines(of conflict: Conflict) -> [String] {
        func shown(_ value: Value?) -> String { value.map { JSONValue($0).text } ?? "–" }
        let issue = SyncIssue(conflict)
        let head = "conflict \(conflict.table)/\(conflict.id): \(issue.reason)"
        return [output.style.paint(escaped(head), .bad)]
            + issue.lines.map { line in
                escaped("  \(line.column): mine \(shown(line.mine)), the server's \(shown(line.server))")
            }
    }
}
