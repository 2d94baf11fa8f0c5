// `inspect`: shows as much of the log as can be read. Damage is shown at its place and is not a failure; `verify` is
// the command that answers whether there is any.

import SegmentLog
import Syncline

enum InspectCommand {
    static let summary = Command(
        "inspect", "summarise the store on one page",
        details: [
            "It reads every frame.",
            """
            `waiting` shows changes of processes that follow the store. `bytes` counts whole frames; files are longer \
            if space is reserved for the next frames.
            """,
        ],
        examples: [
            Example("syncline inspect", "the nearest store"),
            Example("syncline inspect --json -s data/.syncline", "for a program"),
        ],
        result:
            #"""
            {"store","identity","created","epoch","segments":n,"frames":n,"events":n,"records":"@1..41",\#
            "bytes":n,"fileBytes":n,"rawBytes":n,"ratio":n,"checkpoints":["@40"],"holes":["@7..9"],\#
            "quarantined":n,"damage":[…],"waiting":[{"process","files":n,"changes":n}]}
            """#,
        exits: [Exit(.done, "done, also with damage")],
        run: runSummary)

    static let sameSummary = Command(
        "inspect summary", "show the same page as `inspect`",
        examples: [Example("syncline inspect summary", "the same page")],
        result: "as `inspect`", run: runSummary)

    static let segments = Command(
        "inspect segments", "list the segments of the log",
        details: [
            """
            Damage is shown at its place, in a line that begins with `!`.
            """
        ],
        examples: [Example("syncline inspect segments --json | jq '.[] | select(.damage)'", "only what is damaged")],
        result:
            #"""
            [{"address":"s1","file","records","frames":n,"bytes":n,"fileBytes":n,"rawBytes":n,"ratio":n,\#
            "sealed":bool,"epoch":n,"created","noteBytes":n} or {"damage":{…}}]
            """#,
        exits: [Exit(.done, "done, also with damage")],
        run: runSegments)

    static let checkpoints = Command(
        "inspect checkpoints", "list and check the checkpoints of the log",
        details: ["A damaged checkpoint makes the next opening slower, but loses no data."],
        examples: [Example("syncline inspect checkpoints", "oldest first")],
        result: #"[{"address":"@40","file","blocks":n,"bytes":n,"noteBytes":n} or {"damage":{…}}]"#,
        exits: [Exit(.done, "done, also with damage")],
        run: runCheckpoints)

    private static func runSummary(_ arguments: Arguments, _ context: Context) async throws -> ExitCode {
        let storage = try context.storage(arguments)
        let summary = try context.whileReading("reading") { try LogInspection(storage).summary() }
        let waiting = try WaitingChanges.all(storage)
        try context.output.value(summary.json.adding(["waiting": .array(waiting.map(\.json))]))
        guard context.output.form.isText else { return .done }
        for (label, text, role) in lines(summary, context.output.style) + waiting.map(line) {
            try context.output.line(
                context.output.style.paint(label.padded(to: 13), .dim) + context.output.style.paint(text, role))
        }
        for damage in summary.report.damage { try context.output.line(context.output.style.marked(damage)) }
        return .done
    }

    private static func lines(_ summary: LogSummary, _ style: TextStyle) -> [(String, String, TextRole)] {
        let report = summary.report
        let sealed = report.segments.count(where: \.isSealed)
        let records = summary.records.isEmpty ? "" : "  \(summary.records)"
        var lines: [(String, String, TextRole)] = [
            ("store", escaped(summary.location), .heading),
            ("identity", report.identity.description, .plain),
        ]
        if let created = report.segments.first?.created {
            lines.append(("created", style.isForPeople ? created.humanText + " UTC" : created.text, .plain))
        }
        lines += [
            (
                "segments",
                "\(style.count(report.segments.count))  \(sealed) sealed, \(style.count(report.frames)) frames", .plain
            ),
            ("records", style.count(report.records) + records, .plain),
            (
                "bytes",
                "\(style.bytes(summary.length.rawValue))  in files of \(style.bytes(summary.fileSize.rawValue))", .plain
            ),
            (
                "compression",
                summary.ratio.map { "\(decimal($0, places: 2)) : 1  from \(style.bytes(summary.rawLength.rawValue))" }
                    ?? "–", .plain
            ),
            (
                "checkpoints", report.checkpoints.last.map { "\(report.checkpoints.count)  newest \($0)" } ?? "none",
                .plain
            ),
        ]
        if !report.holes.isEmpty {
            lines.append(("known lost", report.holes.map(\.description).joined(separator: ", "), .warning))
        }
        if summary.quarantined > 0 {
            lines.append(("quarantine", counted(UInt64(summary.quarantined), "file"), .plain))
        }
        let damage = report.damage.count
        lines.append(("damage", damage == 0 ? "none" : counted(UInt64(damage), "place"), damage == 0 ? .good : .bad))
        return lines
    }

    private static func line(_ waiting: WaitingChanges) -> (String, String, TextRole) {
        let changes = counted(UInt64(waiting.changes), "change") + " in " + counted(UInt64(waiting.files), "file")
        return ("waiting", "\(changes) of process \(waiting.process)", .plain)
    }

    private static func runSegments(_ arguments: Arguments, _ context: Context) async throws -> ExitCode {
        let storage = try context.storage(arguments)
        let report = try context.whileReading("reading") { try LogInspection(storage).verify() }
        let style = context.output.style
        var list = try ListWriter(
            context.output,
            [
                "SEGMENT", "RECORDS", Column("FRAMES", .right), Column("BYTES", .right),
                Column("RAW", .right, isSpare: true), Column("RATIO", .right, isSpare: true), "STATE",
                Column("EPOCH", .right, isSpare: true), "CREATED",
            ])
        for found in report.segmentsAndDamage {
            switch found {
            case .damage(let damage):
                try list.line(style.marked(damage), json: ["damage": damage.json])
            case .item(let segment):
                try list.row(cells(segment, style), json: segment.json)
            }
        }
        return try list.finish()
    }

    private static func cells(_ segment: LogReport.Segment, _ style: TextStyle) -> [Cell] {
        [
            Cell("s\(segment.ordinal)", .address),
            Cell(segment.records.isEmpty ? "–" : segment.records.description, .address),
            Cell(style.count(segment.frames)),
            Cell(style.bytes(segment.length.rawValue)),
            Cell(style.bytes(segment.rawLength.rawValue)),
            Cell(segment.ratio.map { decimal($0, places: 2) } ?? "–"),
            segment.isSealed ? Cell("sealed", .good) : Cell("open"),
            Cell(style.count(segment.epoch)),
            Cell(segment.created.map { style.isForPeople ? $0.humanText : $0.text } ?? "–", .dim),
        ]
    }

    private static func runCheckpoints(_ arguments: Arguments, _ context: Context) async throws -> ExitCode {
        let found = try LogInspection(try context.storage(arguments)).checkpoints()
        let style = context.output.style
        var list = try ListWriter(
            context.output,
            ["THROUGH", Column("BLOCKS", .right), Column("BYTES", .right), Column("NOTE", .right), "STATE"])
        for entry in found {
            switch entry {
            case .damage(let damage):
                try list.line(style.marked(damage), json: ["damage": damage.json])
            case .item(let checkpoint):
                try list.row(
                    [
                        Cell(checkpoint.through.description, .address), Cell(style.count(checkpoint.blocks)),
                        Cell(style.bytes(checkpoint.fileSize.rawValue)),
                        Cell(style.bytes(UInt64(checkpoint.noteLength))),
                        Cell("whole", .good),
                    ], json: checkpoint.json)
            }
        }
        return try list.finish()
    }
}

extension TextStyle {
    /// Damage as a marked line.
    func marked(_ damage: LogDamage) -> String {
        paint("! " + damage.sentence, .bad)
    }
}

extension WaitingChanges {
    fileprivate var json: JSONValue {
        ["process": .string(process), "files": .number(files), "changes": .number(changes)]
    }
}
