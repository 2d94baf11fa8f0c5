// `report`: writes everything that is needed to reproduce a bug into one file.

import SegmentLog
import Syncline
import SynclineReports

enum ReportCommand {
    static let command = Command(
        "report", "write a file for a bug report, with masked values",
        details: [
            """
            A damaged store's report has the content of `repair --salvage`, and lists the losses.
            """,
            """
            Each value is replaced by one of the same type with the same rank in its column. Names of tables and \
            columns, ids, versions and times stay, unless --mask-names and --mask-ids are given. docs/REPORTS.md \
            describes the guarantees. Headers that may be secrets are never recorded.
            """,
            "`syncline config record '8 MiB'` starts recording the traffic with the server.",
            """
            `syncline replay FILE` runs the sessions of a report again, without a network. `--store FILE` reads one.
            """,
        ],
        options: [
            Option("output", short: "o", value: "FILE", "the file to write (default: syncline-report.jsonl)"),
            Option("to", value: "ADDRESS", "end the history at this moment"),
            Option("key", value: "FILE", "make masks with a key, so that reports with it agree"),
            Option("no-mask", "do not mask values"),
            Option("mask-ids", "also mask the ids of rows"),
            Option("mask-names", "also mask the names of tables and columns"),
        ],
        examples: [
            Example("syncline report -o bug.jsonl", "report everything, masked"),
            Example("syncline report --key key", "mask like a report of `syncline-server report --key key`"),
        ],
        result:
            #"""
            {"file","first":"@1","events":n,"sessions":n,"exchanges":n,"leftOut":n,"masked":bool,"lost":["@7..9"],\#
            "bytes":n,"waiting":n}
            """#,
        exits: [Exit(.no, "events are missing; the output lists them")], run: run)

    private static func run(_ arguments: Arguments, _ context: Context) async throws -> ExitCode {
        var options = Masking.Options()
        options.ids = arguments.flag("mask-ids")
        options.names = arguments.flag("mask-names")
        options.key = try arguments.value("key").map(key)
        let isMasked = !arguments.flag("no-mask")
        guard isMasked || options == Masking.Options() else {
            throw ToolError.usage("--no-mask can't be used with --mask-ids, --mask-names or --key")
        }
        let storage = try context.storage(arguments)
        let claim = HistoryReading.claim(storage)
        defer { claim?.release() }
        let source = try ReportSource(
            storage, traffic: try context.traffic(arguments), through: arguments.value("to"),
            masked: isMasked ? options : nil, context)
        let file = arguments.value("output") ?? "syncline-report.jsonl"
        var draft = try ReportDraft(file)
        do {
            let lost = source.rescue?.lost.map(\.description) ?? []
            try draft.add(
                ReportLines.head(
                    through: source.last, lost: lost, isMasked: isMasked, now: context.clock.now().rawValue))
            try context.whileReading("writing") { try source.writeLines { try draft.add($0) } }
            try draft.finish()
        } catch {
            draft.giveUp()
            throw error
        }
        let waiting = try WaitingChanges.all(storage).reduce(0) { $0 + $1.changes }
        return try show(source, file, draft.size, isMasked, waiting, context)
    }

    private static func key(_ path: String) throws -> MaskKey {
        let lines = try FileLines(path)
        guard let line = try lines.next(), let key = MaskKey(String(decoding: line, as: UTF8.self)) else {
            throw ToolError.usage(
                "\(escaped(path)) holds no key of 32 hexadecimal digits", hint: "`openssl rand -hex 16` makes one.")
        }
        return key
    }

    private static func show(
        _ source: ReportSource, _ file: String, _ size: UInt64, _ isMasked: Bool, _ waiting: Int,
        _ context: Context
    ) throws -> ExitCode {
        let exchanges = source.sessions.reduce(0) { $0 + $1.exchanges.count }
        let events = source.last - source.start.through
        let lost = (source.rescue?.lost ?? []).map(\.description)
        try context.output.value([
            "file": .string(file), "first": .string("@\(source.start.through + 1)"), "events": .number(events),
            "sessions": .number(source.sessions.count), "exchanges": .number(exchanges),
            "leftOut": .number(source.leftOut), "masked": .boolean(isMasked),
            "lost": .array(lost.map { .string($0) }), "bytes": .number(size),
            "waiting": .number(waiting),
        ])
        try context.output.line(
            "\(escaped(file)): \(counted(events, "event")), \(counted(UInt64(source.sessions.count), "session")) with "
                + "\(counted(UInt64(exchanges), "exchange")), \(humanBytes(size))" + (isMasked ? "" : ", not masked"))
        if source.start.through > 0 {
            try context.output.line("  it starts with the state as of @\(source.start.through)")
        }
        if source.leftOut > 0 {
            let count = counted(UInt64(source.leftOut), "session")
            try context.output.line("  \(count) left out: the history before them was removed")
        }
        if waiting > 0 {
            try context.output.line("  \(counted(UInt64(waiting), "change")) of other processes wait and are not in it")
        }
        if !lost.isEmpty {
            let style = context.output.style
            try context.output.line("  " + style.paint("lost", .bad) + " \(lost.joined(separator: ", "))")
        }
        return lost.isEmpty && source.rescue?.leftOut.isEmpty ?? true ? .done : .no
    }
}
