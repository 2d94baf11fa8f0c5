// More than 500 spellings of numbers, dates and UUIDs, from a server to a client and back after a change of another column:
// their bytes are the same, on the way and on the server.

import Syncline
import SynclineCore
import SynclineGround
import SynclineTesting
import SynclineWire
import Testing

@testable import SynclineServer
@testable import SynclineTables

/// The line to a server, with the bodies of the writes.
private final class WriteLine: HTTPTransport {
    let answer: @Sendable (HTTPRequest) -> HTTPResponse
    let writes = Mutex<[(id: String, members: [ExactString: String])]>([])

    init(_ answer: @escaping @Sendable (HTTPRequest) -> HTTPResponse) { self.answer = answer }

    func send(_ request: HTTPRequest) async throws(NetworkFailure) -> HTTPResponse {
        if request.method != "GET", let body = request.body, let members = try? JSONScanner.memberTexts(body) {
            let id = request.path.split(separator: "/").last.map(String.init) ?? ""
            writes.withLock { $0.append((id, members)) }
        }
        return answer(request)
    }

    /// The members of a row that are not the server's, as it spells them.
    func row(_ table: String, _ id: String) throws -> [ExactString: String] {
        let response = answer(try #require(HTTPRequest("GET", target: "/tables/\(table)/\(id)")))
        return try JSONScanner.memberTexts(response.body).filter { name, _ in
            SystemColumn(anyCase: name.text) == nil && name.text != "z"
        }
    }
}

@Suite struct SpellingClientTests {
    private static let columns = [
        Column("number", .number), Column("decimal", .decimal), Column("words", .decimalString), Column("date", .date),
        Column("uuid", .uuid), Column("text", .string), Column("json", .json),
    ]

    /// Rows as JSON, each with one spelling in the columns that can hold it.
    private static func rows(_ columns: [Column]) throws -> [(id: String, item: String)] {
        let spellings = Spellings.json(5)
        #expect(spellings.count > 500)
        return try spellings.enumerated().compactMap { place, spelling in
            let value = try Value(json: spelling.utf8)
            let held = columns.filter { (try? $0.stored(value, ColumnLimits())) != nil }
            let members = held.map { ",\"\($0.name)\":\(spelling)" }.joined()
            return held.isEmpty ? nil : ("r\(place)", "{\"id\":\"r\(place)\",\"z\":1\(members)}")
        }
    }

    @Test(arguments: TestBackend.stores, ServerProtocol.allCases)
    func `this project's server gets the bytes that it gave`(
        _ backend: TestBackend, _ protocolVersion: ServerProtocol
    ) async throws {
        let declared = Self.columns.map { "\"\($0.name)\":\"\($0.type.rawValue)\"" }.joined(separator: ",")
        let desk = try ServiceDesk(
            backend, tables: "{\"loose\":{},\"typed\":{\"columns\":{\(declared)}}}", pageSize: 1000)
        let service = Mutex(desk.service)
        let line = WriteLine { request in service.withLock { $0 }.answer(request, url: "http://server") }
        for (table, columns) in [
            ("typed", Self.columns), ("loose", [Column("n", .number), Column("s", .string)]),
        ] {
            let rows = try Self.rows(columns)
            for row in rows {
                let made = try desk.ask("POST", "/tables/\(table)", row.item)
                #expect(made.status == 201, "\(row.item): \(made.text)")
            }
            try await goAndReturn(table, rows.map(\.id), line, protocolVersion, table == "typed" ? columns : [])
        }
    }

    @Test(arguments: ServerProtocol.allCases, [false, true])
    func `another server gets the bytes that it gave`(
        _ protocolVersion: ServerProtocol, isDeclared: Bool
    ) async throws {
        let rows = try Self.rows([Column("json", .json)]).map { ($0.id, $0.item.replacing("json", with: "c")) }
        let server = SimulatedServer(protocolVersion)
        server.setTable("t", rows: try rows.map { try Value(json: $0.1.utf8) }, pageLimit: 1000)
        let line = WriteLine { server.handle($0) }
        try await goAndReturn("t", rows.map(\.0), line, protocolVersion, isDeclared ? [Column("c", .decimal)] : [])
    }

    private func goAndReturn(
        _ table: String, _ ids: [String], _ line: WriteLine, _ protocolVersion: ServerProtocol, _ columns: [Column]
    ) async throws {
        let came = try ids.map { try line.row(table, $0) }
        let folder = try TemporaryFolder()
        var configuration = SyncConfiguration()
        (configuration.transport, configuration.serverProtocol) = (line, protocolVersion)
        var store = try await SyncDatabase.open(at: folder.path + "/s", configuration)
        try await store.declareColumns(table: table, Dictionary(columns.map { ($0.name, $0.type) }) { $1 })
        #expect(try await store.pullAll(table).reason == nil)
        try await store.close()
        store = try await SyncDatabase.open(at: folder.path + "/s", configuration)
        for id in ids {
            try await store.rows(of: table).update(.object([.init("id", .string(id)), .init("z", .integer(2))]))
        }
        line.writes.withLock { $0 = [] }
        #expect(try await store.push(PushSettings(batchSize: 1, retries: 0)).reason == nil)
        let writes = Dictionary(line.writes.withLock { $0 }.map { ($0.id, $0.members) }) { $1 }
        #expect(writes.count == ids.count)
        for (id, came) in zip(ids, came) {
            let sent = try #require(writes[id])
            #expect(sent["z"] == "2" && !came.isEmpty)
            for (name, spelling) in came {
                // The older protocol sends what has changed.
                let isWhole = protocolVersion == .datasync3
                #expect(sent[name.text] == (isWhole ? spelling : nil), "\(id) of \(table): \(name.text) \(spelling)")
            }
            #expect(try line.row(table, id) == came, "\(id) of \(table)")
        }
        try await store.close()
    }
}
