// Rows of a server in tests, which have the time of their last change among their columns.

@testable import SynclineCore

extension ServerRow {
    init(id: String, columns: Row, isDeleted: Bool) {
        self.init(id: id, columns: columns, isDeleted: isDeleted, moment: columns["updatedAt"]?.moment)
    }
}
