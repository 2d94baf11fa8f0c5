// A push and the pulls in one call: the changes of two devices are combined, and conflicts are reported.

import SegmentLog
import SynclineCore
import SynclineTesting
import SynclineWire
import Testing

@testable import Syncline

@Suite(.timeLimit(.minutes(10))) struct SyncRoundTests {
    private let server = SimulatedServer(.zumo2)
    private let network: SimulatedNetwork

    init() {
        server.setTable("t", rows: [.item("r", ["name": "Ann", "phone": "1"])])
        server.setTable("u", rows: [.item("x", [:])])
        network = SimulatedNetwork(server)
    }

    private func device() async throws -> SyncDatabase {
        var configuration = SyncConfiguration.test()
        configuration.connect(to: network)
        return try await SyncDatabase.open(MemoryStorage(), configuration)
    }

    private func serverRow() -> Value? { server.rows(of: "t").first }

    @Test func `a sync that leaves an operation says so`() async throws {
        let pair = try await SyncPair(.zumo2)
        try await pair.table.insert(.item("a", ["n": .integer(1)]))
        pair.network.script([.answer(status: 400)])
        let report = try await pair.database.sync(["t"])
        #expect(report.push.outcome == .incomplete && report.pulls.map { $0.report.reason } == [nil])
        #expect(report.reason?.code == .pushIncomplete)
        #expect(try await pair.database.sync(["t"]).reason?.code == .pushIncomplete, "as long as it waits")
    }

    @Test func `edits of different columns meet with the defaults`() async throws {
        let (a, b) = (try await device(), try await device())
        for device in [a, b] { #expect(try await device.sync(["t"]).reason == nil) }
        try await a.rows(of: "t").update(.item("r", ["name": "Bea"]))
        try await b.rows(of: "t").update(.item("r", ["phone": "2"]))
        for device in [a, b, a] {
            let report = try await device.sync(["t"])
            #expect(report.push.outcome == .complete)
        }
        #expect(serverRow()?[member: "name"] == "Bea" && serverRow()?[member: "phone"] == "2")
        for device in [a, b] {
            let row = try await device.rows(of: "t").get(id: "r")?.columns
            #expect(row?["name"] == "Bea" && row?["phone"] == "2")
            #expect(try await device.conflicts().isEmpty)
        }
    }

    @Test func `automatic sync merges, and a bare push does not`() async throws {
        #expect(AutomaticSyncSettings(tables: ["t"]).sync.push.policy.name == "merge")
        #expect(SyncSettings().push.policy.name == "merge")
        #expect(PushSettings().policy.name == "fail")
        let device = try await device()
        _ = try await device.sync(["t"])
        server.upsert([.item("r", ["name": "Ann", "phone": "2"])], in: "t")
        try await device.rows(of: "t").update(.item("r", ["name": "Bea"]))
        #expect(try await device.push().outcome == .incomplete)
    }

    @Test func `a merge does not restore a row that another client deleted`() async throws {
        let device = try await device()
        _ = try await device.sync(["t"])
        try await device.rows(of: "t").update(.item("r", ["name": "Bea"]))
        server.remove(["r"], from: "t")
        let report = try await device.sync(["t"])
        #expect(report.push.operations.map(\.reason) == [.conflict(.gone)])
        #expect(server.rows(of: "t").isEmpty)
        #expect(try await device.conflicts().map(\.reason) == [.gone])
    }

    @Test func `changes made during the round are pushed before the pull, with the same policy`() async throws {
        let device = try await device()
        _ = try await device.sync(["t", "u"])
        let (server, table) = (server, device.rows(of: "t"))
        var settings = SyncSettings(tables: ["u", "t"])
        settings.push.tables = ["u"]
        let report = try await device.sync(settings) { step in
            guard step == .push else { return }
            server.upsert([.item("r", ["name": "Ann", "phone": "2"])], in: "t")
        }
        #expect(report.reason == nil)
        try await table.update(.item("r", ["name": "Bea"]))
        server.upsert([.item("r", ["name": "Ann", "phone": "3"])], in: "t")
        #expect(try await device.sync(settings).reason == nil)
        #expect(try await device.conflicts().isEmpty)
        #expect(serverRow()?[member: "name"] == "Bea" && serverRow()?[member: "phone"] == "3")
    }

    @Test func `without a list of tables, all known tables are pulled`() async throws {
        let device = try await device()
        #expect(try await device.sync().pulls.isEmpty)
        for table in ["t", "u"] { _ = try await device.pull(table) }
        #expect(try await device.sync().pulls.map(\.table) == ["t", "u"])
    }

    @Test func `a table that can't be pulled does not stop the others; a missing network does`() async throws {
        let device = try await device()
        network.script([.answer(status: 404)])
        let report = try await device.sync(["t", "u"])
        #expect(report.pulls.map { $0.report.reason?.code } == [.serverError, nil])
        #expect(report.reason?.code == .serverError)
        #expect(try await device.rows(of: "u").get(id: "x") != nil)
        network.setOffline(true)
        #expect(try await device.sync(["t", "u"]).pulls.map { $0.report.reason?.code } == [.offline])
    }

    @Test func `conflicts are reported as they appear and disappear`() async throws {
        let device = try await device()
        _ = try await device.sync(["t", "u"])
        var all = try device.observeConflicts().makeAsyncIterator()
        var others = try device.observeConflicts(table: "u").makeAsyncIterator()
        #expect(try await all.next()?.isEmpty == true)
        #expect(try await others.next()?.isEmpty == true)
        try await device.rows(of: "t").update(.item("r", ["name": "Bea"]))
        server.upsert([.item("r", ["name": "Cid", "phone": "1"])], in: "t")
        _ = try await device.sync(["t"])
        #expect(try await all.next()?.map(\.id) == ["r"])
        try await device.resolve(table: "t", id: "r", .takeServer)
        #expect(try await all.next()?.isEmpty == true)
        try await device.close()
        #expect(try await all.next() == nil)
        #expect(try await others.next() == nil)
    }

    private struct Person: SyncModel {
        var id: String
        var name: String
    }

    @Test func `conflicts are reported as models`() async throws {
        let device = try await device()
        _ = try await device.sync(["t"])
        let people = try device.table(Person.self, named: "t")
        var conflicts = try people.observeConflicts().makeAsyncIterator()
        #expect(try await conflicts.next()?.isEmpty == true)
        try await device.rows(of: "t").update(.item("r", ["name": "Bea"]))
        server.upsert([.item("r", ["name": "Cid", "phone": "1"])], in: "t")
        _ = try await device.sync(["t"])
        let found = try #require(try await conflicts.next()?.first)
        #expect(found.mine?.name == "Bea" && found.server?.name == "Cid")
    }
}
