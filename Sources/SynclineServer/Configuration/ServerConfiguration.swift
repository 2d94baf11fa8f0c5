// All settings of an operator, with their defaults.

import SynclineCore
import SynclineTables
import SynclineWire

struct ServerConfiguration: Hashable, Sendable {
    /// `sqlite:FILE` or `postgres://…`.
    var store = "sqlite:syncline.db"
    /// Streaming replicas of a PostgreSQL, which answer reads of changes.
    var replicas: [String] = []
    /// Each has a store; then `store` is not used.
    var tenants: TenantPlan?
    /// The tenant that these settings, or the flags, are for.
    var tenant: String?
    /// An address and a port; port 0 means any free port.
    var listen = "127.0.0.1:8080"
    /// The address that serves `/metrics`, and also `/healthz`; nil for `listen`.
    var metricsListen: String?
    /// The protocol of a request without a version.
    var defaultProtocol = ServerProtocol.zumo2
    /// The path of the tables.
    var root = "/tables"
    var pageSize = 50
    var maxTop = 1000
    var limits = Limits()
    var auth: TokenRules?
    var cors: CrossOrigin?
    var tables: [TableDefinition] = []
    var tls: TLSFiles?
    var log = LogForm.text
    /// The number of days for which tombstones are kept; nil for always.
    var tombstoneDays: Int?
    /// The hours between two searches for changes by other programs; 0 for none.
    var sweepHours = 24
    /// The number of requests per second from one address; nil for no limit.
    var requestsPerSecond: Int?
    /// Proxies whose headers about a request are trusted.
    var trustedProxies = TrustedProxies()
    /// The headers in which they describe a request.
    var proxyHeaders = ProxyHeaders.xForwarded
    /// Whether clients must read everything again, for example after a backup was restored. Only a flag sets this.
    var renewsEpoch = false
    /// The minimum number of threads that serve connections; long work is done elsewhere.
    var threads = 10
    /// A thread with more connections would have to check each of them whenever it wakes (see
    /// `DaemonOptions.epollLimit`).
    static let connectionsPerThread = 104
    var connectionThreads: Int {
        max(threads, (limits.connections + Self.connectionsPerThread - 1) / Self.connectionsPerThread)
    }
    /// The number of concurrent reads.
    var readers = 8
    /// The number of reads that can be carried out: on PostgreSQL some connections are left to writes.
    var readWorkers: Int { isSQLite ? readers : max(1, min(readers, databaseConnections - 2)) }
    private var isSQLite: Bool { store.hasPrefix("sqlite:") }
    /// Where change numbers come from; nil: as the database has it. A new one in PostgreSQL has ticks.
    var numbers: NumberSource?
    /// The number of connections to PostgreSQL.
    var databaseConnections = 8

    /// The number of files that it may have to open.
    var descriptors: Int { limits.connections + otherDescriptors }
    /// Those of the stores, and the listening socket.
    var otherDescriptors: Int { 100 + (tenants?.stores.count ?? 0) * 20 }

    struct Limits: Hashable, Sendable {
        var bodyBytes = 1 << 20
        var urlBytes = 16_384
        var headerBytes = 32_768
        /// After this time without progress, a request is given up.
        var stalledSeconds = 10
        var filterDepth = 100
        /// After this time, a read is given up.
        var readSeconds = 10
        /// The number of reads that may wait. They are also refused if they would wait for longer than `readSeconds`.
        var waitingReads = 10_000
        var connections = 1024
        var rows = RowLimits()
        /// The number of connections from one address; this machine's addresses and trusted proxies are exempt.
        var connectionsPerAddress = 256
        var deadlines = ConnectionDeadlines()
        var database = DatabaseLimits()
    }

    struct TLSFiles: Hashable, Sendable {
        var certificate: String
        var key: String
    }
}

extension ServerConfiguration {
    /// For a server with few clients and without a log.
    init(small listen: String, threads: Int) {
        (self.listen, self.threads, log) = (listen, threads, .none)
        limits.connections = 64
    }

    /// The same settings for the store of a tenant.
    func settings(ofTenant name: String) -> ServerConfiguration? {
        guard let place = tenants?.stores[name] else { return nil }
        var configuration = self
        (configuration.store, configuration.replicas) = (place.store, place.replicas)
        (configuration.tenants, configuration.tenant) = (nil, name)
        configuration.renewsEpoch = renewsEpoch && tenant == name
        if tenants?.place == .path { configuration.root = "/\(name)\(root)" }
        return configuration
    }

    var service: TableSettings {
        var settings = TableSettings()
        (settings.tables, settings.root, settings.defaultProtocol) = (tables, root, defaultProtocol)
        settings.rules = .both(maximalTop: maxTop, filterDepth: limits.filterDepth)
        (settings.pageSize, settings.answerBytes) = (pageSize, limits.rows.answerBytes)
        return settings
    }

    /// The changed members that a running server can't take over: all except keys and certificate files, which may be
    /// neither added nor removed.
    func whatNeedsRestart(_ other: ServerConfiguration) -> [String] {
        func fixed(_ configuration: ServerConfiguration) -> [String: Value] {
            var configuration = configuration
            // More tenants may come (see `Tenants.check`).
            configuration.tenants?.stores = [:]
            configuration.tenants?.names = []
            configuration.auth = configuration.auth.map { _ in TokenRules() }
            configuration.tls = configuration.tls.map { _ in TLSFiles(certificate: "", key: "") }
            guard case .object(let members) = configuration.value else { return [:] }
            return Dictionary(members.map { ($0.name, $0.value) }) { first, _ in first }
        }
        let (mine, others) = (fixed(self), fixed(other))
        return Set(mine.keys).union(others.keys).filter { mine[$0] != others[$0] }.sorted()
    }
}
