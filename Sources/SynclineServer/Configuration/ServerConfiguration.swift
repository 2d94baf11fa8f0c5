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
    /// Threads that serve connections; what takes long is carried out elsewhere.
    var threads = 10
    /// Reads that are carried out at a time.
    var readers = 8
    /// Connections to PostgreSQL.
    var databaseConnections = 8

    struct Limits: Hashable, Sendable {
        var bodyBytes = 1 << 20
        var urlBytes = 16_384
        var headerBytes = 65_536
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
    }

    struct TLSFiles: Hashable, Sendable {
        var certificate: String
        var key: String
    }
}
