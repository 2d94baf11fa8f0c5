// The store a command works on. A command of its own opens it and closes it; in a shell it stays open from the first
// command that needs it to the end of the input.

import SegmentLog
import Syncline
import SynclineCore

/// A store that stays open.
package actor StoreSession {
    private var database: SyncDatabase?
    private var path: String?

    package init() {}

    /// The open store, if it is the one at a path.
    func database(at path: String) -> SyncDatabase? {
        self.path == path ? database : nil
    }

    /// Keeps a store open, in place of the one before.
    func keep(_ database: SyncDatabase, at path: String) async throws {
        try await close()
        self.database = database
        self.path = path
    }

    package func close() async throws {
        let database = database
        self.database = nil
        try await database?.close()
    }
}

/// What a command that only looks sees: the state as of some event.
struct StoreView: Sendable {
    var reader: StateReader
    var through: UInt64
    var totals: Totals
    var storage: any LogStorage
}

extension Context {
    /// Runs something with the store open for writing.
    func withDatabase<Value>(
        _ arguments: Arguments, creating: LogCreation = .never, _ configuration: SyncConfiguration = .init(),
        _ body: (SyncDatabase) async throws -> Value
    ) async throws -> Value {
        let path = try StoreLocation.find(arguments, environment).path
        if creating != .always, let database = await host.session?.database(at: path) {
            return try await body(database)
        }
        var configuration = configuration
        configuration.creation = creating
        let database = try await SyncDatabase.open(at: path, configuration)
        if let session = host.session {
            try await session.keep(database, at: path)
            return try await body(database)
        }
        do {
            let value = try await body(database)
            try await database.close()
            return value
        } catch {
            try? await database.close()
            throw error
        }
    }

    /// The store as it is, or as it was at the moment that `--at` names; nothing is written and no lock is needed.
    func view(_ arguments: Arguments, at moment: String? = nil) async throws -> StoreView {
        let path = try StoreLocation.find(arguments, environment).path
        let storage = POSIXStorage(directory: path)
        if moment == nil, let database = await host.session?.database(at: path) { return StoreView(database, storage) }
        if moment == nil, host.session != nil {
            return try await withDatabase(arguments) { StoreView($0, storage) }
        }
        let event = try moment.map { try Moment($0, storage).event }
        let projector = try StateLoader(storage).load(through: event)
        return StoreView(
            reader: StateReader(projector.store.endCommit(), projector.shapes), through: projector.through,
            totals: projector.totals, storage: storage)
    }
}

extension StoreView {
    init(_ database: SyncDatabase, _ storage: any LogStorage) {
        self.init(
            reader: database.reader, through: database.lastEvent, totals: database.totals, storage: storage)
    }
}
