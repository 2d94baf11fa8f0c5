// The models of the app's first version, as they were when it was shipped.

import Syncline

enum FirstVersion {
    static let schema = SyncSchema(
        version: 1,
        tables: ["inspection", "finding", "note"].map { TableSchema($0) } + [TableSchema("draft", isLocal: true)],
        isStrict: true)

    struct Inspection: SyncModel {
        var id = SyncID.make()
        var site: String
        var who = ""
    }

    struct Finding: SyncModel {
        static let inspection = Relation(\Finding.inspectionID, to: Inspection.self)

        var id = SyncID.make()
        var inspectionID: String
        var text: String
        var isFixed = false
    }
}
