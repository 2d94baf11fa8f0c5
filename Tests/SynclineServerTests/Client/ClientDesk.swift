// Stores of this project's client at a server in the same process, with a line between them that loses what a test
// wants lost.

import Syncline
import SynclineCore
import SynclineGround
import SynclineWire
import Testing

@testable import SynclineServer
@testable import SynclineTables

/// The line to a service: requests are recorded, and the next responses may be lost.
final class DeskLine: HTTPTransport {
    private struct State {
        var requests: [HTTPRequest] = []
        var lost = 0
        var closed: Set<String> = []
        var capabilities = true
        var between: @Sendable () -> Void = {}
    }

    private let service: Mutex<TableAnswers>
    private let state = Mutex(State())

    init(_ service: TableAnswers) { self.service = Mutex(service) }

    func send(_ request: HTTPRequest) async throws(NetworkFailure) -> HTTPResponse {
        let now = state.withLock { state in
            state.requests.append(request)
            return state
        }
        if Task.isCancelled { throw .cancelled }
        if now.closed.contains(request.path) { return HTTPResponse(status: 404) }
        var response = service.withLock { $0 }.answer(request, url: "http://server")
        now.between()
        if !now.capabilities { response.headers.removeAll { $0.isNamed(WireHeader.capabilities) } }
        let isLost = state.withLock { state in
            defer { state.lost = max(0, state.lost - 1) }
            return state.lost > 0
        }
        if isLost { throw .offline("the answer was lost") }
        return response
    }

    /// Another server takes its place.
    func turn(to service: TableAnswers) { self.service.withLock { $0 = service } }

    /// This many responses are lost after the server has done what it was asked.
    func lose(_ answers: Int) { state.withLock { $0.lost = answers } }

    /// A proxy blocks requests to a path.
    func close(_ path: String) { state.withLock { _ = $0.closed.insert(path) } }

    /// Whether responses have the server's capabilities.
    func tellCapabilities(_ flag: Bool) { state.withLock { $0.capabilities = flag } }

    /// What other clients do after each request.
    func between(_ body: @escaping @Sendable () -> Void) { state.withLock { $0.between = body } }

    /// The requests since the last time, as `POST /tables/$batch`.
    func takeRequests() -> [String] {
        state.withLock { state in
            defer { state.requests = [] }
            return state.requests.map { "\($0.method) \($0.path)" }
        }
    }
}

/// A server, its line, and stores that sync through it.
struct ClientDesk {
    let desk: ServiceDesk
    let line: DeskLine
    let folder: TemporaryFolder
    let protocolVersion: ServerProtocol

    init(
        _ backend: TestBackend = .sqlite, _ protocolVersion: ServerProtocol = .zumo2, tables: String = testTables,
        more: String = ""
    ) throws {
        desk = try ServiceDesk(backend, tables: tables, more: more)
        line = DeskLine(desk.service)
        folder = try TemporaryFolder()
        self.protocolVersion = protocolVersion
    }

    func store(_ name: String) async throws -> SyncDatabase {
        var configuration = SyncConfiguration()
        configuration.transport = line
        configuration.serverProtocol = protocolVersion
        return try await SyncDatabase.open(at: folder.path + "/" + name, configuration)
    }

    /// A change by another client.
    @discardableResult
    func ask(_ method: String, _ path: String, _ body: String? = nil) throws -> HTTPResponse {
        try desk.ask(method, "/tables/" + path, body)
    }

    /// The versions of the server's rows that are not deleted, by id.
    func truth() throws -> [String: Value] {
        var plan = ListPlan(table: "todoitem", limit: 1000)
        var rows: [TableRow] = []
        var hasMore = true
        while hasMore {
            let page = try desk.tables.list(plan)
            rows += page.rows
            (plan.skip, hasMore) = (rows.count, page.hasMore)
        }
        return Dictionary(rows.map { ($0.id, .string($0.version)) }) { $1 }
    }
}

extension SyncDatabase {
    /// The rows of a table, by id, with a column.
    func column(_ name: String, of table: String = "todoitem") async throws -> [String: Value] {
        let rows = try await self.rows(of: table).query(RowQuery(table: table)).rows
        return Dictionary(rows.map { ($0.id, $0.columns[name] ?? .null) }) { $1 }
    }

    func insert(_ id: String, _ text: String, into table: String = "todoitem") async throws {
        try await self.rows(of: table).insert(.object([.init("id", .string(id)), .init("text", .string(text))]))
    }

    func update(_ id: String, _ text: String, in table: String = "todoitem") async throws {
        try await self.rows(of: table).update(.object([.init("id", .string(id)), .init("text", .string(text))]))
    }

    @discardableResult
    func pullAll(_ table: String = "todoitem", _ change: (inout PullSettings) throws -> Void = { _ in }) async throws
        -> PullReport
    {
        var settings = PullSettings()
        settings.queryID = "all"
        settings.retries = 0
        try change(&settings)
        return try await pull(table, settings)
    }

    @discardableResult
    func pushOnce() async throws -> PushReport {
        var settings = PushSettings()
        settings.retries = 0
        return try await push(settings)
    }
}
