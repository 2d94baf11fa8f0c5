// The outcome of a write.

import SynclineCore
import SynclineWire

/// The outcome of a write.
enum WriteOutcome: Hashable, Sendable {
    /// The effect on a row. The database remembers these names.
    enum Effect: String, Hashable, Sendable {
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

    var row: TableRow? {
        switch self {
        case .done(_, let row): row
        case .refused(_, let row): row
        case .failed: nil
        }
    }

    /// The columns of its row.
    var columns: Row { row?.columns ?? .empty }

    /// Whether nothing was changed.
    var isRefused: Bool { if case .done = self { false } else { true } }

    /// The same outcome with another row.
    func with(_ row: TableRow) -> WriteOutcome {
        switch self {
        case .done(let effect, _): .done(effect, row)
        case .refused(let refusal, _): .refused(refusal, row)
        case .failed: self
        }
    }

    /// The same outcome without the row's columns.
    var bare: WriteOutcome { row.map { with($0.bare) } ?? self }
}

extension TableRow {
    /// The part of the row that is sent if the row is too large.
    var bare: TableRow {
        var row = self
        (row.columns, row.isBare) = (.empty, true)
        return row
    }
}
