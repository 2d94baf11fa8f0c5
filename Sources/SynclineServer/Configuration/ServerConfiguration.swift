// Everything an operator can decide, with what holds where nothing is said.

import SynclineCore

struct ServerConfiguration: Hashable, Sendable {
    enum Log: String, Hashable, Sendable, CaseIterable {
        case text, json, none
    }

    /// `sqlite:FILE` or `postgres://…`.
    var store = "sqlite:syncline.db"
    /// An address and a port; port 0 is any that is free.
    var listen = "127.0.0.1:8080"
    /// Where `/metrics` is, and `/healthz`, too; nil for `listen`.
    var metricsListen: String?
    /// What a request without a version speaks.
    var defaultProtocol = ServerProtocol.zumo2
    /// Where the tables are.
    var root = "/tables"
    var pageSize = 50
    var maxTop = 1000
    var limits = Limits()
    var auth: TokenRules?
    var cors: CrossOrigin?
    var tables: [TableDefinition] = []
    var tls: TLSFiles?
    var log = Log.text
    /// Tombstones are kept so many days; nil for ever.
    var tombstoneDays: Int?
    /// Requests a second from one address; nil for any number.
    var requestsPerSecond: Int?
    /// Believed in what they say of a request.
    var trustedProxies = TrustedProxies()
    /// Whether clients are to read everything anew, as after the return of a backup. Only a flag says so.
    var renewsEpoch = false
    /// Threads that serve connections, at least; what takes long is carried out elsewhere.
    var threads = 10
    /// A thread with more connections would have to look at each of them whenever it wakes (see `DaemonOptions.epollLimit`).
    static let connectionsPerThread = 104
    var connectionThreads: Int {
        max(threads, (limits.connections + Self.connectionsPerThread - 1) / Self.connectionsPerThread)
    }
    /// Reads that are carried out at a time.
    var readers = 8
    /// As many as can be carried out: on PostgreSQL some connections are left to writes.
    var readWorkers: Int { isSQLite ? readers : max(1, min(readers, databaseConnections - 2)) }
    private var isSQLite: Bool { store.hasPrefix("sqlite:") }
    /// Connections to PostgreSQL.
    var databaseConnections = 8

    struct Limits: Hashable, Sendable {
        var bodyBytes = 1 << 20
        var urlBytes = 16_384
        var headerBytes = 32_768
        /// A connection without a request is closed.
        var idleSeconds = 60
        /// A request that does not go on is given up.
        var stalledSeconds = 10
        var filterDepth = 100
        /// A read that takes longer is given up.
        var readSeconds = 10
        /// Reads that may wait for their turn.
        var waitingReads = 200
        var connections = 1024
        /// Columns that one request may begin.
        var newColumns = 100
        /// Columns that a table may come to have.
        var columns = 1000
        /// A page ends, and a batch's answer leaves rows out, before it is larger. No row is larger, either.
        var answerBytes = 4 << 20
        /// Of an operation whose row is larger, the answer is remembered without it.
        var rememberedBytes = 65_536
        /// Of one address; but for this machine's own and those of trusted proxies.
        var connectionsPerAddress = 256
        var headSeconds = 10
        var bodySeconds = 60
        /// From the first line until the answer is sent.
        var requestSeconds = 300

        var deadlines: ConnectionDeadlines {
            ConnectionDeadlines(idle: idleSeconds, head: headSeconds, body: bodySeconds, request: requestSeconds)
        }

        /// A statement of the database is given up, and so is waiting for a connection to it, and for one that is in use.
        var databaseSeconds = 30
        var databaseConnectSeconds = 5
        var databaseWaitSeconds = 5

        var database: DatabaseLimits {
            DatabaseLimits(
                connect: .seconds(databaseConnectSeconds), statement: .seconds(databaseSeconds),
                turn: .seconds(databaseWaitSeconds))
        }
    }

    struct TLSFiles: Hashable, Sendable {
        var certificate: String
        var key: String
    }
}

extension ServerConfiguration {
    /// The members in which another configuration differs that a running server can't take over: all but keys and the
    /// files of certificates, which may neither come nor go.
    func whatNeedsRestart(_ other: ServerConfiguration) -> [String] {
        func fixed(_ configuration: ServerConfiguration) -> [String: Value] {
            var configuration = configuration
            configuration.auth = configuration.auth.map { _ in TokenRules() }
            configuration.tls = configuration.tls.map { _ in TLSFiles(certificate: "", key: "") }
            guard case .object(let members) = configuration.value else { return [:] }
            return Dictionary(members.map { ($0.name, $0.value) }) { first, _ in first }
        }
        let (mine, others) = (fixed(self), fixed(other))
        return Set(mine.keys).union(others.keys).filter { mine[$0] != others[$0] }.sorted()
    }
}
