// What the engine reports to the app's log, and what it never reports.

import SegmentLog
import SynclineCore
import SynclineGround
import SynclineTesting
import Testing

@testable import Syncline

@Suite struct DiagnosticTests {
    private final class Reports: Sendable {
        private let all = Mutex<[Diagnostic]>([])

        func add(_ report: Diagnostic) { all.withLock { $0.append(report) } }
        func messages(_ area: Diagnostic.Area) -> [String] {
            all.withLock { $0.filter { $0.area == area }.map { "\($0.level) \($0.message)" } }
        }
    }

    private let server = SimulatedServer(.zumo2)
    private let reports = Reports()

    private func open(_ network: SimulatedNetwork) async throws -> SyncDatabase {
        var configuration = SyncConfiguration()
        configuration.environment = ManualEnvironment()
        configuration.connect(to: network)
        configuration.diagnostics = { [reports] in reports.add($0) }
        return try await SyncDatabase.open(MemoryStorage(), configuration)
    }

    @Test func `a push and a pull are reported, without ids and values`() async throws {
        server.setTable("t", rows: [.object([.init("id", .string("theirs")), .init("x", .string("secret"))])])
        let database = try await open(SimulatedNetwork(server))
        try await database.rows(of: "t").insert(
            .object([.init("id", .string("mine")), .init("x", .string("secret"))]))
        try await database.rows(of: "t").update(.object([.init("id", .string("mine")), .init("x", .string("b"))]))
        _ = try await database.pull("t")
        try await database.close()
        #expect(
            reports.messages(.sync) == [
                "info push: 1 of 1 operations done",
                "info pull of t: 2 rows received, 1 changed, 0 removed",
            ])
        let requests = reports.messages(.network)
        #expect(requests.first?.hasPrefix("debug POST /tables/t: status 201, ") == true)
        #expect(reports.messages(.store).map { $0.prefix(11) } == ["info opened", "info closed"])
        for message in requests + reports.messages(.sync) {
            #expect(!message.contains("mine") && !message.contains("theirs") && !message.contains("secret"))
        }
    }

    @Test func `a push that stops is a warning with its reason`() async throws {
        let network = SimulatedNetwork(server)
        let database = try await open(network)
        try await database.rows(of: "t").insert(.object([.init("id", .string("mine"))]))
        network.setOffline(true)
        _ = try await database.push()
        try await database.close()
        #expect(reports.messages(.sync) == ["warning push: 0 of 1 operations done, stopped (offline)"])
        #expect(reports.messages(.network).allSatisfy { $0.hasPrefix("warning POST /tables/t: ") })
    }

    @Test func `a network is back only after it was away`() {
        var presence = NetworkPresence()
        let back = [true, false, false, true, true].map { presence.note(isThere: $0) }
        #expect(back == [false, false, false, true, false])
    }
}
