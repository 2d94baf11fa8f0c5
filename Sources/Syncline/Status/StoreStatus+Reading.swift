// Reads the state of a store from its log and its files. Nothing is written, and another process may write meanwhile.

import Foundation
package import SegmentLog
package import SynclineCore
package import SynclineGround

extension SyncDatabase {
    /// Returns the state of the store on one page: what waits in the outbox, when it last synced and how that went, its
    /// tables, its history and its files.
    ///
    /// The last syncs are searched in the newest 262,144 events.
    @concurrent
    public func status() async throws(SyncError) -> StoreStatus {
        let current = writer.current
        let reader = try current.reader
        return try readHistory { () throws(SyncError) in
            try StoreStatus(reader, in: storage, through: current.through)
        }
    }
}

extension StoreStatus {
    package init(_ reader: StateReader, in storage: any LogStorage, through last: UInt64) throws(SyncError) {
        let byTable = try PushCounts.byTable(reader)
        let counts = PushCounts(byTable.values)
        func setting(_ name: String) throws(SyncError) -> String? {
            if case .string(let text)? = try reader.setting(name) { text } else { nil }
        }
        var reading = try RecentEvents(storage, through: last)
        if !reading.isComplete { try reading.goFurtherBack() }
        (backend, dialect) = (try setting("backend"), try setting(SettingName.serverProtocol))
        schema = try reader.declaration?.version ?? 0
        (lastEvent, lastDate) = (EventNumber(rawValue: last), reading.until.map { Date(milliseconds: $0) })
        (firstEvent, firstDate) = (EventNumber(rawValue: reading.floor), reading.since.map { Date(milliseconds: $0) })
        outbox = Outbox(counts, ofOtherProcesses: try WaitingChange.all(storage).count)
        unreadable = try reader.unreadableRows().count
        tables = try Table.all(reader, byTable)
        cursors = try reader.cursors().map {
            QueryCursor(table: $0.table, queryID: $0.queryID, state: $0.state)
        }
        (lastPush, lastPages) = (reading.syncs.push, reading.syncs.pages)
        searchedFrom = EventNumber(rawValue: reading.first)
        files = reading.files
    }
}

extension StoreStatus.Outbox {
    package init(_ counts: PushCounts, ofOtherProcesses: Int) {
        self.init()
        (toPush, conflicts, refused, held) = (counts.toPush, counts.conflicts, counts.parked, counts.held)
        (after, self.ofOtherProcesses) = (counts.after, ofOtherProcesses)
    }
}

extension StoreStatus.Table {
    /// All tables that have rows, or are declared.
    package static func all(_ reader: StateReader, _ outbox: [ExactString: PushCounts]) throws(SyncError) -> [Self] {
        let declaration = try reader.declaration
        let cursors = Dictionary(grouping: try reader.cursors()) { ExactString($0.table) }
        let names = (try reader.tables() + (declaration?.tables.map(\.name) ?? []) + reader.types.names).exact
        return try names.sorted().map(\.text).map { name throws(SyncError) in
            let own = outbox[ExactString(name)] ?? PushCounts()
            let types = try reader.types(of: name)
            let known = Dictionary(types.columns.map { (ExactString($0.name), $0.type) }) { $1 }
            let unfit = try reader.unfitValues(of: name)
            return Self(
                name: name, rows: try reader.count(RowQuery(table: name)), pending: own.all, undecided: own.undecided,
                cursors: cursors[ExactString(name)]?.count ?? 0,
                columns: (try reader.columns(of: name) + types.columns.map(\.name)).exact.sorted().map {
                    StoreStatus.Column(name: $0.text, type: known[$0], unfit: unfit[$0] ?? 0)
                },
                localColumns: (declaration?.localColumns(of: name) ?? []).sorted().map(\.text),
                isLocal: types.isLocal)
        }
    }
}

/// The newest events of a log, and its files.
private struct RecentEvents {
    private let storage: any LogStorage
    private let last: UInt64
    private(set) var files = StoreStatus.Files()
    private(set) var syncs = LastSyncs()
    /// The first event that is kept, and its time.
    private(set) var floor: UInt64
    private(set) var since: Int64?
    /// The first event that was read, and the time of the last.
    private(set) var first: UInt64
    private(set) var until: Int64?
    private var damage: Set<LogDamage> = []

    /// How many events are read first, and how many if these do not tell enough.
    private static let windows: (UInt64, UInt64) = (1 << 14, 1 << 18)

    init(_ storage: any LogStorage, through last: UInt64) throws(SyncError) {
        (self.storage, self.last) = (storage, last)
        let catalog = try storage.inspecting { try $0.catalog() }
        damage = Set(catalog.damage.filter { $0.remedy != .cutTail })
        floor = max(1, catalog.floor.rawValue)
        first = floor
        files.segments = catalog.segments.count
        files.bytes = catalog.segments.reduce(0) { $0 + $1.size }
        files.checkpoints = catalog.checkpoints.count
        files.newestCheckpoint = catalog.checkpoints.last.map { EventNumber(rawValue: $0.rawValue) }
        for through in catalog.checkpoints {
            files.checkpointBytes += storage.size(of: FileName.checkpoint(through: through))
        }
        try read(RecentEvents.windows.0)
        try readBeginning()
    }

    /// Whether the events that were read tell of a push and of a pull, or are all.
    var isComplete: Bool { first == floor || syncs.push?.begin != nil && !syncs.pages.isEmpty }

    mutating func goFurtherBack() throws(SyncError) { try read(RecentEvents.windows.1) }

    private mutating func read(_ count: UInt64) throws(SyncError) {
        first = max(floor, last + 1 - min(last, count))
        let (start, last) = (first, last)
        var (syncs, until) = (LastSyncs(), Int64?.none)
        var found: [LogDamage] = []
        let shapes = ShapeTable()
        try storage.inspecting { log in
            try log.forEachRecord(from: start) { number, record in
                guard number <= last else { return false }
                guard let event = try? Event(record, shapes: shapes) else { return true }
                syncs.add(event, number: number)
                until = event.time
                return true
            } lost: { lost in
                if case .damage(let damage) = lost, damage.remedy != .cutTail { found.append(damage) }
            }
        }
        (self.syncs, self.until) = (syncs, until)
        damage.formUnion(found)
        files.damage = damage.count
    }

    /// Reads when the first event was written.
    private mutating func readBeginning() throws(SyncError) {
        var since: Int64?
        let (start, shapes) = (floor, ShapeTable())
        try storage.inspecting { log in
            try log.forEachRecord(from: start) { _, record in
                since = (try? Event(record, shapes: shapes))?.time
                return false
            }
        }
        self.since = since
    }
}

extension LogStorage {
    /// The size of a file; 0 if a writer has removed it.
    package func size(of name: String) -> UInt64 {
        guard let file = try? openForReading(name) else { return 0 }
        defer { file.close() }
        return (try? file.size()) ?? 0
    }

    fileprivate func inspecting<Result>(_ body: (LogInspection) throws -> Result) throws(SyncError) -> Result {
        do {
            return try body(LogInspection(self))
        } catch let error as LogError {
            throw SyncError(error)
        } catch {
            throw error as? SyncError ?? SyncError(.internalError, "\(error)")
        }
    }
}
