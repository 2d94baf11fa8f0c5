// `mirror`: keeps an SQLite file with the rows of a store, for programs that read SQLite.

import SegmentLog
import Syncline
import SynclineCore
import SynclineInspect
import SynclineSQL

enum MirrorCommand {
    static let command = Command(
        "mirror", "write the tables into an SQLite file, and keep it in step",
        details: [
            """
            Each table of the store becomes a table of the file, with the same columns and indexes. An update is one \
            transaction, which also notes the event in the table syncline_stamp: whatever is killed, the file is at an \
            exact event. A file that is not a mirror is never changed. Other programs should only read the file: what \
            they write is lost when the row changes in the store.
            """
        ],
        operands: [Operand("FILE", "the SQLite file", isRequired: true)],
        options: [Option("follow", short: "f", "update the file after each event, until interrupted")],
        examples: [
            Example("syncline mirror notes.sqlite", "make the file, or bring it to the newest event"),
            Example("syncline mirror notes.sqlite -f", "keep it in step with another process"),
        ],
        result: #"{"file","event"}, one per update with --follow and --jsonl"#
    ) { arguments, context in
        let mirror = Mirror(file: arguments.operands[0], arguments: arguments, context: context)
        guard arguments.flag("follow") else {
            let event = try await mirror.update()
            try context.output.value(mirror.json(event))
            return .done
        }
        try context.output.beginList()
        try await mirror.follow()
        try context.output.endList()
        return .done
    }
}

/// The mirror of a command.
private struct Mirror {
    let file: String
    let arguments: Arguments
    let context: Context

    /// The pause between two looks for new events.
    private static let pause = Duration.milliseconds(10)

    func json(_ event: UInt64) -> JSONValue { ["file": .string(file), "event": .string("@\(event)")] }

    /// Brings the file to the newest event.
    nonisolated(nonsending) func update() async throws -> UInt64 {
        let view = try await context.view(arguments)
        let event = try SQLMirror.update(at: file, to: SQLSource(view.reader, event: view.through, view.storage))
        try context.output.line("\(file) is at @\(event)")
        return event
    }

    nonisolated(nonsending) func follow() async throws {
        context.host.interrupt.listen()
        let storage = try await context.view(arguments).storage
        var event = try await update()
        try context.output.element(json(event))
        try context.output.flush()
        var cursor = try LogReader.open(storage, showing: .written).cursor(from: SequenceNumber(rawValue: event + 1))
        while !context.host.interrupt.isSet {
            var hasNews = false
            while try cursor.nextFrame() { hasNews = true }
            if hasNews {
                event = try await update()
                try context.output.element(json(event))
                try context.output.flush()
            }
            if context.output.isClosed { throw ClosedPipe() }
            try await Task.sleep(for: Mirror.pause)
        }
    }
}
