// The screen of all that waits for a person, with a real store and a simulated server.

import Syncline
import SynclineTesting
import Testing

@testable import FieldApp

@Suite(.timeLimit(.minutes(10))) @MainActor struct IssuesScreenTests {
    @Test func `what the server refused is listed with its text, and sent again`() async throws {
        let world = World()
        let store = try await world.store()
        let screen = IssuesScreen(store)
        world.network.script([.answer(status: 403), .answer(status: 403)])
        try await store.inspections.insert(Inspection(site: "Mill"))
        try await store.report("crack", in: "mill")
        _ = try await store.database.sync(FieldStore.tables)
        await wait { screen.monitor.issues.count == 2 }
        #expect(screen.monitor.issues.map(\.kind) == [.refused, .refused])
        #expect(Set(screen.monitor.issues.map(IssuesScreen.title)) == ["Mill", "crack"])

        screen.retry()
        await wait { screen.monitor.issues.isEmpty && screen.monitor.resolving.isEmpty }
        #expect(screen.monitor.error == nil)
        _ = try await store.database.sync(FieldStore.tables)
        #expect(world.column("text", of: Finding.table) == ["crack"])
        #expect(world.column("site", of: Inspection.table) == ["Mill"])
    }
}
