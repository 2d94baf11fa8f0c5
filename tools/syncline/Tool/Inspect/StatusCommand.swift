// `status`: the store on one page: where it is, whether it is well, what is not pushed, when it last synced, its tables
// with the types of their columns, and what to do next.

import SegmentLog
import Syncline

enum StatusCommand {
    static let command = Command(
        "status", "show the state of the store, and what to do next",
        details: [
            """
            Tables are shown with the types of their columns, and the number of values that do not fit.
            """,
            """
            `last push` counts from the first request to the last answer. A push with nothing to send and a pull that \
            brought nothing leave no event: `last page` shows what a pull last brought.
            """,
        ],
        examples: [Example("syncline status", "the nearest store")],
        result:
            #"""
            {"store","backend","protocol","schema":n,"event":"@41","time","healthy":bool,"findings":["…"],\#
            "outbox":{"toPush":n,"conflict":n,"parked":n,"held":n,"after":n,"waiting":n},"unreadable":n,\#
            "lastPush":{"events":"@9..15","outcome":"complete|incomplete|unanswered","sent","until","seconds":n,\#
            "operations":{"done":n,…},"unanswered":n} or null,\#
            "lastPages":[{"table","queryId","event","time","rows":n,"deleted":n,"unreadable":n}],"searched":"@1",\#
            "cursors":[… as in cursors],"history":{"first":"@1","since"},"log":{"segments":n,"bytes":n,\#
            "checkpoints":n,"checkpointBytes":n,"newestCheckpoint","damage":n},"branches":["…"],"tables":[… as in inspect tables],\#
            "next":[{"command","effect"}]}
            """#,
        run: run)

    private static func run(_ arguments: Arguments, _ context: Context) async throws -> ExitCode {
        let view = try await context.view(arguments)
        let path = try context.path(reading: arguments)
        let status = try context.whileReading("reading") {
            // A compaction may remove what it reads.
            try HistoryReading.run(view.storage, claiming: false) {
                try StoreStatus(view.reader, in: view.storage, through: view.through)
            }
        }
        let branches = try Branches.names(view.storage)
        try context.output.value(status.json(of: path, branches))
        let now = context.clock.now().rawValue
        for line in status.lines(of: path, branches, context.output.style, now: now) { try context.output.line(line) }
        return .done
    }
}
