// `status`: the store on one page: where it is, whether it is well, what is not pushed, when it last synced, its tables
// with the types of their columns, and what to do next.

import SegmentLog
import Syncline
import SynclineCore

enum StatusCommand {
    static let command = Command(
        "status", "show the state of the store, and what to do next",
        details: [
            """
            Each table is shown with its columns, their types, and the number of values that do not fit. A column \
            without a declared type is shown by its name.
            """,
            """
            `last push` counts from the first request to the last answer. A push with nothing to send and a pull that \
            brought nothing leave no event, and no event says that a pull ended: `last page` shows what it last \
            brought. Only the newest events are searched (`searched` is the first of them). `verify` reads every frame.
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
            "checkpoints":n,"checkpointBytes":n,"newestCheckpoint","damage":n},"tables":[… as in inspect tables],\#
            "next":[{"command","effect"}]}
            """#,
        run: run)

    private nonisolated(nonsending) static func run(_ arguments: Arguments, _ context: Context) async throws -> ExitCode
    {
        let view = try await context.view(arguments)
        let path = try context.path(reading: arguments)
        let status = try context.whileReading("reading") { try StoreStatus(view, at: path) }
        try context.output.value(status.json)
        let now = context.clock.now().rawValue
        for line in status.lines(context.output.style, now: now) { try context.output.line(line) }
        return .done
    }
}

extension StoreStatus {
    /// Reads a store. Nothing is written, and another process may write it meanwhile.
    fileprivate init(_ view: StoreView, at path: String) throws {
        let reader = view.reader
        let byTable = try PushCounts.byTable(reader)
        let counts = PushCounts(byTable.values)
        func setting(_ name: String) throws -> String? {
            if case .string(let text)? = try reader.setting(name) { text } else { nil }
        }
        var reading = try RecentEvents(view.storage, through: view.through)
        if !reading.isComplete { try reading.goFurtherBack() }
        self.init(
            path: path, backend: try setting("backend"), dialect: try setting("protocol"),
            schema: try reader.declaration?.version ?? 0, event: view.through, until: reading.until,
            outbox: [
                ("toPush", counts.toPush, "to push"), ("conflict", counts.conflicts, "in conflict"),
                ("parked", counts.parked, "refused by the server"), ("held", counts.held, "held"),
                ("after", counts.after, "after one of these"),
                ("waiting", try WaitingChange.all(view.storage).count, "of other processes, not taken in"),
            ],
            unreadable: try reader.unreadableRows().count, tables: try TableSummary.all(reader, byTable),
            cursors: try reader.cursors(), layout: reading.layout,
            syncs: reading.syncs, searched: reading.first)
    }
}

/// The newest events of a log, and its files.
private struct RecentEvents {
    private let storage: any LogStorage
    private let last: UInt64
    private(set) var layout = StoreStatus.Layout()
    private(set) var syncs = LastSyncs()
    /// The first event that was read, and the time of the last.
    private(set) var first: UInt64
    private(set) var until: Int64?
    private var damage: Set<LogDamage> = []

    /// How many events are read first, and how many if these do not tell enough.
    private static let windows: (UInt64, UInt64) = (1 << 14, 1 << 18)

    init(_ storage: any LogStorage, through last: UInt64) throws {
        (self.storage, self.last) = (storage, last)
        let catalog = try LogInspection(storage).catalog()
        damage = Set(catalog.damage.filter { $0.remedy != .cutTail })
        layout.first = max(1, catalog.floor.rawValue)
        layout.segments = catalog.segments.count
        layout.bytes = catalog.segments.reduce(0) { $0 + $1.size }
        layout.checkpoints = catalog.checkpoints.count
        layout.newestCheckpoint = catalog.checkpoints.last?.rawValue
        for through in catalog.checkpoints {
            layout.checkpointBytes += RecentEvents.size(FileName.checkpoint(through: through), storage)
        }
        first = layout.first
        try read(RecentEvents.windows.0)
        try readBeginning()
    }

    private static func size(_ name: String, _ storage: any LogStorage) -> UInt64 {
        // A writer may have removed it.
        guard let file = try? storage.openForReading(name) else { return 0 }
        defer { file.close() }
        return (try? file.size()) ?? 0
    }

    /// Whether the events that were read tell of a push and of a pull, or are all.
    var isComplete: Bool { first == layout.first || syncs.push?.sent != nil && !syncs.pages.isEmpty }

    mutating func goFurtherBack() throws { try read(RecentEvents.windows.1) }

    private mutating func read(_ count: UInt64) throws {
        first = max(layout.first, last + 1 - min(last, count))
        var (syncs, until) = (LastSyncs(), Int64?.none)
        var found: [LogDamage] = []
        let shapes = ShapeTable()
        try LogInspection(storage).forEachRecord(from: first) { number, record in
            guard number <= last else { return false }
            guard let event = try? Event(record, shapes: shapes) else { return true }
            syncs.add(event, number: number)
            until = event.time
            return true
        } lost: { lost in
            if case .damage(let damage) = lost, damage.remedy != .cutTail { found.append(damage) }
        }
        (self.syncs, self.until) = (syncs, until)
        damage.formUnion(found)
        layout.damage = damage.count
    }

    /// Reads when the first event was written.
    private mutating func readBeginning() throws {
        var since: Int64?
        let shapes = ShapeTable()
        try LogInspection(storage).forEachRecord(from: layout.first) { _, record in
            since = (try? Event(record, shapes: shapes))?.time
            return false
        } lost: { _ in
        }
        layout.since = since
    }
}
