// The app's tables, and what its screens do with them. Everything here works without a network.

import Foundation
import Syncline

struct FieldStore: Sendable {
    static let tables = [Inspection.table, Finding.table, Note.table]

    let database: SyncDatabase
    let inspections: SyncTable<Inspection>
    let findings: SyncTable<Finding>
    let notes: SyncTable<Note>
    let drafts: SyncTable<Draft>

    /// Uses a store that was opened with ``schema``.
    init(_ database: SyncDatabase) async throws {
        self.database = database
        inspections = try database.table(Inspection.self)
        findings = try database.table(Finding.self)
        notes = try database.table(Note.self)
        drafts = try database.table(Draft.self)
        // Redeclaring an existing index is free.
        try await findings.declareIndex(\.inspectionID, \.text)
        try await notes.declareIndex(\.findingID)
    }
}

// MARK: Reading

extension FieldStore {
    /// The findings of an inspection.
    func findings(of inspection: Inspection.ID) -> SyncQuery<Finding> {
        findings.where { $0.inspectionID == inspection }.order(by: \.text)
    }

    /// The findings that are not fixed yet, by site.
    func toFix() -> SyncQuery<Finding> {
        findings.where { !$0.isFixed }.order(by: Finding.inspection, \.site).order(by: \.text)
    }

    /// Those of a site, whenever it was inspected.
    func toFix(at site: String) -> SyncQuery<Finding> {
        toFix().where { $0.related(Finding.inspection) { $0.site == site } }
    }

    /// The findings of an inspection, each with its newest note.
    func annotated(of inspection: Inspection.ID) -> RelatedQuery<Finding, [Note]> {
        findings(of: inspection).with(all: Note.finding, from: notes.order(by: \.id, .descending), each: 1)
    }

    /// All inspections, the newest first, each with what is left to fix.
    func overview() -> RelatedQuery<Inspection, [Finding]> {
        inspections.order(by: \.id, .descending).with(all: Finding.inspection, from: toFix())
    }

    /// What is left to fix, in a section for each severity.
    func toFixBySeverity() -> SectionedQuery<Finding, Finding.Severity> {
        toFix().sections(by: \.severity)
    }
}

// MARK: Changing

extension FieldStore {
    /// Keeps what is being typed about an inspection, on this device only.
    func keep(_ text: String, for inspection: Inspection.ID) async throws {
        try await drafts.overwrite(Draft(id: inspection, text: text))
    }

    /// Stores a finding, with a note if there is one, instead of the draft: all or nothing.
    @discardableResult
    func report(_ text: String, in inspection: Inspection.ID, note: String? = nil) async throws -> Finding {
        let finding = Finding(inspectionID: inspection, text: text)
        try await database.transaction { transaction in
            try transaction.insert(finding, in: findings)
            if let note { try transaction.insert(Note(findingID: finding.id, text: note), in: notes) }
            try transaction.delete(drafts.where { $0.id == inspection })
        }
        return finding
    }

    /// Changes one property, whatever else was changed since the screen was drawn.
    func setFixed(_ finding: Finding.ID, to isFixed: Bool) async throws {
        try await findings.update(id: finding) { $0.isFixed = isFixed }
    }

    /// Fixes what is left to fix of an inspection, in one transaction. Returns how many findings that were.
    @discardableResult
    func fixAll(of inspection: Inspection.ID) async throws -> Int {
        try await findings(of: inspection).where { !$0.isFixed }.update { $0.isFixed = true }
    }

    /// Stores what a form changed.
    func save(_ edited: Finding, from original: Finding) async throws {
        try await findings.update(edited, from: original)
    }

    /// Stores a new or changed note. Throws `stale-item` if the stored one has changed since it was read.
    func save(_ note: Note) async throws {
        try await notes.save(note)
    }

    /// Deletes a finding and its notes. Relations are not enforced, so deleting the notes is up to the app.
    func remove(_ finding: Finding.ID) async throws {
        try await database.transaction { transaction in
            try transaction.delete(notes.where { $0.findingID == finding })
            try transaction.delete(id: finding, in: findings)
        }
    }

    /// What puts the findings of an inspection back as they were. The user sees its changes before `restore` makes them.
    func restoration(of inspection: Inspection.ID, to date: Date) async throws -> Restoration {
        try await database.history(at: date).table(Finding.self).where { $0.inspectionID == inspection }.restoration()
    }
}
