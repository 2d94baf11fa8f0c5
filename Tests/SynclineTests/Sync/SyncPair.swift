// A store and a server with a network between them, for tests that tell a short story.

import SegmentLog
import SynclineCore
import SynclineTesting
import SynclineWire

@testable import Syncline

/// A way to a server that the test simulates.
struct PlayedLine: HTTPTransport {
    let answer: @Sendable (HTTPRequest) async -> Result<HTTPResponse, NetworkFailure>

    func send(_ request: HTTPRequest) async throws(NetworkFailure) -> HTTPResponse {
        try await answer(request).get()
    }
}

extension HTTPResponse {
    static func json(_ status: Int, _ body: String, _ headers: [HTTPHeader] = []) -> HTTPResponse {
        var response = HTTPResponse(status: status)
        response.headers = [HTTPHeader("Content-Type", "application/json")] + headers
        response.body = Array(body.utf8)
        return response
    }
}

struct SyncPair {
    let server: SimulatedServer
    let network: SimulatedNetwork
    var disk = MemoryStorage(granularity: .sector)
    var database: SyncDatabase
    private var configuration: SyncConfiguration

    init(
        _ serverProtocol: ServerProtocol = .datasync3, _ options: SimulatedServer.Options = .init(),
        rows: [Value] = [], pageLimit: Int? = nil, precision: SimulatedServer.Precision = .milliseconds,
        mutations: [SimulatedServer.Mutation] = [], environment: any SyncEnvironment = SimulatedEnvironment("P"),
        schema: SyncSchema? = nil,
        hook: @escaping @Sendable (Int) async -> Void = { _ in }
    ) async throws {
        server = SimulatedServer(serverProtocol, options: options)
        server.setTable("t", rows: rows, pageLimit: pageLimit, precision: precision, mutations: mutations)
        network = SimulatedNetwork(server, hook: hook)
        configuration = .test()
        configuration.environment = environment
        configuration.serverProtocol = serverProtocol
        configuration.transport = network
        configuration.schema = schema
        configuration.ids = options.ignoresCase ? .ignoreCase : .exact
        database = try await SyncDatabase.open(disk, configuration)
    }

    /// The process dies, and another opens the store.
    mutating func die() async throws {
        disk.disarm()
        disk = disk.processKill()
        database = try await SyncDatabase.open(disk, configuration)
    }

    /// A second store at the same server.
    func open(_ storage: any LogStorage) async throws -> SyncDatabase {
        try await SyncDatabase.open(storage, configuration)
    }

    var table: RowTable { database.rows(of: "t") }

    @discardableResult
    func pull(_ change: (inout PullSettings) -> Void = { $0.queryID = "q" }) async throws -> PullReport {
        var settings = PullSettings()
        settings.queryID = "q"
        change(&settings)
        return try await database.pull("t", settings)
    }

    @discardableResult
    func push(_ policy: ConflictPolicy = .fail) async throws -> PushReport {
        var settings = PushSettings()
        settings.policy = policy
        settings.retries = 0
        return try await database.push(settings)
    }

    /// Whether the store shows what the server has.
    func agrees() async throws -> Bool { try await agrees(database, butFor: []) }

    /// The same for another store, except some rows.
    func agrees(_ database: SyncDatabase, butFor ids: Set<String>) async throws -> Bool {
        let local = try await database.rows(of: "t").query(RowQuery(table: "t")).rows.reduce(
            into: [String: [String: Value]]()
        ) {
            $0[$1.id] = SyncPair.wireForm($1.columns.members)
        }
        let remote = server.rows(of: "t").reduce(into: [String: [String: Value]]()) { rows, row in
            guard row[member: "deleted"] != .bool(true), let id = row[member: "id"]?.text else { return }
            rows[id] = SyncPair.wireForm(row.members)
        }
        return local.filter { !ids.contains($0.key) } == remote.filter { !ids.contains($0.key) }
    }

    /// The comparable parts of a row.
    private static func wireForm(_ members: [Value.Member]) -> [String: Value] {
        Dictionary(members.map { ($0.name, $0.value) }) { $1 }.wireForm.filter { !["id", "deleted"].contains($0.key) }
    }

    func serverRow(_ id: String) -> Value? { server.rows(of: "t").first { $0[member: "id"] == .string(id) } }

    var writes: [HTTPRequest] { network.requests.filter { $0.method != "GET" } }
}

extension Value {
    fileprivate var members: [Member] {
        if case .object(let members) = self { return members }
        return []
    }

    /// Rows of a server, each with a number.
    static func rows(_ count: Int, at time: String? = nil) -> [Value] {
        (0..<count).map { number in
            var columns: [String: Value] = ["n": .integer(Int64(number))]
            if let time { columns["updatedAt"] = .string(time) }
            return .item("r\(number)", columns)
        }
    }
}
