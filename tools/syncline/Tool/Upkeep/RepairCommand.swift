// `repair`: repairs damage without losing an acknowledged record, keeps a copy of what it cuts, and lists what is left.

import SegmentLog
import Syncline

enum RepairCommand {
    static let command = Command(
        "repair", "repair what can be repaired without losing data",
        details: [
            """
            It cuts a torn write off the end, rebuilds HEAD and removes leftovers. It moves copies of segments under \
            other names, damaged checkpoints, and unreadable changes of another process. It covers a damaged frame \
            without records, such as an index, with a hole. Everything it cuts, moves or covers is kept in quarantine/. \
            Damage to acknowledged records is never touched.
            """,
            """
            If HEAD can't be read, records may be missing at the end, and the exit code is 1, also with --salvage.
            """,
            """
            --salvage creates a new store from all that can be read. The damaged store is not changed, and no program \
            may have it open for writing. The new store has the newest whole checkpoint with every readable event after \
            it, so no readable pending change is lost. Its history has only events that lead to that state without a \
            gap; if one after the checkpoint is lost, it begins with the state, and the next pull of each query starts \
            from the beginning. If the settings are lost, set the backend and the protocol again.
            """,
            """
            The token, the headers, the recorded traffic, waiting changes of other processes, and whole branches are \
            copied, too; the unreadable are listed. If the log holds no events, every readable record is copied and \
            keeps its number.
            """,
        ],
        options: [
            Option("dry-run", "show what would be done, and change nothing"),
            Option(
                "salvage", value: "DIR", takesDirectory: true,
                "create a new store in DIR, which must be empty or missing"),
        ],
        examples: [
            Example("syncline repair --dry-run", "what would be done"),
            Example("syncline repair --salvage rescued", "a new store from all that can be read"),
        ],
        result:
            #"""
            {"repaired":[{"action":"cut-tail|rebuild-head|set-aside|fill-hole|remove-leftover","address","file","bytes":n,\#
            "reason"}],"left":[damage as in verify],"dryRun":bool,"endIsKnown":bool}, with --salvage also \#
            "salvaged":{"store","events":n,"folded":n,"first":"@1","lost":["@7..9"],"leftOut":["@12"],\#
            "foreign":[file],"branches":["…"],"settings":"kept|lost","waiting":n,\#
            "unreadable":[file]}
            """#,
        exits: [
            Exit(.done, "no damage is left; with --salvage: no event is missing"),
            Exit(.no, "damage is left, or something is missing, or may be"),
            Exit(.failed, "refused: another program has the store open, or it can't be written"),
        ],
        run: run)

    private static func run(_ arguments: Arguments, _ context: Context) async throws -> ExitCode {
        let storage = POSIXStorage(directory: try context.path(changing: arguments))
        let isDry = arguments.flag("dry-run")
        if let directory = arguments.value("salvage") {
            if isDry {
                throw ToolError.usage("--salvage and --dry-run can't be used together: --salvage only reads the store")
            }
            return try SalvageCommand.run(from: storage, to: directory, context)
        }
        let inspection = LogInspection(storage)
        let report = try context.whileReading("verifying") { try RepairCommand.report(inspection, storage) }
        if let newer = report.damage.first(where: { $0.remedy == .upgrade }) { throw newer.error }
        let catalog = try inspection.catalog()
        let plan = RepairPlan(report, catalog)
        if isDry || plan.steps.isEmpty {
            return try show(plan.steps, plan.left, catalog, isDry: isDry, context)
        }
        try Repair(storage: storage, clock: context.clock).perform(plan)
        let after = try context.whileReading("verifying") { try RepairCommand.report(inspection, storage).damage }
        let done = plan.steps.filter { step in
            !after.contains { $0.address == step.address && $0.reason == step.reason }
        }
        return try show(done, after, catalog, isDry: false, context)
    }

    /// The damage; if there is none, the checkpoints whose entries do not match their digest.
    private static func report(_ inspection: LogInspection, _ storage: POSIXStorage) throws -> LogReport {
        var report = try inspection.verify()
        report.damage = try HistoryStart.checked(report, storage)
        if report.isHealthy {
            report.damage = try StateCheck(storage, notes: []).untrueCheckpoints.map(\.damage)
        }
        report.damage += try WaitingChanges.damage(storage)
        return report
    }

    /// The warning about a log whose HEAD can't be read.
    static let unknownEnd = "  records may be missing at the end: HEAD, which says how many there were, can't be read"

    private static func show(
        _ steps: [RepairStep], _ left: [LogDamage], _ before: LogCatalog, isDry: Bool, _ context: Context
    ) throws -> ExitCode {
        try context.output.value([
            "repaired": .array(steps.map(\.json)), "left": .array(left.map(\.json)), "dryRun": .boolean(isDry),
            "endIsKnown": .boolean(before.endIsKnown),
        ])
        let style = context.output.style
        for step in steps {
            let text = escaped(step.sentence(isDone: !isDry))
            try context.output.line(style.paint(text, isDry ? .plain : .good) + escaped(": \(step.reason)"))
        }
        for damage in left { try context.output.line(style.marked(damage)) }
        if steps.isEmpty && left.isEmpty {
            try context.output.line(style.paint("healthy", .good) + "  nothing to repair")
        }
        if context.output.form.isText, !left.isEmpty {
            context.narration.hint(LogDamage.Remedy.salvage.advice)
        }
        if !before.endIsKnown { try context.output.line(unknownEnd) }
        return left.isEmpty && before.endIsKnown ? .done : .no
    }
}

/// Performs a plan while holding the log's lock.
private struct Repair {
    let storage: POSIXStorage
    let clock: any LogClock

    func perform(_ plan: RepairPlan) throws {
        let names = plan.steps.filter { $0.action == .setAside }.map(\.file)
        // The end of the log is not touched, but the lock still keeps other writers away.
        try withExtendedLifetime(WriterExclusion(storage)) { _ in
            try Quarantine(storage, limit: .max).take(names)
        }
        if plan.isRefused { return }
        if plan.steps.contains(where: { $0.action == .fillHole }) {
            try LogHealing(storage, clock: clock).mendDerived()
        }
        var configuration = LogConfiguration()
        configuration.syncsWhenIdle = false
        try LogWriter.open(storage, creating: .never, configuration: configuration, clock: clock).close()
    }
}
