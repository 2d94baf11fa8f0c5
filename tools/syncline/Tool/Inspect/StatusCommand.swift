// `status`: the store on one page: where it is, what is not pushed, its tables with the types of their columns, and what
// to do next.

import Syncline
import SynclineCore

enum StatusCommand {
    static let command = Command(
        "status", "show the state of the store, and what to do next",
        details: [
            """
            Each table is shown with its columns, their types, and the number of values that do not fit.
            """
        ],
        examples: [Example("syncline status", "the nearest store")],
        result:
            #"""
            {"store","backend","protocol","schema":n,"event":"@41","outbox":{"toPush":n,"conflict":n,"parked":n,"held":n,\#
            "after":n,"waiting":n},"unreadable":n,"tables":[… as in inspect tables],"next":[{"command","effect"}]}
            """#,
        run: run)

    private nonisolated(nonsending) static func run(_ arguments: Arguments, _ context: Context) async throws -> ExitCode
    {
        let view = try await context.view(arguments)
        let status = try StoreStatus(view, at: try context.path(reading: arguments))
        try context.output.value(status.json)
        for line in status.lines(context.output.style) { try context.output.line(line) }
        return .done
    }
}

private struct StoreStatus {
    let path: String
    let backend: String?
    let dialect: String?
    let schema: UInt32
    let event: UInt64
    /// How many operations of the outbox are in each state, in the order of their importance.
    let outbox: [(state: String, count: Int, noun: String)]
    let unreadable: Int
    let tables: [TableSummary]

    init(_ view: StoreView, at path: String) throws {
        let reader = view.reader
        let byTable = try PushCounts.byTable(reader)
        let counts = PushCounts(byTable.values)
        self.path = path
        func setting(_ name: String) throws -> String? {
            if case .string(let text)? = try reader.setting(name) { text } else { nil }
        }
        backend = try setting("backend")
        dialect = try setting("protocol")
        schema = try reader.declaration?.version ?? 0
        event = view.through
        outbox = [
            ("toPush", counts.toPush, "to push"), ("conflict", counts.conflicts, "in conflict"),
            ("parked", counts.parked, "refused by the server"), ("held", counts.held, "held"),
            ("after", counts.after, "after one of these"),
            ("waiting", try WaitingChange.all(view.storage).count, "of other processes, not taken in"),
        ]
        unreadable = try reader.unreadableRows().count
        tables = try TableSummary.all(reader, byTable)
    }

    private func count(_ state: String) -> Int { outbox.first { $0.state == state }?.count ?? 0 }

    /// What to do, the most urgent first.
    private var next: [(command: String, effect: String)] {
        var next: [(String, String)] = []
        if count("conflict") + count("parked") > 0 {
            next.append(("syncline conflicts", "list the operations that wait for a decision"))
        }
        if backend == nil {
            next.append(("syncline config backend https://…", "set the server to push to and pull from"))
        } else if count("toPush") > 0 {
            next.append(("syncline push", "send \(counted(UInt64(count("toPush")), "operation"))"))
        }
        if count("held") > 0 { next.append(("syncline release TABLE/ID", "let a push send a held row")) }
        if count("waiting") > 0 { next.append(("syncline pending", "list the changes of other processes")) }
        if unreadable > 0 { next.append(("syncline inspect unreadable", "list the server's rows that can't be read")) }
        return next
    }

    var json: JSONValue {
        [
            "store": .string(path), "backend": .optional(backend), "protocol": .optional(dialect),
            "schema": .number(Int(schema)), "event": .string("@\(event)"),
            "outbox": .object(outbox.map { .init(key: $0.state, value: .number($0.count)) }),
            "unreadable": .number(unreadable), "tables": .array(tables.map(\.json)),
            "next": .array(next.map { ["command": .string($0.command), "effect": .string($0.effect)] }),
        ]
    }

    func lines(_ style: TextStyle) -> [String] {
        let waiting = outbox.filter { $0.count > 0 }.map { "\(style.count($0.count)) \($0.noun)" }
        var facts = [
            ("store", escaped(path)),
            ("server", backend.map { escaped($0) + (dialect.map { " (\($0))" } ?? "") } ?? "none"),
            ("schema", schema == 0 ? "none" : "version \(schema)"),
            ("events", "through @\(event)"),
            ("outbox", waiting.isEmpty ? "empty" : waiting.joined(separator: ", ")),
        ]
        if unreadable > 0 { facts.append(("unreadable", counted(UInt64(unreadable), "row") + " of the server")) }
        var lines = facts.map { style.paint($0.0.padded(to: 12), .dim) + $0.1 }
        if !tables.isEmpty { lines.append("") }
        lines += tables.map { table in
            style.paint(escaped(table.name), .heading) + "  " + counted(UInt64(table.rows), "row")
                + (table.columns.isEmpty ? "" : "  " + table.columnText)
        }
        if !next.isEmpty { lines.append("") }
        return lines + next.map { "  " + style.paint(escaped($0.command), .heading) + "  " + $0.effect }
    }
}
