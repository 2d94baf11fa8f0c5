// What an app opens: a store of tables that work without a network. Rows are read and written at once; everything that
// happens is an event in the log, and nothing is lost.

public import SegmentLog
import Synchronization
public import SynclineCore
package import SynclineWire

/// How a store is opened.
public struct SyncConfiguration: Sendable {
    /// Whether opening may make a new store.
    public var creation: LogCreation = .ifMissing
    /// How far a change reaches before the call returns.
    public var durability: Durability = .durable
    /// How ids are compared in a new store.
    public var ids: IDComparison = .exact
    /// The protocol a new store's backend speaks.
    public var wireProtocol = "zumo2"
    /// The app's schema, if it has one: the store records it, and keeps to what it has recorded.
    public var schema: Schema?
    /// How much memory the newest changes may take before they go into a checkpoint.
    public var memoryLimit = ByteCount.mebibytes(16)
    /// The clock and the source of ids.
    public var surroundings: any Surroundings = SystemSurroundings()
    /// Settings of the log.
    public var log = LogConfiguration()
    /// The URL below which tables are at `/tables`; nil for the one the store was told of, or none.
    public var backend: String?
    /// Who knows the token that requests carry; nil for a server that wants none.
    public var credentials: (any CredentialProvider)?
    /// How long to wait for the server and how much to take from it; nil for the limits the store was told of, or the
    /// usual ones.
    public var limits: NetworkLimits?
    /// Where to keep what store and server say to each other, for a report; nil to keep nothing.
    public var recording: TrafficRecording?
    /// The way to the server, where it is not the network.
    package var transport: (any HTTPTransport)?
    /// What the server can do, where an earlier answer said it.
    package var knownOfServer: ServerCapabilities = []

    /// What else a new store is set to.
    package var settings: [(name: String, value: Value)] = []

    /// The settings that suit most apps.
    public init() {}
}

extension SyncConfiguration {
    /// What a new store is set to, by its first events.
    fileprivate var birthSettings: [Event.Body] {
        var settings = [(SettingName.device, Value.string(surroundings.newID())), ("protocol", .string(wireProtocol))]
        if ids == .ignoreCase { settings.append((SettingName.ids, .string("ignore-case"))) }
        return (settings + self.settings).map { .configured(name: $0.0, value: $0.1) }
    }

    /// The records that a new log begins with: its process, and the settings.
    fileprivate func birth(in storage: any LogStorage) -> RecordBatch {
        let settings = birthSettings
        var opening = Opening(
            device: "", engineVersion: engineVersion, projectorVersion: Projector.version,
            schemaVersion: schema?.version ?? 0, place: StorePlace.mark(storage))
        if case .configured(_, .string(let device)?)? = settings.first { opening.device = device }
        var batch = RecordBatch()
        for body in [.opened(opening)] + settings { batch.append(Event(time: surroundings.now(), body).bytes) }
        return batch
    }
}

/// A store of tables.
public final class SyncDatabase: Sendable {
    let writer: StoreWriter
    package let storage: any LogStorage
    let configuration: SyncConfiguration
    let lane = Lane()
    /// The rows whose operations are being sent at this moment.
    let onTheirWay = Mutex<Set<[UInt8]>>([])
    let link = Mutex<ServerLink?>(nil)
    let automatic = Mutex(AutomaticSlot.free)

    private init(_ writer: StoreWriter, _ storage: any LogStorage, _ configuration: SyncConfiguration) {
        self.writer = writer
        self.storage = storage
        self.configuration = configuration
    }

    /// Opens the store in a directory.
    public static func open(
        at path: String, _ configuration: SyncConfiguration = .init()
    ) async throws(SyncError) -> SyncDatabase {
        try await open(POSIXStorage(directory: path), configuration)
    }

    /// Opens the store in a storage.
    public static func open(
        _ storage: any LogStorage, _ configuration: SyncConfiguration = .init()
    ) async throws(SyncError) -> SyncDatabase {
        try configuration.schema?.check()
        try configuration.limits?.check()
        let log = try inAppWords { () throws(LogError) in
            try LogWriter.open(storage, creating: configuration.creation, configuration: configuration.log) {
                configuration.birth(in: $0)
            }
        }
        let projector = try StateLoader(log.storage, removesDamaged: true).load()
        let isNew = projector.through == 0
        let engine = try StoreEngine(
            log, projector, configuration.surroundings, schemaVersion: configuration.schema?.version ?? 0,
            hasSaidOpened: log.isNew)
        let database = SyncDatabase(
            StoreWriter(engine, memoryLimit: Int(configuration.memoryLimit.rawValue)), log.storage, configuration)
        if isNew { try await database.writeBirth() }
        guard let schema = configuration.schema else { return database }
        do throws(SyncError) {
            try await database.open(with: schema)
            return database
        } catch {
            try? await database.close()
            throw error
        }
    }

    /// What is true of a store from its first event on, in a log that was made without it.
    private func writeBirth() async throws(SyncError) {
        let settings = configuration.birthSettings
        try await perform(.durable) { engine throws(SyncError) in
            for setting in settings { try engine.record(setting) }
        }
    }

    /// Makes everything durable and lets go of the store. A sync that runs by itself is stopped first; no request leaves
    /// after that.
    public func close() async throws(SyncError) {
        await automatic.withLock { $0.close() }?.stop()
        try writer.close()
    }

    func perform<Value: Sendable>(
        _ durability: Durability? = nil, _ body: @escaping @Sendable (StoreEngine) throws(SyncError) -> Value
    ) async throws(SyncError) -> Value {
        do {
            return try await writer.perform(durability ?? configuration.durability, body)
        } catch let error as SyncError {
            throw error
        } catch {
            throw SyncError(.internalError, "\(error)")
        }
    }

    // MARK: Tables

    /// A table without a model.
    public func table(_ name: String) -> Table {
        Table(database: self, name: name)
    }

    /// The names of the tables that have rows or pending changes.
    public func tables() async throws(SyncError) -> [String] {
        try inAppWords { () throws(StateError) in try writer.current.reader.tables() }
    }

    /// Changes rows of any tables as one: all of it is stored, or nothing.
    @discardableResult
    public func transaction<Value: Sendable>(
        durability: Durability? = nil, _ body: @escaping @Sendable (Transaction) throws -> Value
    ) async throws -> Value {
        try await perform(transaction: durability, body).value
    }

    /// The same, for its event's number; nil if nothing changed.
    package func transactionEvent(
        durability: Durability? = nil, _ body: @escaping @Sendable (Transaction) throws -> Void
    ) async throws -> UInt64? {
        try await perform(transaction: durability, body).event
    }

    /// Runs a transaction; without a group its only change is an event like any other change.
    func perform<Value: Sendable>(
        transaction durability: Durability?, isGrouped: Bool = true,
        _ body: @escaping @Sendable (Transaction) throws -> Value
    ) async throws -> (value: Value, event: UInt64?) {
        let surroundings = configuration.surroundings
        return try await writer.perform(durability ?? configuration.durability) { engine in
            let (outcome, event) = try engine.local(isGrouped: isGrouped) {
                (writer: inout LocalTransactionWriter) throws(SyncError) -> Result<Value, any Error> in
                let transaction = Transaction(engine, writer, surroundings)
                let result = Result { try body(transaction) }
                writer = transaction.finish()
                return result
            }
            // An error of the app's own passes through as it is; the writer takes back what was done.
            return (try outcome.get(), event)
        }
    }

    // MARK: Outbox

    /// What would be pushed now, in push order.
    public func pending() async throws(SyncError) -> [PlannedOperation] {
        let reader = reader
        var operations = try inAppWords { () throws(StateError) in try PushPlan(reader).operations }
        operations.mark(onTheirWay: rowsOnTheirWay)
        return operations
    }

    /// The rows whose operations are being sent at this moment, by their keys.
    package var rowsOnTheirWay: Set<[UInt8]> { onTheirWay.withLock { $0 } }

    /// The columns an operation sends, sorted.
    public func fields(of operation: PlannedOperation) async throws(SyncError) -> [String] {
        try inAppWords { () throws(StateError) in try PushPlan.fields(of: operation, reader) }
    }

    /// Takes back the newest local transaction that can be, and returns its event.
    @discardableResult
    public func undo() async throws(SyncError) -> UInt64 {
        try await perform { engine throws(SyncError) in
            let reader = engine.reader
            let found = try inAppWords { () throws(StateError) in
                try UndoSearch.newest(reader, through: engine.projector.through)
            }
            guard let event = found else {
                throw SyncError(.operationNotFound, "there is nothing to undo")
            }
            for position in try inAppWords({ () throws(StateError) in try reader.changes(of: event) }) {
                engine.touch(try inAppWords { () throws(StateError) in try reader.table(of: position) })
            }
            try engine.record(.undone(event: event))
            return event
        }
    }

    /// The cursor of each query.
    public func cursors() async throws(SyncError) -> [QueryCursor] {
        try inAppWords { () throws(StateError) in
            try writer.current.reader.cursors().map {
                QueryCursor(table: $0.table, queryID: $0.queryID, state: $0.state)
            }
        }
    }

    /// Makes a query start anew.
    public func resetCursor(table: String, queryID: String) async throws(SyncError) {
        try await perform { engine throws(SyncError) in
            try engine.projector.check(table: table)
            let known = try inAppWords { () throws(StateError) in try engine.reader.cursor(table, queryID) }
            if known != nil { try engine.record(.cursorReset(table: table, queryID: queryID)) }
        }
    }

    /// Removes local rows that match, and all cursors of the table, without telling the server.
    @discardableResult
    public func purge(
        table: String, filter: Expression? = nil, force: Bool = false
    ) async throws(SyncError) -> PurgeReport {
        return try await perform { engine throws(SyncError) in
            try engine.projector.check(table: table)
            let plan = try inAppWords { () throws(StateError) in
                try PurgePlan(engine.reader, table: table, filter: filter)
            }
            guard self.onTheirWay.withLock({ $0.isDisjoint(with: plan.pendingKeys) }) else {
                throw SyncError(
                    .pendingChanges, "an operation on the rows is being sent", hint: "Purge when the push is over.")
            }
            if plan.pending > 0 && !force {
                throw SyncError(
                    .pendingChanges, "\(plan.pending) of the rows have changes that were not pushed",
                    hint: "Push them first, or purge with force to drop them.")
            }
            try engine.record(
                .purged(Purge(table: table, ids: filter == nil ? nil : plan.ids, isForced: force)))
            engine.touch(table)
            return PurgeReport(removed: plan.ids.count, dropped: plan.pending)
        }
    }

    /// Declares an index over a column of a table: queries that compare the column with a value use it by themselves.
    public func declareIndex(table: String, column: String) async throws(SyncError) {
        try await setIndex(table, column, isOn: true)
    }

    /// Drops an index.
    public func dropIndex(table: String, column: String) async throws(SyncError) {
        try await setIndex(table, column, isOn: false)
    }

    private func setIndex(_ table: String, _ column: String, isOn: Bool) async throws(SyncError) {
        try await perform { engine throws(SyncError) in
            try engine.projector.check(table: table)
            let known = try inAppWords { () throws(StateError) in try engine.reader.indexedColumns(of: table) }
            guard known.contains(column) != isOn else { return }
            try engine.record(.indexed(table: table, column: column, isOn: isOn))
        }
    }

    // MARK: Settings

    /// A setting of the store.
    public func setting(_ name: String) async throws(SyncError) -> Value? {
        try inAppWords { () throws(StateError) in try writer.current.reader.setting(name) }
    }

    /// Changes a setting; nil removes it.
    public func set(_ name: String, _ value: Value?) async throws(SyncError) {
        guard !name.utf8.contains(0) else {
            throw SyncError(.invalidConfiguration, "a setting has no such name", hint: "Leave out the zero byte.")
        }
        try await perform { engine throws(SyncError) in
            _ = try engine.record(.configured(name: name, value: value))
        }
        forgetServer()
    }

    /// Throws if the store was replaced or may not be written for another reason; whatever is kept beside the log asks
    /// before it is changed.
    package func checkWritable() async throws(SyncError) { try await writer.flush() }

    /// Makes the next push or pull find its way to the server anew, with what is configured by then.
    package func forgetServer() { link.withLock { $0 = nil } }

    /// Writes a checkpoint now, so that the next opening folds nothing.
    public func checkpoint() async throws(SyncError) {
        try writer.checkpoint()
    }

    /// The state as it is now.
    package var reader: StateReader { writer.current.reader }

    /// What became of every change.
    public var totals: Totals { writer.current.totals }
    /// The last event.
    public var lastEvent: UInt64 { writer.current.through }
}

extension [PlannedOperation] {
    /// Marks those that are being sent.
    package mutating func mark(onTheirWay rows: Set<[UInt8]>) {
        if rows.isEmpty { return }
        for index in indices where self[index].isFrozen && self[index].state == .pending {
            if rows.contains(self[index].rowKey) { self[index].state = .inFlight }
        }
    }
}

/// Where a query stands.
public struct QueryCursor: Hashable, Sendable {
    /// The table it reads.
    public var table: String
    /// The id it was pulled under.
    public var queryID: String
    /// Where it goes on.
    public var state: CursorState
}

/// What a purge did.
public struct PurgeReport: Hashable, Sendable {
    /// Rows removed.
    public var removed: Int
    /// Operations dropped with them.
    public var dropped: Int
}
