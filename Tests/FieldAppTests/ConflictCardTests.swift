// What the user is told about a conflict, and what each choice does.

import Syncline
import SynclineTesting
import Testing

@testable import FieldApp

@Suite(.timeLimit(.minutes(10))) struct ConflictCardTests {
    /// A device that has one finding of the server.
    private func device() async throws -> (world: World, store: FieldStore) {
        let world = World()
        world.server.setTable(Finding.table, rows: [row("crack")])
        let store = try await world.store()
        _ = try await store.database.sync(FieldStore.tables)
        return (world, store)
    }

    private func row(_ text: String) -> Value {
        ["id": "a", "inspectionID": "mill", "text": .string(text), "isFixed": false, "severity": "minor"]
    }

    private func card(of store: FieldStore) async throws -> ConflictCard {
        _ = try await store.database.sync(FieldStore.tables)
        let conflicts = try await store.database.conflicts()
        return ConflictCard(conflict: try #require(conflicts.first))
    }

    private func decide(_ title: String, _ card: ConflictCard, in store: FieldStore) async throws {
        let choice = try #require(card.choices.first { $0.title == title })
        try await store.database.resolve(table: card.conflict.table, id: card.conflict.id, choice.decision)
        let report = try await store.database.sync(FieldStore.tables)
        #expect(report.reason == nil && report.push.outcome == .complete)
        #expect(try await store.database.conflicts().isEmpty)
    }

    @Test(arguments: [("Keep mine", "long crack"), ("Take theirs", "deep crack")])
    func `both changed one column`(title: String, text: String) async throws {
        let (world, store) = try await device()
        world.server.upsert([row("deep crack")], in: Finding.table)
        try await store.findings.update(id: "a") { $0.text = "long crack" }
        let card = try await card(of: store)
        #expect(card.title == "Changed by someone else, too")
        #expect(card.lines == [.init(column: "text", mine: "long crack", server: "deep crack")])
        #expect(card.choices.map(\.title) == ["Keep mine", "Take theirs"])
        try await decide(title, card, in: store)
        #expect(world.column("text", of: Finding.table) == [.string(text)])
        #expect(try await store.findings.get(id: "a")?.text == text)
    }

    @Test func `changes of different columns need no decision`() async throws {
        let (world, store) = try await device()
        world.server.upsert([row("deep crack")], in: Finding.table)
        try await store.setFixed("a", to: true)
        _ = try await store.database.sync(FieldStore.tables)
        #expect(try await store.database.conflicts().isEmpty)
        #expect(world.column("text", of: Finding.table) == ["deep crack"])
        #expect(world.column("isFixed", of: Finding.table) == [true])
    }

    @Test(arguments: [("Restore with my values", ["long crack"]), ("Delete here, too", [])])
    func `the server's row was deleted`(title: String, texts: [String]) async throws {
        let (world, store) = try await device()
        world.server.remove(["a"], from: Finding.table)
        try await store.findings.update(id: "a") { $0.text = "long crack" }
        let card = try await card(of: store)
        #expect(card.title == "Deleted by someone else" && card.lines.isEmpty)
        #expect(card.choices.map(\.title) == ["Restore with my values", "Delete here, too"])
        try await decide(title, card, in: store)
        #expect(world.column("text", of: Finding.table) == texts.map { .string($0) })
        #expect(try await store.findings.all().map(\.text) == texts)
    }

    @Test(arguments: [("Delete it", []), ("Take theirs", ["deep crack"])])
    func `this device deleted what another changed`(title: String, texts: [String]) async throws {
        let (world, store) = try await device()
        world.server.upsert([row("deep crack")], in: Finding.table)
        try await store.remove("a")
        let card = try await card(of: store)
        #expect(card.title == "Deleted here, and changed by someone else" && card.lines.isEmpty)
        try await decide(title, card, in: store)
        #expect(try await store.findings.all().map(\.text) == texts)
    }

    @Test(arguments: [("Try again", "long crack"), ("Undo", "crack")])
    func `the server refused the change`(title: String, text: String) async throws {
        let (world, store) = try await device()
        try await store.findings.update(id: "a") { $0.text = "long crack" }
        world.network.script([.answer(status: 403)])
        let card = try await card(of: store)
        #expect(card.conflict.state == .parked && card.lines.isEmpty)
        #expect(card.choices.map(\.title) == ["Try again", "Undo"])
        try await decide(title, card, in: store)
        #expect(world.column("text", of: Finding.table) == [.string(text)])
        #expect(try await store.findings.get(id: "a")?.text == text)
    }
}
