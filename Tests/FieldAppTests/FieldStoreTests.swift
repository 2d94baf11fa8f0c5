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
