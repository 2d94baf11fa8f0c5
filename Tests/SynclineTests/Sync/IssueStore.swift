// A store, another process that follows it, and a server some of whose rows can't be read, for tests of what needs a person.

import SegmentLog
import SynclineCore
import SynclineGround
import SynclineTesting
import SynclineWire

@testable import Syncline

struct IssueStore {
    let server = SimulatedServer(.datasync3)
    let disk = MemoryStorage(granularity: .sector)
    let database: SyncDatabase
    private let played: Played

    private static let deep = String(repeating: "[", count: 200) + String(repeating: "]", count: 200)

    init(rows: [Value] = [], environment: any SyncEnvironment = SimulatedEnvironment("I")) async throws {
        server.setTable("t", rows: rows)
        var configuration = SyncConfiguration.test()
        configuration.environment = environment
        configuration.serverProtocol = .datasync3
        let (server, played) = (server, Played())
        configuration.transport = PlayedLine { played.answer($0, server) }
        self.played = played
        database = try await SyncDatabase.open(disk, configuration)
    }

    var table: RowTable { database.rows(of: "t") }

    /// The next writes are answered with these statuses; then the server answers.
    func refuse(_ statuses: Int...) { played.statuses.withLock { $0 = statuses } }

    /// Puts a row on the server that no store can read.
    func putUnreadable(_ id: String) { server.upsert([.item(id, ["text": "deep"])], in: "t") }

    func follow() async throws -> SyncDatabase { try await SyncDatabase.follow(disk, .process("widget")) }

    @discardableResult
    func pull() async throws -> PullReport {
        try await database.pull("t", PullSettings(queryID: "q", pushesFirst: false, retries: 0))
    }

    @discardableResult
    func push() async throws -> PushReport {
        var settings = PushSettings()
        settings.retries = 0
        return try await database.push(settings)
    }

    /// Makes a conflict about a row.
    func conflict(_ id: String, mine: Value = 2, theirs: Value = 3) async throws {
        try await table.update(.item(id, ["n": mine]))
        server.upsert([.item(id, ["n": theirs])], in: "t")
        try await push()
    }

    /// What comes before the server.
    private final class Played: Sendable {
        let statuses = Mutex<[Int]>([])

        func answer(_ request: HTTPRequest, _ server: SimulatedServer) -> Result<HTTPResponse, NetworkFailure> {
            if request.method != "GET", let status = statuses.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) {
                return .success(.json(status, #"{"error":"not on Sundays"}"#))
            }
            var response = server.handle(request)
            let body = String(decoding: response.body, as: UTF8.self)
            response.body = Array(
                body.split(separator: #""text":"deep""#, omittingEmptySubsequences: false)
                    .joined(separator: #""text":"# + IssueStore.deep).utf8)
            return .success(response)
        }
    }
}
