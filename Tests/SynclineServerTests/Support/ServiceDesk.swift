// A service over a database of its own, with a clock that the test moves, called without a socket.

import Foundation
import SynclineCore
import SynclineGround
import SynclineTables
import SynclineWire
import Testing

@testable import SynclineServer

/// A clock that stands still, and no randomness.
final class StillEnvironment: ServerEnvironment {
    private let state = Mutex((now: Int64(1_767_225_600_000), count: UInt64(0)))

    func now() -> Int64 { state.withLock { $0.now } }

    var databaseClock: Int64? { now() }

    func patience(isHeld: Bool) -> Duration { .seconds(60) }

    func set(now: Int64) { state.withLock { $0.now = now } }

    func chance() -> (high: UInt64, low: UInt64) {
        state.withLock { state in
            state.count += 1
            return (0x1122_3344_5566_7788, state.count)
        }
    }
}

/// The real clock and randomness. All tests share one PostgreSQL, whose transactions readers wait for.
struct PatientEnvironment: ServerEnvironment {
    private let system = SystemServerEnvironment()

    func now() -> Int64 { system.now() }

    func chance() -> (high: UInt64, low: UInt64) { system.chance() }

    func patience(isHeld: Bool) -> Duration { .seconds(60) }
}

/// A folder that is removed when the test is over.
final class TemporaryFolder: Sendable {
    let path: String

    init() throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("server-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        path = url.path
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}

/// The tables that most tests use.
let testTables = """
    {"todoitem":{"columns":{"text":"string","complete":"boolean"}},
    "hard":{"softDelete":false,"columns":{"text":"string"}},
    "fixed":{"dynamicSchema":false,"columns":{"text":"string","n":"number","d":"date","b":"boolean","j":"json"}},
    "secure":{"access":"authenticated","columns":{"text":"string"}},
    "mine":{"access":"authenticated","perUser":"userId","columns":{"text":"string"}},
    "minehard":{"softDelete":false,"access":"authenticated","perUser":"userId","columns":{"text":"string"}},
    "readonly":{"insert":"disabled","update":"disabled","delete":"disabled","undelete":"disabled"},
    "admin":{"insert":"role:admin"}}
    """

func configuration(_ json: String) throws -> ServerConfiguration {
    try ServerConfiguration(Value(json: json.utf8, refusesDuplicates: true)) { text in Array(text.utf8) }
}

struct ServiceDesk {
    let service: TableAnswers
    let tables: any TableStore
    let environment: StillEnvironment
    private let keeper: AnyObject?

    /// The store, if it has a database.
    var store: SQLStore {
        guard let store = tables as? SQLStore else { preconditionFailure("tables in memory have no database") }
        return store
    }

    init(
        _ backend: TestBackend = .sqlite, tables: String = testTables, more: String = "", pageSize: Int = 50,
        before: [String] = []
    ) throws {
        let environment = StillEnvironment()
        if backend == .memory {
            let configuration = try ServiceDesk.settings(tables, more, pageSize)
            let memory = MemoryTables(
                configuration.tables, limits: configuration.limits.rows, epoch: environment.newEpoch())
            self.init(configuration, MemoryTableStore(memory, environment), environment, nil)
            return
        }
        let (database, keeper) = try backend.database()
        try database.carryOut(before)
        try self.init(database, environment, keeper, tables: tables, more: more, pageSize: pageSize)
    }

    /// A server that starts on a database, which may be another's.
    init(
        _ database: any SQLDatabase, _ environment: StillEnvironment, _ keeper: AnyObject, tables: String,
        more: String = "", pageSize: Int = 50
    ) throws {
        let configuration = try ServiceDesk.settings(tables, more, pageSize)
        let store = try SQLStore(database, configuration.tables, environment, limits: configuration.limits.rows)
        self.init(configuration, store, environment, keeper)
    }

    private init(
        _ configuration: ServerConfiguration, _ store: any TableStore, _ environment: StillEnvironment,
        _ keeper: AnyObject?
    ) {
        (tables, self.environment, self.keeper) = (store, environment, keeper)
        service = TableAnswers(configuration, store, environment) { (store as? SQLStore)?.measures ?? [] }
    }

    private static func settings(_ tables: String, _ more: String, _ pageSize: Int) throws -> ServerConfiguration {
        try configuration(
            """
            {"pageSize":\(pageSize),"auth":{"key":"\(testSecret)"},"cors":{"origins":["localhost","*.apps.example"]},
            "tables":\(tables)\(more)}
            """)
    }

    /// Sends a request as a client does, and returns the response.
    func ask(
        _ method: String, _ target: String, _ body: String? = nil, _ headers: [String: String] = [:],
        new: Bool = false
    ) throws -> HTTPResponse {
        var request = try #require(HTTPRequest(method, target: target))
        request.headers = headers.map { HTTPHeader($0.key, $0.value) }
        if new { request.headers.append(HTTPHeader("ZUMO-API-VERSION", "3.0.0")) }
        if let body {
            request.body = Array(body.utf8)
            request.headers.append(HTTPHeader("Content-Type", "application/json"))
        }
        return service.answer(request, url: "http://server:8080")
    }
}

extension TableAnswers {
    /// Answers a request to the server at a URL.
    func answer(_ request: HTTPRequest, url: String) -> HTTPResponse {
        var context = RequestContext(url: url)
        return answer(request, &context)
    }
}

extension TableStore {
    func write(_ groups: [[TableWrite]], stopsAtRefusal: Bool) throws(StoreFailure) -> [[WriteOutcome]] {
        try write(groups, stopsAtRefusal: stopsAtRefusal, wantsRows: true)
    }
}

extension SQLDatabase {
    /// What another program does to the database.
    func carryOut(_ statements: [String]) throws(StoreFailure) {
        try write { connection throws(StoreFailure) in
            for statement in statements { try connection.execute(statement) }
        }
    }
}

extension HTTPResponse {
    var text: String { String(decoding: body, as: UTF8.self) }

    var json: Value { (try? Value(json: body)) ?? .null }

    var etag: String? { headers.value("ETag") }

    /// The ids of a list's rows, in either protocol's form.
    var ids: [String] {
        let rows: Value? = if case .array = json { json } else { json["results"] ?? json["items"] }
        guard case .array(let rows)? = rows else { return [] }
        return rows.compactMap { row in
            guard case .string(let id)? = row["id"] else { return nil }
            return id
        }
    }
}

extension Value {
    subscript(name: String) -> Value? {
        guard case .object(let members) = self else { return nil }
        return members.last { $0.name == name }?.value
    }

    subscript(index: Int) -> Value? {
        guard case .array(let elements) = self, elements.indices.contains(index) else { return nil }
        return elements[index]
    }

    var string: String? {
        guard case .string(let text) = self else { return nil }
        return text
    }
}

extension String {
    /// As a parameter of a URL.
    var encoded: String { PercentEncoding.encode(self) }
}
