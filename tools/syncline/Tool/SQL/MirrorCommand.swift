// `mirror`: keeps an SQLite file with the rows of a store, for programs that read SQLite.

import Syncline
import SynclineSQL

enum MirrorCommand {
    static let command = Command(
        "mirror", "write the tables to an SQLite file, and keep it up to date",
        details: [
            """
            Each table of the store becomes a table of the file. An update is one transaction, and the table \
            syncline_stamp has the number of its event. A file that is not a mirror is never changed.
            """
        ],
        operands: [Operand("FILE", "the SQLite file", isRequired: true)],
        options: [Option("follow", short: "f", "update the file after each event, until interrupted").endless],
        examples: [
            Example("syncline mirror notes.sqlite", "make the file, or update it to the newest event"),
            Example("syncline mirror notes.sqlite -f", "keep it up to date while another process writes"),
        ],
        result: #"{"file","event"}, one per update with --follow and --jsonl"#
    ) { arguments, context in
        let path = arguments.operands[0]
        let file = try MirrorFile(path)
        if arguments.flag("follow") {
            try await follow(file, path, try context.storage(arguments), context)
        } else {
            let view = try await context.view(arguments)
            let event = try file.update(to: SQLSource(view.reader, event: view.through, view.storage))
            try context.output.value(json(path, event))
            try context.output.line(line(path, event))
        }
        return .done
    }

    private static func json(_ path: String, _ event: UInt64) -> JSONValue {
        ["file": .string(path), "event": .string("@\(event)")]
    }

    private static func line(_ path: String, _ event: UInt64) -> String { "\(escaped(path)) is at @\(event)" }

    /// Updates the file now and after each event, until interrupted.
    private static func follow(
        _ file: MirrorFile, _ path: String, _ storage: any LogStorage, _ context: Context
    ) async throws {
        try context.output.beginList()
        var last: UInt64 = 0
        while true {
            let first = try EventWalk(storage).first
            do {
                try await follow(file, path, storage, context, &last)
                return try context.output.endList()
            } catch {
                // The writer has removed history that was not read here yet: begin again with the newest state.
                guard ToolError(error)?.code == "collected", try EventWalk(storage).first > first else { throw error }
            }
        }
    }

    /// The state stays in memory, and only new events are read.
    private static func follow(
        _ file: MirrorFile, _ path: String, _ storage: any LogStorage, _ context: Context, _ last: inout UInt64
    ) async throws {
        let projector = try context.load(storage, through: nil)
        func update() throws {
            let reader = projector.reader(of: projector.store.endCommit())
            let event = try file.update(to: SQLSource(reader, event: projector.through, storage))
            // Another process may have written a later event, which is already reported.
            guard event > last else { return }
            last = event
            try context.output.element(json(path, event))
            try context.output.line(line(path, event))
        }
        try update()
        try await context.follow(storage, from: projector.through + 1) { _ in
        } caughtUp: {
            try StateLoader(storage).update(projector)
            try update()
        }
    }
}
