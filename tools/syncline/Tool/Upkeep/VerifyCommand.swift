// `verify`: checks that every acknowledged byte is still there. Its exit code is the answer, and it lists the damage.

import SegmentLog
import Syncline

enum VerifyCommand {
    static let command = Command(
        "verify", "check every frame, segment and checkpoint",
        details: [
            """
            It checks each record, the ends of segments, the indexes, the checkpoints with their digests, and changes \
            of other processes in tributaries/. Then the events after the oldest checkpoint are replayed, and the \
            state is compared with the digests. A write in progress does not count as damage.
            """,
            "`repairable` damage affects no acknowledged record; `syncline repair` repairs it.",
        ],
        options: [Option("deep", "replay from the first event, in memory")],
        examples: [
            Example("syncline verify", "the answer in words"),
            Example("syncline verify --deep --json", "the answer for a program"),
        ],
        result:
            #"""
            {"healthy":bool,"events":n,"damage":[{"address","bytes":n,"reason","repairable":bool,"file",\#
            "records","remedy":"cut-tail|rebuild|salvage|set-aside|upgrade"}],"segments":n,"frames":n,\#
            "checkpoints":["@40"],"holes":["@7..9"]}
            """#,
        exits: [
            Exit(.done, "nothing is damaged"),
            Exit(.no, "something is damaged"),
            Exit(.failed, "the check failed: no store, a newer format, unreadable files"),
        ],
        run: run)

    private static func run(_ arguments: Arguments, _ context: Context) async throws -> ExitCode {
        let storage = try context.storage(arguments)
        let inspection = LogInspection(storage)
        let total = try inspection.catalog().segments.reduce(0) { $0 + $1.size }
        let progress = context.narration.progress("verifying", total: total)
        defer { progress.finish() }
        let report = try HistoryReading.run(storage) {
            var report = try inspection.verify { progress.advance(by: $0.length.rawValue) }
            report.damage = try HistoryStart.checked(report, storage)
            if report.isHealthy {
                progress.finish()
                report.damage = try context.whileReading("folding") {
                    try mismatches(report, storage, fromBeginning: arguments.flag("deep"))
                }
            }
            report.damage += try WaitingChanges.damage(storage)
            return report
        }
        progress.finish()
        if let newer = report.damage.first(where: { $0.remedy == .upgrade }) { throw newer.error }
        try context.output.value(report.json)
        try show(report, context)
        return report.isHealthy ? .done : .no
    }

    /// Lists where the state produced by the events does not match a digest.
    private static func mismatches(
        _ report: LogReport, _ storage: any LogStorage, fromBeginning: Bool
    ) throws -> [LogDamage] {
        let notes = report.segments.compactMap { segment in segment.note.map { (note: $0, file: segment.name) } }
        return try StateCheck(storage, notes: notes).run(fromBeginning: fromBeginning).map(\.damage)
    }

    private static func show(_ report: LogReport, _ context: Context) throws {
        let style = context.output.style
        for damage in report.damage { try context.output.line(style.marked(damage)) }
        for hole in report.holes { try context.output.line(style.paint("  \(hole) are known to be lost", .warning)) }
        let whole = [
            counted(report.records, "record"), counted(report.frames, "frame"),
            counted(UInt64(report.segments.count), "segment"), counted(UInt64(report.checkpoints.count), "checkpoint"),
        ].joined(separator: ", ")
        if report.isHealthy {
            try context.output.line(style.paint("healthy", .good) + "  " + whole)
            return
        }
        let places = counted(UInt64(report.damage.count), "place")
        try context.output.line(style.paint("damaged", .bad) + "  in \(places); whole: " + whole)
        guard context.output.form.isText else { return }
        var told: [String] = []
        for damage in report.damage where !told.contains(damage.remedy.advice) {
            told.append(damage.remedy.advice)
            context.narration.hint("\(damage.address): \(damage.remedy.advice)")
        }
    }
}

extension StateCheck.Mismatch {
    var damage: LogDamage {
        LogDamage(
            file: file, records: SequenceRange(first: .init(rawValue: event), count: 1), reason: sentence,
            remedy: isRepairable ? .rebuild : .salvage)
    }
}

extension LogReport {
    var json: JSONValue {
        [
            "healthy": .boolean(isHealthy),
            "events": .number(records),
            "damage": .array(damage.map(\.json)),
            "segments": .number(segments.count),
            "frames": .number(frames),
            "checkpoints": .array(checkpoints.map { .string($0.description) }),
            "holes": .array(holes.map { .string($0.description) }),
        ]
    }
}
