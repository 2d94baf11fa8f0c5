// A store that the first version of the app wrote, opened by this one.

import Syncline
import SynclineTesting
import Testing

@testable import FieldApp

@Suite(.timeLimit(.minutes(10))) struct MigrationTests {
    @Test func `rows of the first version have the new names and the default`() async throws {
        let (world, disk) = (World(), MemoryStorage())
        try await firstVersion(world, disk)

        var configuration = world.configuration
        configuration.schema = FieldStore.schema
        let store = try await FieldStore(SyncDatabase.open(disk, configuration))
        #expect(try await store.inspections.all().map(\.inspector) == ["Ada", "Grace"])
        #expect(try await store.findings.all().map(\.severity) == [.minor])
        #expect(try await store.toFixBySeverity().get().map(\.key) == [.minor])
    }

    @Test func `what the first version did not send is sent under the server's names`() async throws {
        let (world, disk) = (World(), MemoryStorage())
        try await firstVersion(world, disk)
        #expect(world.column("who", of: Inspection.table) == ["Ada"])

        var configuration = world.configuration
        configuration.schema = FieldStore.schema
        let store = try await FieldStore(SyncDatabase.open(disk, configuration))
        try await store.inspections.update(id: "a") { $0.inspector = "Joan" }
        let report = try await store.database.sync(FieldStore.tables)
        #expect(report.reason == nil && report.push.outcome == .complete)
        #expect(world.column("who", of: Inspection.table) == ["Joan", "Grace"])
        #expect(world.column("inspector", of: Inspection.table) == [nil, nil])
        // The default is shown and never sent.
        #expect(world.column("severity", of: Finding.table) == [nil])
        #expect(try await store.inspections.all().map(\.inspector) == ["Joan", "Grace"])
    }

    @Test func `the first version can't open the store any more`() async throws {
        let (world, disk) = (World(), MemoryStorage())
        var configuration = world.configuration
        configuration.schema = FieldStore.schema
        try await SyncDatabase.open(disk, configuration).close()
        configuration.schema = FirstVersion.schema
        let error = await #expect(throws: SyncError.self) { try await SyncDatabase.open(disk, configuration) }
        #expect(error?.code == .storeNewer)
    }

    /// The first version stores two inspections and a finding, and sends all but the second inspection.
    private func firstVersion(_ world: World, _ disk: MemoryStorage) async throws {
        var configuration = world.configuration
        configuration.schema = FirstVersion.schema
        let database = try await SyncDatabase.open(disk, configuration)
        let inspections = try database.table(FirstVersion.Inspection.self)
        let findings = try database.table(FirstVersion.Finding.self)
        try await inspections.insert(.init(id: "a", site: "Mill", who: "Ada"))
        try await findings.insert(.init(id: "f", inspectionID: "a", text: "crack"))
        _ = try await database.sync(FieldStore.tables)
        try await inspections.insert(.init(id: "b", site: "Dam", who: "Grace"))
        try await database.close()
    }
}
