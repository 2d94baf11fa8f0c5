// What the app stores and reads, without a network.

import Syncline
import SynclineTesting
import Testing

@testable import FieldApp

@Suite(.timeLimit(.minutes(10))) struct FieldStoreTests {
    @Test func `a finding and its note are stored together`() async throws {
        let store = try await World().store()
        let mill = try await store.inspections.insert(Inspection(site: "Mill"))
        let before = store.database.lastEvent
        let crack = try await store.report("crack", in: mill.id, note: "two metres long")
        #expect(store.database.lastEvent == before + 1)
        #expect(try await store.notes.all().map(\.findingID) == [crack.id])
        #expect(try await store.findings(of: mill.id).get().map(\.text) == ["crack"])
        #expect(try await store.database.pending().count == 3)
    }

    @Test func `a list of findings uses the index`() async throws {
        let store = try await World().store()
        for number in 0..<20 { try await store.report("crack", in: "site\(number % 10)") }
        let plan = try await store.findings(of: "site7").explain()
        guard case .index(["inspectionID", "text"], _, _) = plan.access else {
            Issue.record("\(plan)")
            return
        }
        #expect(plan.rowsRead == 2)
    }

    @Test func `relations are followed in both directions`() async throws {
        let store = try await World().store()
        let mill = try await store.inspections.insert(Inspection(site: "Mill"))
        let dam = try await store.inspections.insert(Inspection(site: "Dam"))
        let crack = try await store.report("crack", in: mill.id)
        try await store.report("rust", in: mill.id)
        try await store.setFixed(crack.id, to: true)

        let overview = try await store.overview().get()
        #expect(overview.map(\.model.site) == ["Dam", "Mill"])
        #expect(overview.map { $0.related.map(\.text).sorted() } == [[], ["rust"]])
        try await store.inspections.delete(dam)
        #expect(try await store.overview().get().map(\.model.site) == ["Mill"])
    }

    @Test func `each finding comes with its newest note`() async throws {
        let store = try await World().store()
        let crack = try await store.report("crack", in: "mill", note: "at the gate")
        try await store.report("rust", in: "mill")
        try await store.save(Note(id: SyncID.make(), findingID: crack.id, text: "two metres long"))
        let findings = try await store.annotated(of: "mill").get()
        #expect(findings.map { $0.related.map(\.text) } == [["two metres long"], []])
    }

    @Test func `what is left to fix is in the order of the sites, in sections, and of one site`() async throws {
        let store = try await World().store()
        for (site, texts) in [("Mill", ["crack", "rust"]), ("Dam", ["moss"]), ("Mill", ["leak"])] {
            let inspection = try await store.inspections.insert(Inspection(site: site))
            for text in texts { try await store.report(text, in: inspection.id) }
        }
        let findings = try await store.toFix().get()
        #expect(findings.map(\.text) == ["moss", "crack", "leak", "rust"])
        #expect(try await store.toFix(at: "Mill").get().map(\.text) == ["crack", "leak", "rust"])
        try await store.findings.update(id: findings[3].id) { $0.severity = .critical }
        let sections = try await store.toFixBySeverity().get()
        #expect(sections.map(\.key) == [.critical, .minor] && sections.map(\.count) == [1, 3])
        #expect(sections.last?.models.map(\.text) == ["moss", "crack", "leak"])
    }

    @Test func `all findings of an inspection are fixed at once`() async throws {
        let store = try await World().store()
        for text in ["crack", "rust"] { try await store.report(text, in: "mill") }
        try await store.report("leak", in: "dam")
        let before = store.database.lastEvent
        #expect(try await store.fixAll(of: "mill") == 2)
        #expect(store.database.lastEvent == before + 1)
        #expect(try await store.toFix().get().map(\.text) == ["leak"])
        try await store.database.undo()
        #expect(try await store.toFix().count() == 3)
    }

    @Test func `a form stores only what it changed`() async throws {
        let store = try await World().store()
        let crack = try await store.report("crack", in: "mill")
        var edited = crack
        edited.text = "long crack"
        try await store.setFixed(crack.id, to: true)  // meanwhile, on another screen
        try await store.save(edited, from: crack)
        let stored = try #require(try await store.findings.get(id: crack.id))
        #expect(stored.text == "long crack" && stored.isFixed)
    }

    @Test func `a draft stays on the device, and is gone with its report`() async throws {
        let world = World()
        let store = try await world.store()
        try await store.keep("cra", for: "mill")
        try await store.keep("moss", for: "dam")
        try await store.keep("crack", for: "mill")
        #expect(try await store.database.pending().isEmpty)
        #expect(try await store.drafts.all().map(\.text) == ["moss", "crack"])
        let before = store.database.lastEvent
        try await store.report("crack", in: "mill")
        #expect(store.database.lastEvent == before + 1)
        #expect(try await store.drafts.all().map(\.text) == ["moss"])
        #expect(try await store.database.sync(FieldStore.tables).reason == nil)
        #expect(world.server.rows(of: Draft.table).isEmpty)
    }

    @Test func `a note is stored whole, unless the stored one has changed`() async throws {
        let world = World()
        let store = try await world.store()
        var note = Note(findingID: "a", text: "at the gate")
        try await store.save(note)
        note.text = "at the old gate"
        try await store.save(note)
        #expect(try await store.notes.all().map(\.text) == ["at the old gate"])
        _ = try await store.database.sync(FieldStore.tables)
        let old = note
        let error = await #expect(throws: SyncError.self) { try await store.save(old) }
        #expect(error?.code == .staleItem)
        var stored = try #require(try await store.notes.get(id: note.id))
        stored.text = "at the new gate"
        try await store.save(stored)
        _ = try await store.database.sync(FieldStore.tables)
        #expect(world.column("text", of: Note.table) == ["at the new gate"])
    }

    @Test func `the findings of an inspection are put back as they were, after a look at the changes`() async throws {
        let world = World()
        let store = try await world.store()
        let crack = try await store.report("crack", in: "mill")
        let rust = try await store.report("rust", in: "dam")
        _ = try await store.database.sync(FieldStore.tables)
        let then = world.clock.now()
        world.clock.advance(by: .seconds(60))
        try await store.findings.update(id: crack.id) { $0.text = "scratch" }
        try await store.setFixed(rust.id, to: true)
        try await store.report("leak", in: "mill")
        _ = try await store.database.sync(FieldStore.tables)

        let plan = try await store.restoration(of: "mill", to: then)
        #expect(plan.changes.map { $0.before?["text"] ?? .null } == ["scratch", "leak"])
        #expect(plan.changes.map { $0.after?["text"] ?? .null } == ["crack", .null])
        #expect(try await store.findings(of: "mill").count() == 2)
        try await store.database.restore(plan)
        #expect(try await store.findings(of: "mill").get().map(\.text) == ["crack"])
        #expect(try await store.findings.get(id: rust.id)?.isFixed == true)
        _ = try await store.database.sync(FieldStore.tables)
        let tablet = try await World(server: world.server).store()
        _ = try await tablet.database.sync(FieldStore.tables)
        #expect(try await tablet.findings(of: "mill").get().map(\.text) == ["crack"])
    }

    @Test func `a finding is removed with its notes, and both come back`() async throws {
        let store = try await World().store()
        let crack = try await store.report("crack", in: "mill", note: "two metres long")
        let rust = try await store.report("rust", in: "mill", note: "at the gate")
        try await store.remove(crack.id)
        #expect(try await store.findings.all().map(\.text) == ["rust"])
        #expect(try await store.notes.all().map(\.findingID) == [rust.id])
        try await store.database.undo()
        #expect(try await store.findings.count() == 2)
        #expect(try await store.notes.count() == 2)
    }

    @Test func `a table that the schema does not name is refused`() async throws {
        let store = try await World().store()
        let error = await #expect(throws: SyncError.self) {
            try await store.database.rows(of: "findings").insert(["text": "crack"])
        }
        #expect(error?.code == .unknownTable)
    }
}
