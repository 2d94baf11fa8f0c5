// `compact` and `checkpoint`: keep a store small and quick to open.

import Syncline

enum CompactCommands {
    static let compact = Command(
        "compact", "write a checkpoint of the whole state and remove old history",
        details: [
            """
            It removes whole segments that the setting `retention` (default: `all`) does not keep, before a checkpoint \
            from which the rest can be replayed. Unconfirmed changes are first written into the log again.
            """,
            """
            Nothing is removed that another process is reading, or if the checkpoint differs from the state of the \
            events (`store-corrupt`; `syncline repair` quarantines it).
            """,
        ],
        examples: [Example("syncline compact", "remove what the setting `retention` does not keep")],
        result: #"{"checkpoint":"@40","firstEvent":"@17","segmentsRemoved":n,"bytesRemoved":n}"#
    ) { arguments, context in
        // Printed after the store is closed, so that an error on closing is the only answer.
        let report = try await context.withDatabase(arguments) { database in
            try await context.whileReading("compacting") { try await database.compact() }
        }
        try context.output.value([
            "checkpoint": .string("@\(report.checkpoint)"), "firstEvent": .string("@\(report.firstEvent)"),
            "segmentsRemoved": .number(report.segmentsRemoved), "bytesRemoved": .number(report.bytesRemoved),
        ])
        try context.output.line(
            "checkpoint through @\(report.checkpoint); the history begins with @\(report.firstEvent)")
        if report.segmentsRemoved > 0 {
            try context.output.line(
                "\(counted(UInt64(report.segmentsRemoved), "segment")) removed, \(humanBytes(report.bytesRemoved))")
        }
        return .done
    }

    static let checkpoint = Command(
        "checkpoint", "write a checkpoint, so that the store opens without replaying events",
        examples: [Example("syncline checkpoint", "of the current state")], result: #"{"checkpoint":"@40"}"#
    ) { arguments, context in
        let event = try await context.withDatabase(arguments) { database in
            try await context.whileReading("writing") { try await database.checkpoint() }
            return database.lastEvent.rawValue
        }
        return try context.output.result(["checkpoint": .string("@\(event)")], "checkpoint through @\(event)")
    }
}
