// The screen with a real store and a simulated server: its states follow what happens, without sleeping.

import Syncline
import SynclineTesting
import Testing

@testable import FieldApp

@Suite(.timeLimit(.minutes(10))) @MainActor struct InspectionScreenTests {
    @Test func `a screen is loading, then empty, then a list`() async throws {
        let store = try await World().store()
        let screen = InspectionScreen(store, "mill")
        #expect(screen.status.content == .loading)
        await wait { screen.status.content == .empty }
        #expect(screen.status.notice == .upToDate)
        await screen.report("crack")
        await wait { screen.status.content == .list }
        await wait { screen.status.notice == .unsent(1) }
        #expect(screen.findings.map(\.text) == ["crack"])
    }

    @Test func `a screen shows only its own findings, in order`() async throws {
        let store = try await World().store()
        let screen = InspectionScreen(store, "mill")
        try await store.report("rust", in: "mill")
        try await store.report("leak", in: "dam")
        try await store.report("crack", in: "mill")
        await wait { screen.findings.map(\.text) == ["crack", "rust"] }
        let crack = try #require(screen.findings.first)
        await screen.setFixed(crack, to: true)
        await wait { screen.findings.first?.isFixed == true }
        await screen.fixAll()
        await wait { screen.findings.allSatisfy { $0.isFixed } }
        await screen.remove(crack)
        await wait { screen.findings.map(\.text) == ["rust"] }
        await screen.undo()
        await wait { screen.findings.map(\.text) == ["crack", "rust"] }
    }

    @Test func `a change made offline is sent when the network is back`() async throws {
        let world = World()
        world.network.setOffline(true)
        let session = try await world.session()
        let screen = InspectionScreen(session.store, "mill")
        await screen.report("crack")
        await wait { screen.status.notice == .offline(unsent: 1) }
        #expect(screen.status.content == .list)

        world.network.setOffline(false)
        screen.refresh()
        await wait { screen.status.notice == .upToDate }
        #expect(world.column("text", of: Finding.table) == ["crack"])
        try await session.end()
    }

    @Test func `a change of another device appears`() async throws {
        let world = World()
        let session = try await world.session()
        let screen = InspectionScreen(session.store, "mill")
        await wait { screen.status.content == .empty }
        let tablet = try await World(server: world.server).store()
        try await tablet.report("crack", in: "mill")
        _ = try await tablet.database.sync(FieldStore.tables)
        screen.refresh()
        await wait { screen.findings.map(\.text) == ["crack"] }
        try await session.end()
    }

    @Test func `a conflict is shown on its screen, and decided there`() async throws {
        let world = World()
        let session = try await world.session()
        let crack = try await session.store.report("crack", in: "mill")
        let (screen, other) = (InspectionScreen(session.store, "mill"), InspectionScreen(session.store, "dam"))
        screen.refresh()
        await wait { screen.status.notice == .upToDate && screen.status.content == .list }

        let tablet = try await World(server: world.server).store()
        _ = try await tablet.database.sync(FieldStore.tables)
        try await tablet.findings.update(id: crack.id) { $0.text = "deep crack" }
        _ = try await tablet.database.sync(FieldStore.tables)
        try await session.store.findings.update(id: crack.id) { $0.text = "long crack" }
        screen.refresh()
        await wait { screen.status.notice == .undecided(1) }
        #expect(other.cards.isEmpty)
        let card = try #require(screen.cards.first)
        #expect(card.lines == [.init(column: "text", mine: "long crack", server: "deep crack")])

        await screen.decide(card, try #require(card.choices.last))
        await wait { screen.cards.isEmpty }
        await wait { screen.findings.map(\.text) == ["deep crack"] }
        try await session.end()
    }

    @Test func `an action that fails says so, until one succeeds`() async throws {
        let store = try await World().store()
        let screen = InspectionScreen(store, "mill")
        await wait { screen.status.content == .empty }
        await screen.undo()
        guard case .failed = screen.status.notice else {
            Issue.record("\(screen.status.notice)")
            return
        }
        await screen.report("crack")
        await wait { screen.status.notice == .unsent(1) }
    }

    @Test func `a row that can't be read is an error of the screen`() async throws {
        let store = try await World().store()
        try await store.database.rows(of: Finding.table).insert(["id": "a", "inspectionID": "mill"])
        let screen = InspectionScreen(store, "mill")
        await wait { screen.status.content != .loading }
        guard case .failed = screen.status.content else {
            Issue.record("\(screen.status.content)")
            return
        }
    }

    @Test func `the overview counts what is left to fix`() async throws {
        let store = try await World().store()
        let mill = try await store.inspections.insert(Inspection(site: "Mill"))
        let crack = try await store.report("crack", in: mill.id)
        try await store.report("rust", in: mill.id)
        let overview = try OverviewScreen(store)
        await wait { overview.lines.map(\.toFix) == [2] }
        try await store.setFixed(crack.id, to: true)
        await wait { overview.lines.map(\.toFix) == [1] }
        try await store.inspections.insert(Inspection(site: "Dam"))
        await wait { overview.lines.map(\.site) == ["Dam", "Mill"] }
    }
}
