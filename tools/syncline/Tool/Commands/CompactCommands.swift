// `compact` and `checkpoint`: what keeps a store small and quick to open.

import Syncline
import SynclineInspect

enum CompactCommands {
    static let compact = Command(
        "compact", "writes a checkpoint of the whole state and lets go of old history",
        details: [
            """
            Closes the log's segment, writes a checkpoint of the whole state and reads it back. Then whole segments go \
            that the setting `retention` does not ask for, and only below a checkpoint from which the rest can be \
            folded. Changes that no server has confirmed are written into the log again first. A retention of `all`, the \
            default, keeps everything.
            """,
            """
            Nothing goes if the checkpoint holds other entries than the events made (`store-corrupt`; `syncline repair` \
            sets it aside), nor what another process is reading.
            """,
        ],
        examples: [Example("syncline compact", "lets go of what the retention does not ask for")],
        result: #"{"checkpoint":"@40","firstEvent":"@17","segmentsRemoved":n,"bytesRemoved":n}"#
    ) { arguments, context in
        // Printed once the store is closed: a failure to close it must be the only answer.
        let report = try await context.withDatabase(arguments) { try await $0.compact() }
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
        "checkpoint", "writes a checkpoint, so that the next opening folds nothing",
        examples: [Example("syncline checkpoint", "of everything there is now")], result: #"{"checkpoint":"@40"}"#
    ) { arguments, context in
        let event = try await context.withDatabase(arguments) { database in
            try await database.checkpoint()
            return database.lastEvent
        }
        try context.output.value(["checkpoint": .string("@\(event)")])
        try context.output.line("checkpoint through @\(event)")
        return .done
    }
}
