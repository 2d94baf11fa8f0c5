// `replay`: replays the log. It verifies the result, shows the effect of another policy or of leaving out events, and
// finds the event that made a condition true.

import SegmentLog
import Syncline

enum ReplayCommand {
    static let command = Command(
        "replay", "replay the log: verify it, test what-ifs, search, or step",
        details: [
            """
            Without options it compares the state with the digest in each segment and checkpoint. With --to it prints \
            the state at a moment.
            """,
            """
            With --policy or --without, the output shows the rows that would differ and the events that would have \
            been impossible.
            """,
            """
            --bisect finds the first event after which a condition is true: TodoItem/7f3a (the row exists), not \
            TodoItem/7f3a, TodoItem/7f3a.title eq 'milk', TodoItem/7f3a: FILTER, TodoItem: FILTER (any row), \
            count(TodoItem: FILTER) ge 10, pending gt 100 (to push), conflicts ge 1. `=` and `==` are the same as eq. \
            Of a count alone (pending) it finds the first change. It searches all events, or --from to --to. A condition \
            that is true before must become false first.
            """,
            "--step starts an interactive session; type `help` in it for its commands.",
            """
            --write-expected writes lines: rows, pending operations, conflicts, cursors and counts. --expect shows the \
            first that differs.
            """,
        ],
        operands: [Operand("REPORT", "a file of `report`; without options, run its recorded sessions")],
        options: [
            Option("to", value: "ADDRESS", "replay up to this moment"),
            Option(
                "policy", value: "POLICY", choices: ["fail", "server-wins", "client-wins", "merge"],
                "resolve the conflicts of pushes by this policy instead"),
            Option("without", value: "ADDRESS", "leave out an event or a range; can be repeated"),
            Option("bisect", value: "EXPR", "find the first event that makes the condition true")
                .excluding("policy", "without"),
            Option("from", value: "ADDRESS", "start the search here").needing("bisect"),
            Option("step", "step through the events, at a prompt")
                .excluding("bisect", "policy", "without"),
            Option("expect", value: "FILE", "compare the result with a file of --write-expected")
                .excluding("bisect", "step", "policy", "without", "write-expected"),
            Option("write-expected", value: "FILE", "write the result to a file")
                .excluding("bisect", "step", "policy", "without"),
            .redact,
        ],
        examples: [
            Example("syncline replay", "verify the state of the checkpoints"),
            Example("syncline replay --bisect \"todoitem/a.text eq 'milk'\"", "find the event that wrote a value"),
            Example("syncline replay --policy client-wins", "try another policy"),
            Example("syncline replay bug.jsonl", "run the sessions of a report"),
        ],
        result:
            #"""
            {"from":"@1","through":"@41","events":n,"matches":bool,"mismatches":[…],"changes":{…},\#
            "expected":{"matches":bool,"difference":{"line":n,"expected",\#
            "found"}}}; with --bisect {"event":{…} or null,"examined":n,"searched":"@1..41",\#
            "heldBefore":bool,"count":{"before":n,"after":n} or null}; with --policy or --without \#
            {"through","differences":[…],"decisions":[…],\#
            "leftOut":[…],"impossible":[…]}
            """#,
        exits: [
            Exit(.done, "the state matches, nothing would differ, or an event was found"),
            Exit(.no, "no match, rows would differ, or the condition was never true"),
        ], run: run)

    private static func run(_ arguments: Arguments, _ context: Context) async throws -> ExitCode {
        var arguments = arguments
        if let file = arguments.operands.first { arguments.setStore(file) }
        let path = try StoreLocation.find(arguments, context.environment).path
        let questions = ["bisect", "step", "policy", "without", "to", "expect", "write-expected"]
        if ReportShelf.isFile(path), !questions.contains(where: { arguments.value($0) != nil || arguments.flag($0) }) {
            return try await ReportReplay.run(path, context)
        }
        let storage = try context.storage(arguments)
        let last = try arguments.value("to").map { try context.event(at: $0, storage) }
        if let text = arguments.value("bisect") { return try bisect(text, last, storage, arguments, context) }
        if arguments.flag("step") { return try await Stepper(storage, context).run(from: last) }
        var variation = ReplayVariation()
        for text in arguments.values(of: "without") { variation.without.formUnion(try events(text, storage, context)) }
        variation.policy = arguments.value("policy").flatMap { SyncCommands.policy($0) }
        if variation.isNone { return try check(last, storage, arguments, context) }
        return try vary(variation, last, storage, arguments, context)
    }

    private static func events(
        _ text: String, _ storage: any LogStorage, _ context: Context
    ) throws -> ClosedRange<UInt64> {
        guard case .records(.range(let range))? = Address(text) else {
            let event = try context.event(at: text, storage)
            return event...event
        }
        return range.first.rawValue...(try context.event(at: "@\(range.last.rawValue)", storage))
    }

    // MARK: Check

    private static func check(
        _ last: UInt64?, _ storage: any LogStorage, _ arguments: Arguments, _ context: Context
    ) throws -> ExitCode {
        let found = try context.whileReading("folding") {
            try HistoryReading.run(storage) {
                let report = try LogInspection(storage).verify()
                if let damage = report.damage.first(where: { $0.remedy == .salvage }) { throw damage.error }
                let notes = report.segments.compactMap { segment in
                    segment.note.map { (note: $0, file: segment.name) }
                }
                return try StateCheck(storage, notes: notes).fold(through: last, fromBeginning: true)
            }
        }
        let changes = found.projector.totals.json
        let difference = try arguments.value("expect").flatMap {
            try ExpectedState.compare(found.projector, with: $0)
        }
        let written = try arguments.value("write-expected").map { try ExpectedState.write(found.projector, to: $0) }
        let mismatches = found.mismatches.map { mismatch -> JSONValue in
            [
                "event": .string("@\(mismatch.event)"), "source": .string(mismatch.source),
                "file": .string(mismatch.file),
            ]
        }
        try context.output.value([
            "from": .string("@\(found.from + 1)"), "through": .string("@\(found.projector.through)"),
            "events": .number(found.projector.through - found.from), "matches": .boolean(mismatches.isEmpty),
            "compared": .number(found.compared), "mismatches": .array(mismatches), "changes": changes,
            "expected": arguments.value("expect").map { _ in
                ["matches": .boolean(difference == nil), "difference": difference?.json ?? .null]
            },
            "written": written.map { .number($0) },
        ])
        let style = context.output.style
        for mismatch in found.mismatches {
            try context.output.line(
                style.paint("! ", .bad)
                    + (mismatch.isOfEntries ? "\(mismatch.file): \(mismatch.sentence)" : mismatch.sentence))
        }
        let count = counted(found.projector.through - found.from, "event")
        let verdict =
            mismatches.isEmpty
            ? "\(count) replayed; the state matches \(counted(UInt64(found.compared), "digest"))"
            : "\(count) replayed; the state does not match \(counted(UInt64(mismatches.count), "digest"))"
        try context.output.line(style.paint(verdict, mismatches.isEmpty ? .good : .bad))
        if let file = arguments.value("write-expected"), let written {
            try context.output.line("\(escaped(file)): \(counted(UInt64(written), "line"))")
        }
        if let file = arguments.value("expect") {
            for line in ExpectedState.lines(difference, file, style) { try context.output.line(line) }
        }
        return mismatches.isEmpty && difference == nil ? .done : .no
    }

    // MARK: Search

    private static func bisect(
        _ text: String, _ last: UInt64?, _ storage: any LogStorage, _ arguments: Arguments, _ context: Context
    ) throws -> ExitCode {
        let condition = try Bisection.condition(text)
        let from = try arguments.value("from").map {
            try Moment.first(from: $0, storage, now: context.clock.now().rawValue)
        }
        if let from, let last, from > last {
            throw ToolError.usage(
                "nothing is between --from @\(from) and --to @\(last)",
                hint: "Start at @\(last) or before: --from @\(last).")
        }
        let found = try context.whileReading("searching") {
            try HistoryReading.run(storage) {
                try Bisection(
                    storage, condition, from: from, through: last ?? .max, until: context.host.interrupt
                ).run()
            }
        }
        var event: EventSummary?
        if let number = found.event {
            try EventReading(storage, context).forEach(from: number) { number, body in
                event = EventSummary(number: number, event: body, redacts: arguments.flag("redact"))
                return false
            }
        }
        try context.output.value([
            "event": event?.json ?? .null, "condition": .string(text), "examined": .number(found.examined),
            "searched": .optional(found.range), "heldBefore": .boolean(found.heldBefore),
            "count": condition.isOnChanges
                ? ["before": .number(found.counts.before), "after": .number(found.counts.after)] : .null,
        ])
        let style = context.output.style
        if let event {
            try context.output.line(
                "\(style.paint("@\(event.number)", .address))  \(style.paint(event.time, .dim))  \(event.event.cause)  "
                    + escaped(event.line))
            let change = condition.isOnChanges ? "\(found.counts.before) before, \(found.counts.after) after; " : ""
            try context.output.line(style.paint("\(change)searched \(found.range ?? "")", .dim))
        } else {
            try context.output.line(found.sentence(of: condition))
        }
        return event == nil ? .no : .done
    }

    // MARK: Variations

    private static func vary(
        _ variation: ReplayVariation, _ last: UInt64?, _ storage: any LogStorage, _ arguments: Arguments,
        _ context: Context
    ) throws -> ExitCode {
        let claim = HistoryReading.claim(storage)
        defer { claim?.release() }
        let loader = StateLoader(storage)
        var rows = try context.whileReading("reading") { try variedRows(variation, last, storage) }
        var varied: Replay
        var steps: [ReplayStep]
        repeat {
            varied = Replay(from: try loader.earliest(), variation, of: rows.keys)
            steps = []
            try context.whileReading("folding") {
                try EventReading(storage, context).forEach(from: varied.through + 1) { number, event in
                    if number > last ?? .max { return false }
                    let step = try varied.step(event, number: number)
                    if step.outcome != .folded || !step.decisions.isEmpty { steps.append(step) }
                    return true
                }
            }
        } while rows.add(impossible: steps)
        let decisions = try steps.flatMap(\.decisions) + varied.finish()
        let happened = try context.load(storage, through: varied.through).present
        var differences: [RowDifference] = []
        let redacts = arguments.flag("redact")
        let before = try PushCounts(happened).toPush
        let pending: Int
        if let keys = rows.keys?.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
            try happened.differences(of: keys, to: varied.reader) { differences.append($0) }
            pending = try before - happened.sentCount(of: keys) + varied.reader.sentCount(of: keys)
        } else {
            try happened.differences(to: varied.reader) { differences.append($0) }
            pending = try PushCounts(varied.reader).toPush
        }
        try context.output.value([
            "through": .string("@\(varied.through)"),
            "differences": .array(differences.map { $0.json(redacts: redacts) }),
            "decisions": .array(decisions.map(\.json)),
            "leftOut": .array(steps.filter { $0.outcome == .leftOut }.map { .string("@\($0.number)") }),
            "impossible": .array(steps.compactMap { $0.impossibleJSON }),
            "pending": ["before": .number(before), "after": .number(pending)],
        ])
        try show(steps, decisions, differences, redacts, context)
        try context.output.line("operations pending: \(before) → \(pending)")
        return differences.isEmpty && before == pending ? .done : .no
    }

    /// The rows that can differ: all, if something in the log can't be read.
    private static func variedRows(
        _ variation: ReplayVariation, _ last: UInt64?, _ storage: any LogStorage
    ) throws -> VariedRows {
        let start = try StateLoader(storage).earliest()
        var rows = VariedRows(variation, from: start)
        var isDamaged = false
        try LogInspection(storage).forEachRecord(from: start.through + 1) { number, record in
            if number > last ?? .max || isDamaged { return false }
            guard let event = try? Event(record, shapes: start.shapes) else {
                isDamaged = true
                return false
            }
            try rows.add(event, number: number) { try EventWalk(storage).event($0) }
            return rows.keys != nil
        } lost: {
            isDamaged = isDamaged || $0.isLoss
        }
        if isDamaged { rows.addAll() }
        return rows
    }

    private static func show(
        _ steps: [ReplayStep], _ decisions: [ReplayStep.Decision], _ differences: [RowDifference], _ redacts: Bool,
        _ context: Context
    ) throws {
        guard context.output.form.isText else { return }
        let style = context.output.style
        for decision in decisions {
            let (address, resolution) = (style.paint("@\(decision.event)", .address), decision.resolution)
            try context.output.line(
                "\(address)  decided: \(resolution.choice.word) for "
                    + escaped("\(resolution.table)/\(resolution.id)"))
        }
        for step in steps {
            let address = style.paint("@\(step.number)", .address)
            switch step.outcome {
            case .folded: break
            case .leftOut:
                let line = EventSummary(number: step.number, event: step.event).line
                try context.output.line("\(address)  left out: \(escaped(line))")
            case .impossible(let why):
                try context.output.line("\(address)  impossible: \(escaped(why))")
            }
        }
        try context.output.line(
            differences.isEmpty
                ? "no row would differ" : "\(counted(UInt64(differences.count), "row")) would differ")
        for difference in differences {
            try context.output.line("  \(difference.change) \(escaped("\(difference.table)/\(difference.id)"))")
            for (name, old, new) in difference.shownFields(redacts: redacts) {
                try context.output.line("    \(name): \(old) → \(new)")
            }
        }
    }
}

extension ReplayStep.Decision {
    fileprivate var json: JSONValue {
        [
            "event": .string("@\(event)"), "table": .string(resolution.table), "id": .string(resolution.id),
            "choice": .string(resolution.choice.word),
        ]
    }
}

extension ReplayStep {
    fileprivate var impossibleJSON: JSONValue? {
        guard case .impossible(let why) = outcome else { return nil }
        return ["event": .string("@\(number)"), "reason": .string(why)]
    }
}

extension ChangeCounts {
    /// The differences of the changes, by name.
    var named: KeyValuePairs<String, UInt64> {
        [
            "made": made, "unconfirmed": pending, "done": done, "superseded": superseded, "cancelled": cancelled,
            "resolved": resolved,
        ]
    }

    var json: JSONValue { .object(named.map { .init(key: $0.key, value: .number($0.value)) }) }
}
