// The database an app opens: tables that work without a network. Reads and writes are local; every change is an
// event in the log.

public import Foundation
public import SegmentLog
public import SynclineCore
import SynclineGround

/// A database of tables with a local log.
public final class SyncDatabase: Sendable {
    let writer: StoreWriter
    package let storage: any LogStorage
    let configuration: SyncConfiguration
    let syncLock = AsyncLock()
    /// The rows whose operations are in flight.
    let onTheirWay = Mutex<Set<[UInt8]>>([])
    /// The connection to the server in use.
    let link = Mutex<ServerChannel?>(nil)
    let automatic = Mutex(AutomaticSlot.free)
    /// The models whose columns were declared.
    let models = Mutex(DeclaringModels())
    /// What other modules keep for as long as the store is open, by its type.
    private let companions = Mutex<[ObjectIdentifier: any Sendable]>([:])
    /// Held while changes of other processes are made here.
    let takingIn = AsyncLock()
    let facts = Mutex(SyncFacts())
    let watch = Mutex<StoreWatch?>(nil)

    init(_ engine: sending StoreEngine, _ storage: any LogStorage, _ configuration: SyncConfiguration) {
        writer = StoreWriter(
            engine, memoryLimit: Int(configuration.memoryLimit.rawValue),
            cacheSize: Int(clamping: configuration.cacheSize.rawValue)
        ) { error in
            configuration.report(.warning, .store, "a checkpoint could not be written: \(error.code)")
        }
        self.storage = storage
        self.configuration = configuration
    }

    /// Opens the store in a directory.
    @concurrent
    public static func open(
        at path: String, _ configuration: SyncConfiguration = .init()
    ) async throws(SyncError) -> SyncDatabase {
        try await open(POSIXStorage(directory: path), configuration)
    }

    /// Opens the store in a storage.
    @concurrent
    public static func open(
        _ storage: any LogStorage, _ configuration: SyncConfiguration = .init()
    ) async throws(SyncError) -> SyncDatabase {
        try configuration.schema?.check()
        try configuration.limits?.check()
        let log = try storage.openWriter(creating: configuration.creation, configuration.log) {
            configuration.initialRecords(in: $0)
        }
        let projector = try StateLoader(log.storage, removesDamaged: true).load()
        let event = projector.through
        let engine = try StoreEngine(
            log, projector, configuration.environment, schemaVersion: configuration.schema?.version ?? 0,
            hasRecordedOpening: log.isNew)
        let database = SyncDatabase(engine, log.storage, configuration)
        configuration.report(.info, .store, "opened \(log.storage.location) at event \(event)")
        do throws(SyncError) {
            if configuration.creation != .never { try await database.writeMissingSettings() }
            // What waits was made before a migration, and is taken in under the schema that it was made with.
            await database.takeInAndReport()
            if let schema = configuration.schema { try await database.open(with: schema) }
            try await database.beginSharing()
            return database
        } catch {
            try? await database.close()
            throw error
        }
    }

    /// Records the settings of a new store, for a log that was created without them, or that lost them: the store is
    /// rescued, and nothing readable named them.
    private func writeMissingSettings() async throws(SyncError) {
        guard try await setting(SettingName.serverProtocol) == nil else { return }
        for case .configured(let name, let value) in configuration.initialSettings {
            if try await setting(name) == nil { try await set(name, value) }
        }
    }

    /// Makes all changes durable and closes the store. Stops automatic sync first; no request is sent after that. From then
    /// on every read and every change throws `closed`, and live queries end.
    @concurrent
    public func close() async throws(SyncError) {
        await automatic.withLock { $0.close() }?.stop()
        stopWatching()
        try writer.close()
        configuration.report(.info, .store, "closed \(storage.location)")
    }

    func perform<Value: Sendable>(
        _ durability: Durability? = nil, _ body: @escaping @Sendable (StoreEngine) throws(SyncError) -> Value
    ) async throws(SyncError) -> Value {
        do {
            return try await writer.perform(durability ?? configuration.durability, body)
        } catch {
            throw error as? SyncError ?? SyncError(.internalError, "\(error)")
        }
    }

    // MARK: Tables

    /// Returns a table without a model.
    public func rows(of name: String) -> RowTable {
        RowTable(database: self, name: name)
    }

    /// Returns the names of the tables that have rows or pending changes.
    @concurrent
    public func tables() async throws(SyncError) -> [String] {
        try read { reader throws(SyncError) in try reader.tables() }
    }

    /// Runs a transaction on any tables: all of its changes are stored, or none.
    ///
    /// - Parameters:
    ///   - name: A name for the transaction, which ``undoSteps(limit:)`` and the history show, such as "Archive list".
    ///   - durability: When the transaction counts as stored; nil for what the configuration says.
    ///   - body: Makes the changes.
    @discardableResult
    @concurrent
    public func transaction<Value: Sendable>(
        _ name: String? = nil, durability: Durability? = nil,
        _ body: @escaping @Sendable (SyncTransaction) throws -> Value
    ) async throws -> Value {
        try await perform(transaction: durability, named: name, body).value
    }

    /// Like `transaction`, but returns the event's number, or nil if nothing changed.
    package func transactionEvent(
        named name: String? = nil, durability: Durability? = nil,
        _ body: @escaping @Sendable (SyncTransaction) throws -> Void
    ) async throws -> UInt64? {
        try await perform(transaction: durability, named: name, body).event
    }

    /// Runs a transaction. Without a group, its only change is recorded as a single-change event.
    func perform<Value: Sendable>(
        transaction durability: Durability?, named name: String? = nil, isGrouped: Bool = true,
        _ body: @escaping @Sendable (SyncTransaction) throws -> Value
    ) async throws -> (value: Value, event: UInt64?) {
        try await writer.perform(durability ?? configuration.durability) { engine in
            let heading = TransactionHeading(isGrouped: isGrouped, name: name)
            let (outcome, event) = try engine.local(heading) { transaction in
                Result { try body(transaction) }
            }
            // An error that the app throws passes through unchanged; the writer rolls the changes back.
            return (try outcome.get(), event)
        }
    }

    // MARK: Outbox

    /// Returns the operations that a push would send now, in push order.
    @concurrent
    public func pending() async throws(SyncError) -> [PlannedOperation] {
        var operations = try read { reader throws(SyncError) in try PushPlan(reader).operations }
        operations.mark(onTheirWay: rowsOnTheirWay)
        return operations
    }

    /// The keys of the rows whose operations are in flight.
    package var rowsOnTheirWay: Set<[UInt8]> { onTheirWay.withLock { $0 } }

    /// Returns the columns that an operation sends, sorted.
    @concurrent
    public func fields(of operation: PlannedOperation) async throws(SyncError) -> [String] {
        try read { reader throws(SyncError) in try PushPlan.fields(of: operation, reader) }
    }

    /// Returns the cursor of each query.
    @concurrent
    public func cursors() async throws(SyncError) -> [QueryCursor] {
        try read { reader throws(SyncError) in
            try reader.cursors().map {
                QueryCursor(table: $0.table, queryID: $0.queryID, state: $0.state)
            }
        }
    }

    /// Resets a query's cursor, so that its next pull starts from the beginning.
    @concurrent
    public func resetCursor(table: String, queryID: String) async throws(SyncError) {
        try await perform { engine throws(SyncError) in
            try engine.projector.check(table: table)
            let known = try engine.reader.cursor(table, queryID)
            if known != nil { try engine.record(.cursorReset(table: table, queryID: queryID)) }
        }
    }

    /// Removes matching local rows and all cursors of the table without sending anything to the server. If changes of
    /// them were not pushed, or the table never leaves the device, this needs `force`.
    @discardableResult
    @concurrent
    public func purge(
        table: String, filter: FilterExpression? = nil, force: Bool = false
    ) async throws(SyncError) -> PurgeReport {
        return try await perform { engine throws(SyncError) in
            try engine.projector.check(table: table)
            let plan = try PurgePlan(engine.reader, table: table, filter: filter)
            guard self.onTheirWay.withLock({ $0.isDisjoint(with: plan.pendingKeys) }) else {
                throw SyncError(
                    .pendingChanges, "an operation on the rows is being sent", hint: "Purge after the push has ended.")
            }
            if plan.pending > 0 && !force {
                throw SyncError(
                    .pendingChanges, "\(plan.pending) of the rows have changes that were not pushed",
                    hint: "Push them first, or purge with force to drop them.")
            }
            try engine.record(
                .purged(Purge(table: table, ids: filter == nil ? nil : plan.ids, isForced: force)))
            return PurgeReport(removed: plan.ids.count, dropped: plan.pending)
        }
    }

    // MARK: Settings

    /// Returns a setting of the store.
    @concurrent
    public func setting(_ name: String) async throws(SyncError) -> Value? {
        try read { reader throws(SyncError) in try reader.setting(name) }
    }

    /// Changes a setting; nil removes it.
    @concurrent
    public func set(_ name: String, _ value: Value?) async throws(SyncError) {
        guard !name.utf8.contains(0) else {
            throw SyncError(.invalidConfiguration, "a setting's name is not valid", hint: "Leave out the zero byte.")
        }
        if name == SettingName.serverProtocol { _ = try ServerProtocol(setting: value) }
        if name == SettingName.ids { return try await setIDs(value) }
        try await perform { engine throws(SyncError) in
            _ = try engine.record(.configured(name: name, value: value))
        }
        forgetServer()
    }

    /// Throws if the store was replaced or can't be written for another reason. Call it before changing files that
    /// are kept beside the log.
    package func checkWritable() async throws(SyncError) { try await writer.flush() }

    /// Makes the next push or pull connect again with the configuration of that time.
    package func forgetServer() { link.withLock { $0 = nil } }

    /// Writes a checkpoint now, so that the next opening has no events to fold.
    @concurrent
    public func checkpoint() async throws(SyncError) {
        try writer.checkpoint()
    }

    /// Returns what another module keeps with the store, made when it is first asked for.
    package func companion<Content: Sendable>(_ make: () -> Content) -> Content {
        companions.withLock { all in
            let key = ObjectIdentifier(Content.self)
            if let known = all[key] as? Content { return known }
            let made = make()
            all[key] = made
            return made
        }
    }

    /// Returns a stream with an element after each commit that changes one of some tables, or after every commit.
    /// Several commits may share an element.
    package func signals(of tables: Set<String>?) -> AsyncStream<Void> {
        writer.observers.signals(of: tables.map { .rows(of: $0.map { Array($0.utf8) }) } ?? .everyCommit)
    }

    /// A reader of the current state; throws `closed` after the store was closed.
    package var reader: StateReader {
        get throws(SyncError) { try writer.current.reader }
    }

    /// Reads the current state.
    func read<Content>(_ body: (StateReader) throws(SyncError) -> Content) throws(SyncError) -> Content {
        let reader = try reader
        return try body(reader)
    }

    /// Counts of what happened to all changes.
    public var totals: ChangeCounts { writer.current.totals }
    /// The number of the last event.
    public var lastEvent: EventNumber { EventNumber(rawValue: writer.current.through) }
}

extension [PlannedOperation] {
    /// Marks the operations of these rows as in flight.
    package mutating func mark(onTheirWay rows: Set<[UInt8]>) {
        if rows.isEmpty { return }
        for index in indices { self[index].mark(onTheirWay: rows) }
    }
}

extension PlannedOperation {
    /// Marks it as in flight if it was sent and its row is one of these.
    package mutating func mark(onTheirWay rows: Set<[UInt8]>) {
        if isFrozen, state == .pending, rows.contains(rowKey) { state = .inFlight }
    }
}

/// The cursor of one incremental query.
public struct QueryCursor: Hashable, Sendable {
    /// The query's table.
    public var table: String
    /// The query's id.
    public var queryID: String
    /// Where the next pull continues.
    public var state: CursorState
    /// When it last changed.
    public var updated: Date { Date(milliseconds: state.updated) }
}

/// The result of a purge.
public struct PurgeReport: Hashable, Sendable {
    /// The number of rows removed.
    public var removed: Int
    /// The number of pending operations dropped with them.
    public var dropped: Int
}
