// Random tables that others made, on both databases: a server that does not start names the column at fault, and one
// that starts serves a client which in the end has every row as it is. SYNCLINE_SEED=n repeats one, SYNCLINE_SEEDS=n
// runs n tables on each database.

import Foundation
import Syncline
import SynclineCore
import SynclineGround
import SynclineTesting
import SynclineWire
import Testing

@testable import SynclineServer
@testable import SynclineTables

/// A client's connection to a service.
private final class StraightLine: HTTPTransport {
    private let service: TableAnswers
    private let capable: Bool

    init(_ service: TableAnswers, capable: Bool) { (self.service, self.capable) = (service, capable) }

    func send(_ request: HTTPRequest) async throws(NetworkFailure) -> HTTPResponse {
        var context = RequestContext(url: "http://server")
        var response = service.answer(request, &context)
        if response.status >= 500 { throw .offline("\(request.method) \(request.path): \(context.notes)") }
        if !capable { response.headers.removeAll { $0.isNamed(WireHeader.capabilities) } }
        return response
    }
}

private struct AdoptedStory {
    private struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    private var chance: Chance
    private let table: RandomTable
    private let backend: TestBackend
    private let role: String
    private let address: String
    private let keeper: AnyObject
    /// The encoding of the database, if it is not the one that a server needs.
    private let encoding: String?
    private(set) var trace: [String]

    init(_ seed: UInt64, _ backend: TestBackend) throws {
        chance = Chance(seed: seed &* 31)
        table = RandomTable(seed, backend)
        self.backend = backend
        role = "story\(seed)"
        let (store, keeper) = try backend.store()
        self.keeper = keeper
        trace = table.trace
        encoding = chance.once(in: 40) ? (backend == .sqlite ? "UTF-16le" : chance.pick(["LATIN1", "EUC_JP"])) : nil
        guard let encoding else {
            address = store
            return
        }
        switch try StoreAddress(store) {
        case .sqlite(let path):
            address = store
            let connection = try SQLiteConnection(path: path, isReader: false)
            // The first table fixes it.
            for text in ["PRAGMA encoding = '\(encoding)'", "CREATE TABLE first (a)"] { try connection.execute(text) }
        case .postgres(let url):
            let name = "encoded\(seed)"
            address = try #require(PrivatePostgres.shared).url(name)
            try PostgresConnection(url: url).execute(
                "CREATE DATABASE \(name) ENCODING '\(encoding)' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'")
        }
    }

    private func open(_ address: String) throws -> any SQLDatabase {
        switch try StoreAddress(address) {
        case .sqlite(let path): try SQLiteDatabase(path: path, readers: 4)
        case .postgres(let url): try PostgresDatabase(url: url, connections: 2, limits: .patient)
        }
    }

    /// Returns whether the table was served.
    mutating func run() async throws -> Bool {
        let owner = try open(address)
        defer { owner.close() }
        if let encoding {
            try owner.carryOut(table.statements)
            let result = Result { () throws(StoreFailure) in try SQLStore(owner, [], PatientEnvironment()) }
            guard case .failure(let failure) = result, StartFailure(failure).text.contains(encoding) else {
                throw Failure(description: "it starts with the encoding \(encoding)")
            }
            return false
        }
        // The trigger of some tables uses the server's own.
        let first = try SQLStore(owner, [], PatientEnvironment())
        try owner.carryOut(table.statements)
        var served = owner
        if let grants = table.grants {
            let tables = StateSQL.tables + (first.numbers == .ticks ? ["syncline_ticks"] : [])
            var own = ["GRANT SELECT, INSERT, UPDATE, DELETE ON \(tables.joined(separator: ", ")) TO \(role)"]
            if first.numbers == .ticks {
                own.append("GRANT SELECT, UPDATE ON ALL SEQUENCES IN SCHEMA public TO \(role)")
            }
            try owner.carryOut(["CREATE ROLE \(role) LOGIN"] + own + grants.map { $0.replacing("ROLE", with: role) })
            served = try open(address.replacing("user=tester", with: "user=\(role)"))
        }
        defer { if table.grants != nil { served.close() } }
        let settings = try configuration(#"{"tables":{"t":\#(table.definition)}}"#)
        guard let store = try start(settings, served, owner) else { return false }
        let service = TableAnswers(settings, store, PatientEnvironment())
        try await live(service, store)
        return true
    }

    /// The store, or nil if it was refused as it must be.
    private mutating func start(
        _ settings: ServerConfiguration, _ database: any SQLDatabase, _ owner: any SQLDatabase
    ) throws -> SQLStore? {
        let result = Result { () throws(StoreFailure) in
            try SQLStore(database, settings.tables, PatientEnvironment())
        }
        if case .success(let store) = result {
            if !table.faults.isEmpty || table.needsNumbers { throw Failure(description: "it starts") }
            return store
        }
        guard case .failure(let failure) = result else { return nil }
        let text = StartFailure(failure).text
        trace.append("refused: \(text)")
        if text.contains("--number t") {
            guard table.needsNumbers else { throw Failure(description: "no row needs a number: \(text)") }
            if table.isMoody { return nil }
            _ = try SQLStore(owner, settings.tables, PatientEnvironment(), checksRows: false).number("t")
            if !table.faults.isEmpty { return nil }
            return try SQLStore(database, settings.tables, PatientEnvironment())
        }
        guard table.faults.contains(where: text.contains) else {
            throw Failure(description: "no such fault was made: \(text)")
        }
        return nil
    }

    // MARK: Writes and reads

    private mutating func live(_ service: TableAnswers, _ store: SQLStore) async throws {
        var clients: [SyncDatabase] = []
        for protocolVersion in ServerProtocol.allCases {
            for isCapable in [true, false] {
                var configuration = SyncConfiguration()
                configuration.transport = StraightLine(service, capable: isCapable)
                configuration.serverProtocol = protocolVersion
                clients.append(try await SyncDatabase.open(MemoryStorage(granularity: .sector), configuration))
            }
        }
        for _ in 0..<(8 + chance.below(20)) {
            try write(service)
            if chance.once(in: 4) { try await pull(clients[chance.below(clients.count)]) }
        }
        for (place, client) in clients.enumerated() {
            // Without the feed, only an audit finds what was deleted permanently.
            try await pull(client, reconciles: place % 2 == 1)
            try await compare(client, service, store, "client \(place)")
            try await client.close()
        }
    }

    private mutating func pull(_ client: SyncDatabase, reconciles: Bool = false) async throws {
        let report = try await client.pullAll("t") { settings in
            settings.pageSize = 5
            settings.reconciles = reconciles
        }
        if let reason = report.reason { throw Failure(description: "the pull stopped: \(reason)") }
    }

    private mutating func write(_ service: TableAnswers) throws {
        let id = self.id()
        let row = "/" + PercentEncoding.encode(id)
        let (method, path) = chance.pick([
            ("POST", ""), ("POST", ""), ("POST", ""), ("PATCH", row), ("PATCH", row), ("PUT", row), ("DELETE", row),
            ("POST", row),
        ])
        var request = try #require(HTTPRequest(method, target: "/tables/t" + path))
        let isNew = chance.once(in: 2)
        if isNew { request.headers.append(HTTPHeader("ZUMO-API-VERSION", "3.0.0")) }
        if method != "DELETE", method != "POST" || path.isEmpty {
            var members = path.isEmpty ? [Value.Member("id", .string(id))] : []
            for field in table.fields where chance.once(in: 2) {
                members.append(.init(field.name, field.type.map { value($0) } ?? .null))
            }
            request.body = Array(Value.object(members).json.utf8)
        }
        let answer = service.answer(request, url: "http://server")
        trace.append(
            "\(method) \(path) \(String(decoding: request.body ?? [], as: UTF8.self)) → \(answer.status) \(answer.text)"
        )
        guard answer.status < 500, table.isMoody || answer.status != 403 else {
            throw Failure(description: "it was answered \(answer.status)")
        }
        if !table.isMoody, answer.status == 409, answer.code == "constraint" {
            throw Failure(description: "the database refused a right write")
        }
        guard (200..<300).contains(answer.status), method != "DELETE", let row = answer.json["version"] else { return }
        let now = service.answer(
            try #require(HTTPRequest("GET", target: "/tables/t/\(PercentEncoding.encode(id))?ZUMO-API-VERSION=3.0.0")),
            url: "")
        guard now.json["version"] == row else { throw Failure(description: "it reads \(now.text)") }
    }

    private mutating func id() -> String {
        let place = chance.below(14)
        switch table.idKind {
        case .text: return "row \(place)"
        case .integer: return "\(place * 7 + 1)"
        case .uuid: return "0198b5a2-0000-7000-8000-0000000000\(10 + place)"
        }
    }

    private mutating func value(_ type: ColumnType) -> Value {
        if chance.once(in: 5), !table.isMoody { return .null }
        switch type.form {
        case .uuid:
            return .string(
                chance.pick(["0198b5a2-0000-7000-8000-00000000000b", "0198B5A2-0000-7000-8000-00000000000C"]))
        case .string:
            return .string(chance.pick(["", "a", "Ä", "x'y", "日本", "0198b5a2-0000-7000-8000-00000000000b", "12345"]))
        case .number, .decimal:
            return chance.pick([.integer(0), .integer(-17), .integer(32_000), .double(0.5), .double(12.25)])
        case .boolean: return .bool(chance.once(in: 2))
        case .date:
            return .string(
                chance.pick(["2026-05-19T21:30:00.123Z", "1969-12-31T23:59:59.999Z", "2026-02-28T00:00:00Z"]))
        case .json:
            return chance.pick([.object([.init("b", .integer(1)), .init("a", .array([]))]), .string("x"), .integer(5)])
        }
    }

    /// The client has every row that the server lists, and no other.
    private func compare(
        _ client: SyncDatabase, _ service: TableAnswers, _ store: SQLStore, _ name: String
    ) async throws {
        var truth: [String: String] = [:]
        for row in try store.list(ListPlan(table: "t", limit: 1000)).rows {
            truth[row.id] = Self.text(row.members(.datasync3))
        }
        var rows: [String: String] = [:]
        for row in try await client.rows(of: "t").query(RowQuery(table: "t")).rows {
            rows[row.id] = Self.text([.init("id", .string(row.id))] + row.columns.members)
        }
        for id in Set(truth.keys).union(rows.keys).sorted() where truth[id] != rows[id] {
            throw Failure(description: "\(name), row \(id):\n\(rows[id] ?? "missing")\nserver:\n\(truth[id] ?? "gone")")
        }
    }

    /// The members that both protocols have, in order.
    private static func text(_ members: [Value.Member]) -> String {
        let members = members.filter { $0.name != "createdAt" }.map { Value.Member($0.name, spelled($0.value)) }
        return Value.object(members.sorted { $0.name < $1.name }).json
    }

    /// A client's column of the app's own has a date as the string that came.
    private static func spelled(_ value: Value) -> Value {
        if case .date(let date) = value { return .string(date.description) }
        return value
    }
}

@Suite struct AdoptedStoryTests {
    private static let seeds = Seeds.some(25, night: 500)

    @Test(arguments: TestBackend.available)
    func `a random table is refused with its column, or a client has all of its rows`(
        _ backend: TestBackend
    ) async throws {
        var served = 0
        for seed in Self.seeds {
            var story = try AdoptedStory(seed, backend)
            do {
                served += try await story.run() ? 1 : 0
            } catch {
                Issue.record("seed \(seed): \(error)\n\(story.trace.joined(separator: "\n"))")
                return
            }
        }
        #expect(served >= Self.seeds.count / 4, "\(served)")
    }
}
