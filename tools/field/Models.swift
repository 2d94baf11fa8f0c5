// The models of the app: an inspection has findings, and a finding has notes. They refer to each other by id.

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

struct Note: SyncModel {
    static let finding = Relation(\Note.findingID, to: Finding.self)

    var id = SyncID.make()
    var findingID: String
    var text: String
}
