// A store that syncs by itself against a simulated server, on a clock of the test's own.

import SegmentLog
import SynclineCore
import SynclineTesting
import SynclineWire
import Testing

@testable import Syncline

@Suite struct AutomaticSyncTests {
    private let clock = ManualSurroundings()
    private let server = SimulatedServer(.zumo2)
    private let network: SimulatedNetwork

    init() {
        network = SimulatedNetwork(server)
    }

    private func open() async throws -> SyncDatabase {
        var configuration = SyncConfiguration()
        configuration.surroundings = clock
        configuration.connect(to: network)
        return try await SyncDatabase.open(MemoryStorage(), configuration)
    }

    /// Reads statuses until one is as wanted.
    private func status(
        of sync: AutomaticSync, where isWanted: (SyncStatus) -> Bool
    ) async -> SyncStatus? {
        for await status in sync.statuses() where isWanted(status) { return status }
        return nil
    }

    @Test func `a change is pushed after the delay, and the server's rows come`() async throws {
        server.setTable("t", rows: [.object([.init("id", .string("theirs"))])])
        let database = try await open()
        let sync = database.startAutomaticSync(AutomaticSyncSettings(tables: ["t"]))
        #expect(await status(of: sync) { $0.phase == .idle && $0.lastRound != nil } != nil)
        #expect(try await database.table("t").get(id: "theirs") != nil)
        let first = sync.status.lastRound
        try await database.table("t").insert(.object([.init("id", .string("mine"))]))
        while clock.nextWaking != clock.now() + 500 { await Task.yield() }
        clock.advance(milliseconds: 500)
        #expect(await status(of: sync) { $0.phase == .idle && $0.lastRound != first } != nil)
        #expect(server.rows(of: "t").count == 2)
        #expect(try await database.pending().isEmpty)
        await sync.stop()
        #expect(sync.status.phase == .stopped)
        try await database.close()
    }

    @Test func `without a network it tries again, and nothing is lost`() async throws {
        server.setTable("t", rows: [])
        let database = try await open()
        try await database.table("t").insert(.object([.init("id", .string("mine"))]))
        network.setOffline(true)
        let sync = database.startAutomaticSync(AutomaticSyncSettings(tables: ["t"]))
        let offline = await status(of: sync) { if case .offline = $0.phase { true } else { false } }
        #expect(offline?.pending == 1)
        network.setOffline(false)
        sync.networkIsBack()
        #expect(await status(of: sync) { $0.phase == .idle } != nil)
        #expect(server.rows(of: "t").count == 1)
        await sync.stop()
        try await database.close()
    }
}
