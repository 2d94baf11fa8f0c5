// The models of the app: an inspection has findings, and a finding has notes. They refer to each other by id. A draft is what
// is being typed about an inspection.

import Syncline

struct Inspection: SyncModel {
    var id = SyncID.make()
    var site: String
    var inspector = ""
}

struct Finding: SyncModel {
    static let inspection = Relation(\Finding.inspectionID, to: Inspection.self)

    enum Severity: String, Codable, CaseIterable, Sendable {
        case minor, major, critical
    }

    var id = SyncID.make()
    var inspectionID: String
    var text: String
    var isFixed = false
    var severity = Severity.minor
}

struct Note: VersionedModel {
    static let finding = Relation(\Note.findingID, to: Finding.self)

    var id = SyncID.make()
    var findingID: String
    var text: String
    var version: String?
}

struct Draft: SyncModel {
    var id: Inspection.ID
    var text: String
}
