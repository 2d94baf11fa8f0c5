// `report`: packs what is needed to see a bug again into one file.

import SegmentLog
import Syncline
import SynclineCore
import SynclineInspect
import SynclineWire

enum ReportCommand {
    static let command = Command(
        "report", "packs log, recorded traffic and versions for a bug report, values masked",
        details: [
            """
            The report begins with the state before the first event that is there, so it can be made of a store with a \
            retention. Of a damaged store it has what a rescue keeps, and says what is missing.
            """,
            """
            Each value is replaced by one of the same type that has its rank in its column, so values that were equal \
            are equal, and they stand in the same order. Names of tables and columns, ids, versions and times stay, unless \
            --mask-names and --mask-ids ask for more. docs/REPORTS.md says what a mask promises and what not. Headers that \
            may be secrets were never recorded.
            """,
            "`syncline config record '8 MiB'` begins to record what is said to the server; it is off by default.",
            """
            `syncline replay FILE` runs the sessions of a report again, without a network. Every command that reads a \
            store takes the report in its place: `syncline log --store FILE`.
            """,
        ],
        options: [
            Option("output", short: "o", value: "FILE", "where to write it; syncline-report.jsonl"),
            Option("to", value: "ADDRESS", "with the history up to this moment"),
            Option("no-mask", "leaves values as they are"),
            Option("mask-ids", "masks the ids of rows as well"),
            Option("mask-names", "masks the names of tables and columns as well"),
        ],
        examples: [
            Example("syncline report -o bug.jsonl", "everything, masked"),
            Example("syncline report --mask-ids --mask-names", "where ids and names tell something, too"),
        ],
        result:
            #"""
            {"file","first":"@1","events":n,"sessions":n,"exchanges":n,"leftOut":n,"masked":bool,"lost":["@7..9"],\#
            "bytes":n}
            """#,
        exits: [Exit(.no, "events are missing, and named")], run: run)

    private nonisolated(nonsending) static func run(_ arguments: Arguments, _ context: Context) async throws -> ExitCode
    {
        var options = Masking.Options()
        options.ids = arguments.flag("mask-ids")
        options.names = arguments.flag("mask-names")
        let isMasked = !arguments.flag("no-mask")
        guard isMasked || options == Masking.Options() else {
            throw ToolError.usage("--no-mask excludes --mask-ids and --mask-names")
        }
        let storage = try context.storage(arguments)
        let claim = HistoryReading.claim(storage)
        defer { claim?.release() }
        let source = try ReportSource(
            storage, traffic: try context.traffic(arguments), through: arguments.value("to"), context)
        var masking: Masking?
        if isMasked {
            let collecting = Masking(options, of: source.start)
            try source.forEachLine(collecting) { _ in }
            collecting.close()
            masking = collecting
        }
        let file = arguments.value("output") ?? "syncline-report.jsonl"
        var draft = try ReportDraft(file)
        do {
            try draft.add(head(source, isMasked, context))
            try source.forEachLine(masking) { try draft.add($0) }
            try draft.finish()
        } catch {
            draft.giveUp()
            throw error
        }
        return try show(source, file, draft.size, isMasked, context)
    }

    private static func head(_ source: ReportSource, _ isMasked: Bool, _ context: Context) -> Value {
        let names = ["report", "tool", "engine", "projector", "created", "masked", "through", "lost"]
        let values: [Value] = [
            .integer(Report.version), .string(Tool.version), .string(engineVersion),
            .integer(Int64(Projector.version)), .string(context.clock.now().text), .bool(isMasked),
            .integer(Int64(source.last)), .array((source.rescue?.lost ?? []).map { .string($0.description) }),
        ]
        return .object(zip(names, values).map { .init($0, $1) })
    }

    private static func show(
        _ source: ReportSource, _ file: String, _ size: UInt64, _ isMasked: Bool, _ context: Context
    ) throws -> ExitCode {
        let exchanges = source.sessions.reduce(0) { $0 + $1.exchanges.count }
        let events = source.last - source.start.through
        let lost = (source.rescue?.lost ?? []).map(\.description)
        try context.output.value([
            "file": .string(file), "first": .string("@\(source.start.through + 1)"), "events": .number(events),
            "sessions": .number(source.sessions.count), "exchanges": .number(exchanges),
            "leftOut": .number(source.leftOut), "masked": .boolean(isMasked),
            "lost": .array(lost.map { .string($0) }), "bytes": .number(size),
        ])
        try context.output.line(
            "\(escaped(file)): \(counted(events, "event")), \(counted(UInt64(source.sessions.count), "session")) with "
                + "\(counted(UInt64(exchanges), "exchange")), \(humanBytes(size))" + (isMasked ? "" : ", not masked"))
        if source.start.through > 0 {
            try context.output.line("  it begins with the state as of @\(source.start.through)")
        }
        if source.leftOut > 0 {
            let count = counted(UInt64(source.leftOut), "session")
            try context.output.line("  \(count) left out: what they started from is not there any more")
        }
        if !lost.isEmpty {
            let style = context.output.style
            try context.output.line("  " + style.paint("lost", .bad) + " \(lost.joined(separator: ", "))")
        }
        return lost.isEmpty && source.rescue?.leftOut.isEmpty ?? true ? .done : .no
    }
}
