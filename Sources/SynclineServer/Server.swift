// A server made from its configuration: it assembles the store, the service and the HTTP shell, and shuts them down.

import SynclineCore
import SynclineGround
import SynclineTables

final class Server: Sendable {
    let store: SQLStore
    let http: HTTPServer
    /// Answers at the operator's separate address.
    private let watching: HTTPServer?
    private let tombstoneDays: Int?
    private let environment: any ServerEnvironment
    private let configuration: ServerConfiguration
    private let gate: TokenGate
    private let sweeps = Mutex(Sweeps())

    /// When the tables were last swept, and the limit of a sweep at work.
    private struct Sweeps: Sendable {
        var last: Int64?
        var limit: WorkLimit?
        var isOver = false
    }

    init(_ configuration: ServerConfiguration, _ environment: any ServerEnvironment = SystemServerEnvironment())
        throws(StartFailure)
    {
        self.environment = environment
        self.configuration = configuration
        gate = TokenGate(configuration.auth)
        try gate.take(configuration.auth)
        tombstoneDays = configuration.tombstoneDays
        let tls = try Server.certificate(configuration)
        do throws(StoreFailure) {
            let database = try Server.database(configuration)
            store = try SQLStore(
                database, configuration.tables, environment, limits: configuration.limits.rows,
                renewsEpoch: configuration.renewsEpoch, numbers: configuration.numbers)
        } catch {
            throw StartFailure(error)
        }
        let service = TableAnswers(configuration, store, environment, gate) { [store] in store.measures }
        let http = try HTTPServer(configuration, service, tls: tls, environment)
        self.http = http
        store.listen { [events = http.events] in events.wake() }
        gate.tell { [log = http.log] text in log.note(text) }
        watching = try configuration.metricsListen.map { address throws(StartFailure) in
            do throws(StartFailure) {
                return try WatchingAnswers(service: service, http: http).server(at: address)
            } catch {
                http.stop()
                throw error
            }
        }
    }

    /// The HTTP library does not retain the shell.
    deinit {
        watching?.stop()
        http.stop()
    }

    var url: String { http.url }
    /// The URL of the metrics, if they have a separate address.
    var metricsURL: String? { watching?.url }

    /// Lets running requests end, and stops. Requests that still wait for the database by then are answered as busy.
    func stop() {
        sweeps.withLock { sweeps in
            sweeps.isOver = true
            sweeps.limit?.cancel()
        }
        http.stop(interrupt: store.interrupt)
        store.interrupt()
        watching?.stop(waitingSeconds: 1)
        store.close()
        http.log.flush()
    }

    /// Applies the settings that may change while the server runs: keys and certificates. Either all of them are
    /// applied, or none.
    func reload(_ new: ServerConfiguration) throws(StartFailure) {
        let others = configuration.whatNeedsRestart(new)
        guard others.isEmpty else {
            throw StartFailure("\(others.joined(separator: ", ")) can't change while the server runs")
        }
        let tls = try Server.certificate(new)
        try gate.take(new.auth)
        tls?.present()
    }

    func note(_ text: String) { http.log.note(text) }

    /// Periodic maintenance.
    func maintain() {
        let limit = tombstoneDays.map { environment.now() - Int64($0) * 86_400_000 }
        do throws(StoreFailure) {
            try store.look()
            _ = try store.mark()
            try store.purge(tombstonesBefore: limit)
        } catch {
            http.log.note(
                "the tables could not be checked, or old data could not be removed: \(StartFailure(error).message)"
            )
        }
        if configuration.sweepHours > 0 { sweep() }
    }

    /// Looks for changes by other programs, if it is time.
    private func sweep() {
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
        case .success(let notes): for note in notes { http.log.note(note) }
        case .failure where limit.stop == .unwanted: break
        case .failure(let failure): http.log.note("the tables were not swept: \(StartFailure(failure).message)")
        }
    }

    /// Removes a column of a table, with its values, for all processes that serve it.
    static func dropColumn(
        _ name: ColumnName, _ configuration: ServerConfiguration,
        _ environment: any ServerEnvironment = SystemServerEnvironment()
    ) throws(StartFailure) {
        guard let table = configuration.tables.first(where: { $0.name == name.table }) else {
            throw StartFailure("the configuration has no table \(name.table)", hint: "Name it with --table or --config")
        }
        if ServedTable.declared(table).contains(where: { $0.name.hasSameBytes(as: name.column) }) {
            throw StartFailure("the configuration lists column \(name.column)", hint: "Remove it there first")
        }
        do throws(StoreFailure) {
            let store = try SQLStore(try database(configuration), configuration.tables, environment)
            defer { store.close() }
            try store.drop(name.column, of: table)
        } catch {
            throw StartFailure(error)
        }
    }

    /// Numbers the rows of a table that have no number that the server could have given; returns how many.
    static func number(
        _ name: String, _ configuration: ServerConfiguration,
        _ environment: any ServerEnvironment = SystemServerEnvironment()
    ) throws(StartFailure) -> Int {
        guard let table = configuration.tables.first(where: { $0.name == name }) else {
            throw StartFailure("the configuration has no table \(name)", hint: "Name it with --table or --config")
        }
        if !table.rules.isEmpty || RightsPlan(configuration.tables)[table: name] != TableRights() {
            throw StartFailure("table \(name) has a part in rules, so only the server may write to it")
        }
        do throws(StoreFailure) {
            let store = try SQLStore(try database(configuration), [table], environment, checksRows: false)
            defer { store.close() }
            return try store.number(name)
        } catch {
            throw StartFailure(error)
        }
    }

    static func address(_ configuration: ServerConfiguration) throws(StoreFailure) -> StoreAddress {
        do throws(StartFailure) {
            return try StoreAddress(configuration.store)
        } catch {
            throw .refused(Refusal(500, "invalid-store", error.message))
        }
    }

    private static func database(_ configuration: ServerConfiguration) throws(StoreFailure) -> any SQLDatabase {
        switch try address(configuration) {
        case .sqlite(let path):
            // One for each concurrent reader: each worker, each thread that reads a row, and the queries for the
            // current change mark.
            let readers = configuration.readers + configuration.connectionThreads + 2
            return try SQLiteDatabase(path: path, readers: readers, limits: configuration.limits.database)
        case .postgres(let url):
            return try PostgresDatabase(
                url: url, connections: configuration.databaseConnections, limits: configuration.limits.database)
        }
    }

    static func certificate(_ configuration: ServerConfiguration) throws(StartFailure) -> TLSCertificate? {
        try configuration.tls.map { files throws(StartFailure) in
            try TLSCertificate(
                certificate: try SystemFiles.read(files.certificate), key: try SystemFiles.read(files.key))
        }
    }
}

extension StartFailure {
    init(_ failure: StoreFailure) {
        switch failure {
        case .busy(let reason):
            self.init(reason.text, hint: [.busy, .locked].contains(reason.kind) ? "Another program uses it" : nil)
        case .refused(let refusal): self.init(refusal.cause?.text ?? refusal.message)
        case .changed(let reason), .replaced(let reason), .broken(let reason): self.init(reason.text)
        }
    }
}
