// `raw append`: reads lines and prints acknowledgements. A printed record is in the log, even if the process is killed.

import SegmentLog
import Syncline

enum RawAppendCommand {
    static let command = Command(
        "raw append", "append lines of the input as records",
        details: [
            """
            Each line of standard input, or each group of N lines with --batch, is one commit, and so are the lines \
            left at the end. The numbers of its records are printed after it is stored as --durability says.
            """,
            """
            If --store names a log that does not exist, it is created. The log of an app's store is refused.
            """,
        ],
        options: [
            Option(
                "durability", value: "LEVEL", choices: Durability.names,
                "durability of a commit before it is printed (default: durable)"),
            Option("batch", value: "N", "lines per commit (default: 1)"),
        ],
        examples: [
            Example("seq 1000 | syncline raw append -s demo.log", "a thousand durable commits"),
            Example("syncline raw append -s demo.log --batch 100 < lines.txt", "a hundred lines per commit"),
        ],
        result: #"[{"records":"@1..3","count":3}]"#,
        exits: [Exit(.done, "everything was stored"), Exit(.failed, "records that were not printed may be missing")],
        run: run)

    private static func run(_ arguments: Arguments, _ context: Context) async throws -> ExitCode {
        let size = try arguments.number("batch", in: 1...1_000_000) ?? 1
        let durability = Durability(name: arguments.value("durability") ?? "durable")
        let location = try StoreLocation.find(arguments, context.environment)
        let storage = POSIXStorage(directory: location.path)
        guard try !EventWalk(storage).holdsEvents else {
            throw ToolError.usage(
                "\(storage.location) is an app's store: lines in its log would make it unusable",
                hint: "Change its rows with `insert`, `update` and `delete`, or name another log with --store.")
        }
        let writer = try LogWriter.open(
            storage, creating: location.isNamed ? .ifMissing : .never, clock: context.clock)
        if context.environment.inputIsTerminal {
            context.narration.hint("Each line is a record; Ctrl-D ends.")
        }
        try context.output.beginList()
        do {
            try append(context, writer, size, durability)
        } catch is ClosedPipe {
            // The reader of the output is gone; stored records stay.
        }
        if let failure = try writer.closeAfterAppends() { context.narration.warnOfClosing(failure.message) }
        try context.output.endList()
        return .done
    }

    private static func append(_ context: Context, _ writer: LogWriter, _ size: UInt64, _ durability: Durability) throws
    {
        var batch = RecordBatch()
        while let line = try context.host.input.next() {
            batch.append(line)
            if batch.count < size { continue }
            try commit(&batch, context, writer, durability)
        }
        if !batch.isEmpty { try commit(&batch, context, writer, durability) }
    }

    private static func commit(
        _ batch: inout RecordBatch, _ context: Context, _ writer: LogWriter, _ durability: Durability
    ) throws {
        let range = try writer.append(batch, durability: durability)
        batch.removeAll()
        try context.output.line(range.description)
        try context.output.element(["records": .string(range.description), "count": .number(range.count)])
        try context.output.flush()
    }
}
