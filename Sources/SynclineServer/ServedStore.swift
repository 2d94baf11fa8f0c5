// A store that is served: its answers, and its upkeep.

import SynclineCore
import SynclineGround
import SynclineTables

final class ServedStore: Sendable {
    let store: SQLStore
    let answers: TableAnswers
    private let environment: any ServerEnvironment
    private let configuration: ServerConfiguration
    private let sweeps = Mutex(Sweeps())

    /// When the tables were last swept, and the limit of a sweep at work.
    private struct Sweeps: Sendable {
        var last: Int64?
        var limit: WorkLimit?
        var isOver = false
    }

    init(
        _ configuration: ServerConfiguration, _ environment: any ServerEnvironment, _ gate: TokenGate
    ) throws(StoreFailure) {
        (self.configuration, self.environment) = (configuration, environment)
        let note: @Sendable (String) -> Void = { [tenant = configuration.tenant] text in
            Diagnostics.note(tenant.map { "tenant \($0): \(text)" } ?? text)
        }
        let store = try SQLStore(
            try configuration.database(), configuration.tables, environment, limits: configuration.limits.rows,
            renewsEpoch: configuration.renewsEpoch, numbers: configuration.numbers,
            replicas: configuration.replicaDatabases(note), note: note)
        self.store = store
        answers = TableAnswers(configuration, store, environment, gate) { store.measures }
    }

    /// Ends a sweep at work, and begins none.
    func endSweeps() {
        sweeps.withLock { sweeps in
            sweeps.isOver = true
            sweeps.limit?.cancel()
        }
    }

    /// Periodic maintenance; passes notes about it to the body.
    func maintain(_ note: (String) -> Void) {
        let limit = configuration.tombstoneDays.map { environment.now() - Int64($0) * 86_400_000 }
        do throws(StoreFailure) {
            try store.look()
            _ = try store.mark()
            try store.purge(tombstonesBefore: limit)
        } catch {
            note(
                "the tables could not be checked, or old data could not be removed: \(StartFailure(error).message)"
            )
        }
        if configuration.sweepHours > 0 { sweep(note) }
    }

    /// Looks for changes by other programs, if it is time.
    private func sweep(_ note: (String) -> Void) {
        let now = environment.now()
        let limit = WorkLimit(seconds: configuration.sweepHours * 3600)
        let isTime = sweeps.withLock { sweeps in
            let isTime = sweeps.last.map { now - $0 >= Int64(configuration.sweepHours) * 3_600_000 } ?? true
            if isTime { (sweeps.last, sweeps.limit) = (now, limit) }
            return isTime && !sweeps.isOver
        }
        guard isTime else { return }
        let result = WorkLimit.$current.withValue(limit) {
            Result { () throws(StoreFailure) in try store.sweep() }
        }
        switch result {
        case .success(let notes): for text in notes { note(text) }
        case .failure where limit.stop == .unwanted: break
        case .failure(let failure): note("the tables were not swept: \(StartFailure(failure).message)")
        }
    }
}

extension ServerConfiguration {
    fileprivate func replicaDatabases(_ note: @escaping @Sendable (String) -> Void) -> [Replica] {
        let (connections, limits) = (databaseConnections, limits.database)
        return replicas.enumerated().map { place, url in
            Replica(place + 1, note: note) { () throws(StoreFailure) in
                try PostgresDatabase(url: url, connections: connections, limits: limits, isWritten: false)
            }
        }
    }

    func address() throws(StoreFailure) -> StoreAddress {
        do throws(StartFailure) {
            return try StoreAddress(store)
        } catch {
            throw .refused(Refusal(500, "invalid-store", error.message))
        }
    }

    func database() throws(StoreFailure) -> any SQLDatabase {
        switch try address() {
        case .sqlite(let path):
            // One for each concurrent reader: each worker, each thread that reads a row, and the queries for the
            // current change mark.
            let readers = readers + connectionThreads + 2
            let cache = tenant == nil ? 65_536 : 4096
            return try SQLiteDatabase(path: path, readers: readers, limits: limits.database, cache: cache)
        case .postgres(let url):
            return try PostgresDatabase(url: url, connections: databaseConnections, limits: limits.database)
        }
    }
}
