// A server made from its configuration: it assembles the store, the service and the HTTP shell, and shuts them down.

import SynclineCore
import SynclineGround
import SynclineTables

final class Server: Sendable {
    let http: HTTPServer
    let stores: any ServedStores
    /// Answers at the operator's separate address.
    private let watching: HTTPServer?
    private let configuration: ServerConfiguration
    private let gate: TokenGate

    init(_ configuration: ServerConfiguration, _ environment: any ServerEnvironment = SystemServerEnvironment())
        throws(StartFailure)
    {
        self.configuration = configuration
        gate = TokenGate(configuration.auth)
        try gate.take(configuration.auth)
        let tls = try Server.certificate(configuration)
        let log = ServerLog(configuration.log, environment)
        gate.tell { log.note($0) }
        stores = try Server.stores(configuration, environment, gate, log)
        let http = try HTTPServer(configuration, stores, tls: tls, environment, log)
        self.http = http
        watching = try configuration.metricsListen.map { [stores] address throws(StartFailure) in
            do throws(StartFailure) {
                return try WatchingAnswers(service: stores.health, http: http).server(at: address)
            } catch {
                http.stop()
                throw error
            }
        }
    }

    private static func stores(
        _ configuration: ServerConfiguration, _ environment: any ServerEnvironment, _ gate: TokenGate, _ log: ServerLog
    ) throws(StartFailure) -> any ServedStores {
        guard let plan = configuration.tenants else { return try OnlyStore(configuration, environment, gate) }
        let tenants = Tenants(configuration, plan, environment, gate) { log.note($0) }
        // Before a request opens it with the old epoch.
        if let name = configuration.tenant { try tenants.open(name) }
        return tenants
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
        stores.endSweeps()
        http.stop(interrupt: stores.interrupt)
        stores.interrupt()
        watching?.stop(waitingSeconds: 1)
        stores.close()
        http.log.flush()
    }

    /// Applies the settings that may change while the server runs: keys, certificates, and new tenants. Either all of
    /// them are applied, or none.
    func reload(_ new: ServerConfiguration) throws(StartFailure) {
        let others = configuration.whatNeedsRestart(new)
        guard others.isEmpty else {
            throw StartFailure("\(others.joined(separator: ", ")) can't change while the server runs")
        }
        try stores.check(new)
        let tls = try Server.certificate(new)
        try gate.take(new.auth)
        tls?.present()
        stores.add(new)
    }

    func note(_ text: String) { http.log.note(text) }

    /// Closes the connections of tenants that are not in use. Called every minute.
    func rest() {
        if configuration.tenants == nil { return }
        for store in stores.stores { store.store.rest() }
    }

    /// Periodic maintenance. Called every hour.
    func maintain() {
        for store in stores.stores { store.maintain { http.log.note($0) } }
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
            let store = try SQLStore(try configuration.database(), configuration.tables, environment)
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
            let store = try SQLStore(try configuration.database(), [table], environment, checksRows: false)
            defer { store.close() }
            return try store.number(name)
        } catch {
            throw StartFailure(error)
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
