// What a write did.

package import SynclineCore
package import SynclineWire

/// The outcome of a write.
package enum WriteOutcome: Hashable, Sendable {
    /// What was done to a row. The database remembers these names.
    package enum Effect: String, Hashable, Sendable {
        case inserted, changed
        /// The row is a tombstone.
        case deleted
        case undeleted
    }

    case done(Effect, TableRow)
    /// Nothing was changed. The row is the server's, if the caller may see it.
    case refused(Refusal, TableRow?)
    /// Nothing was changed, because the database failed.
    case failed(StoreFailure)

    package static let notAttempted = WriteOutcome.refused(
        Refusal(424, "not-attempted", "An operation before this one was refused"), nil)
    package static let groupRefused = WriteOutcome.refused(
        Refusal(424, "group-refused", "Another operation of the group was refused"), nil)
    package static let operationIDReused = WriteOutcome.refused(
        Refusal(422, "operation-id-reused", "Another operation already used the id of this operation"), nil)

    package var row: TableRow? {
        switch self {
        case .done(_, let row): row
        case .refused(_, let row): row
        case .failed: nil
        }
    }

    /// The row that an answer shows.
    package var shownRow: TableRow? {
        if case .refused(let refusal, _) = self, ![409, 412].contains(refusal.status) { nil } else { row }
    }

    /// The columns of its row.
    package var columns: Row { row?.columns ?? .empty }

    /// Whether nothing was changed.
    package var isRefused: Bool { if case .done = self { false } else { true } }

    /// The same outcome with another row.
    package func with(_ row: TableRow) -> WriteOutcome {
        switch self {
        case .done(let effect, _): .done(effect, row)
        case .refused(let refusal, _): .refused(refusal, row)
        case .failed: self
        }
    }

    /// The same outcome without the row's columns.
    package var bare: WriteOutcome { row.map { with($0.bare) } ?? self }
}

extension TableRow {
    /// The part of the row that is sent if the row is too large.
    package var bare: TableRow {
        var row = self
        (row.columns, row.isBare) = (.empty, true)
        return row
    }

    /// Its approximate size in an answer, in bytes.
    package var size: Int {
        columns.bytes.count + columns.shape.encodedNames.count + 4 * columns.shape.names.count + id.utf8.count + 160
    }
}
