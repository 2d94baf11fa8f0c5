// The store of a command: opened for writing, or read as of an event.

import Foundation
import SegmentLog
import Syncline

/// A clock that never waits, because a recording answers at once.
private struct NoWaitEnvironment: SyncEnvironment {
    private let system = SystemEnvironment()

    func now() -> Date { system.now() }
    func newID() -> String { system.newID() }
    func wait(for duration: Duration) async throws {}
}

/// The view of a read-only command: the state as of an event.
struct StoreView: Sendable {
    var reader: StateReader
    var through: UInt64
    var totals: ChangeCounts
    var storage: any LogStorage
    /// The rows whose operations are being sent, by their keys.
    var rowsOnTheirWay: Set<[UInt8]> = []
}

extension Context {
    /// Runs a body with the store open for writing.
    func withDatabase<Value>(
        _ arguments: Arguments, creating: LogCreation = .never, _ configuration: SyncConfiguration = .init(),
        _ body: (SyncDatabase) async throws -> Value
    ) async throws -> Value {
        let path = try path(changing: arguments)
        var configuration = configuration
        configuration.creation = creating
        connect(&configuration, of: path)
        configuration.recording = try Traffic.recording(store: path)
        if let session = host.session { return try await body(try await session.open(path, configuration)) }
        let settings = configuration
        let database = try await whileReading("opening") { try await SyncDatabase.open(at: path, settings) }
        do {
            let value = try await body(database)
            let failure = try await whileReading("writing a checkpoint") { try await database.closeAfterChanges() }
            if let failure { narration.warnOfClosing(failure.message) }
            return value
        } catch {
            try? await database.close()
            throw error
        }
    }

    /// Sets what requests to the server of a store need.
    private func connect(_ configuration: inout SyncConfiguration, of path: String) {
        configuration.credentials = StoreSecrets(store: path)
        if let transport = host.transport {
            configuration.transport = transport
            configuration.knownOfServer = host.knownOfServer
            configuration.environment = NoWaitEnvironment()
        }
    }

    /// Runs a body with a copy of the store in memory. It talks to the same server, and nothing of it is stored.
    func withCopy<Value>(
        _ arguments: Arguments, _ body: (SyncDatabase) async throws -> Value
    ) async throws -> Value {
        let path = try path(changing: arguments)
        let projector = try load(POSIXStorage(directory: path), through: nil)
        let memory = MemoryStorage()
        try StateTransfer.begin(memory, with: projector).close()
        var configuration = SyncConfiguration(creation: .never)
        connect(&configuration, of: path)
        let database = try await SyncDatabase.open(memory, configuration)
        do {
            let value = try await body(database)
            try? await database.close()
            return value
        } catch {
            try? await database.close()
            throw error
        }
    }

    /// The present state, or the state as of the moment in `--at`; nothing is written and no lock is needed.
    /// It may hold only one row, if the command reads no other.
    func view(_ arguments: Arguments, at moment: String? = nil, of row: RowFocus? = nil) async throws -> StoreView {
        let path = try path(reading: arguments)
        let storage = POSIXStorage(directory: path)
        let isReport = try path != StoreLocation.find(arguments, environment).path
        if moment == nil, let database = await host.session?.database(at: path) {
            return try StoreView(database, storage)
        }
        if moment == nil, host.session != nil, !isReport {
            do {
                return try await withDatabase(arguments) { try StoreView($0, storage) }
            } catch let error where ToolError(error)?.code == "store-locked" {
                // Another program writes. Its changes are read as they are now.
            }
        }
        let event = try moment.map { try self.event(at: $0, storage) }
        let projector = try load(storage, through: event, onlyTo: row)
        return StoreView(
            reader: StateReader(projector.store.endCommit(), projector.shapes), through: projector.through,
            totals: projector.totals, storage: storage)
    }

    /// The state as of an event; for a damaged log the newest that can be built, and then the result is incomplete.
    func load(_ storage: any LogStorage, through event: UInt64?, onlyTo row: RowFocus? = nil) throws -> Projector {
        do throws(SyncError) {
            let projector = try whileReading("reading") { () throws(SyncError) in
                try HistoryReading.run(storage, claiming: event != nil) { () throws(SyncError) in
                    try StateLoader(storage).load(through: event, onlyTo: row)
                }
            }
            warnOfFiles(storage)
            return projector
        } catch {
            guard error.code == .storeCorrupt, let last = try LogInspection(storage).lastBeforeLoss() else {
                throw error
            }
            let checkpoint = try Checkpoint.list(storage).first { $0.rawValue <= event ?? .max }?.rawValue ?? 0
            let through = max(min(last, event ?? .max), checkpoint)
            let projector = try StateLoader(storage).load(through: through, onlyTo: row)
            output.notePartial()
            narration.warn("the log is damaged; this is the state as of @\(through)")
            return projector
        }
    }

    /// Names damage for which a writer would refuse the store, although this state is whole.
    private func warnOfFiles(_ storage: any LogStorage) {
        let damage = (try? LogInspection(storage).catalog().damage) ?? []
        for damage in damage where !damage.isRepairable { narration.warn(damage.sentence) }
    }
}

extension StoreView {
    init(_ database: SyncDatabase, _ storage: any LogStorage) throws(SyncError) {
        self.init(
            reader: try database.reader, through: database.lastEvent.rawValue, totals: database.totals,
            storage: storage,
            rowsOnTheirWay: database.rowsOnTheirWay)
    }
}
