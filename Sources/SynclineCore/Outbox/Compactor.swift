// The compactor: what one more change to a row makes of the operation that is pending for the row.
//
//   pending   insert                               update                delete
//   -------   ----------------------------------   -------------------   -----------------------------------------
//   nothing   an insert; refused if the app sees   an update             a delete
//             the row: row-exists
//   insert    refused: row-exists                  one insert, merged    nothing; a delete if the server has the row
//   update    refused: row-exists                  one update, merged    a delete
//   delete    an update that replaces the row      refused: row-deleted  refused: row-deleted
//
// If changes before an insert were given up (`replacesBase`), it may meet a row that the server has. Then it is an
// update that replaces the row, whatever is pending.
//
// "Pending" means not sent yet. An operation that was sent, is in conflict or parked is frozen: changes made after it
// begin with "nothing" again, except that a row whose delete is frozen can only be inserted.
//
// This is the only place that knows the table. `decide` is asked when a change is made, or when the changes before it
// are decided again. Its decision is recorded with the change, and `init(_:after:)` reads it back for the fold, a push
// and the reports.

/// The rule for a change: one cell of the table.
package enum CompactorRule: Hashable, Sendable {
    /// Nothing was pending: the change is the operation.
    case first(OperationKind)
    /// An update becomes part of the pending insert or update.
    case merge(into: OperationKind)
    /// An insert replaces a row that the server has: an update that sets every column.
    case replace
    /// A delete replaces the pending insert or update.
    case delete(insteadOf: OperationKind)
    /// A delete cancels the insert of a row that the server never saw.
    case cancel
}

/// Why a change to a row is refused.
package enum ChangeRefusal: String, Error, Hashable, Sendable {
    case rowExists = "row-exists"
    case rowDeleted = "row-deleted"
}

/// The compactor's input for a change to a row.
package struct CompactorInput: Hashable, Sendable {
    /// The pending operation.
    package var pending: OperationKind?
    /// The operation that was sent, is in conflict, or parked.
    package var frozen: OperationKind?
    /// Whether the server has the row, as far as the store knows.
    package var hasBase: Bool
    /// Whether an app sees the row.
    package var isPresent: Bool
    /// Whether the change follows an operation that was given up, so that an insert meets the server's row.
    package var replacesBase = false
}

extension CompactorRule {
    /// The rule for a change that is made now.
    package static func decide(_ change: OperationKind, on row: CompactorInput) throws(ChangeRefusal) -> CompactorRule {
        switch (row.pending, change) {
        case (_, .insert) where row.replacesBase && row.hasBase:
            return .replace
        case (nil, .insert):
            if row.isPresent { throw .rowExists }
            return .first(.insert)
        case (nil, _):
            if row.frozen == .delete { throw .rowDeleted }
            return .first(change)
        case (.delete?, .insert):
            return .replace
        case (.delete?, _):
            throw .rowDeleted
        case (_, .insert):
            throw .rowExists
        case (let pending?, .update):
            return .merge(into: pending)
        case (.insert?, .delete):
            // A row that a frozen delete removes counts as one that the server does not have.
            return row.hasBase && row.frozen != .delete ? .delete(insteadOf: .insert) : .cancel
        case (.update?, .delete):
            return .delete(insteadOf: .update)
        }
    }

    /// The rule that was applied to a change, as recorded with it.
    package init(_ change: JournalEntry, after pending: OperationKind?) {
        switch change.kind {
        case .insert: self = change.replaces ? .replace : .first(.insert)
        case .update: self = pending.map { .merge(into: $0 == .insert ? .insert : .update) } ?? .first(.update)
        case .delete: self = change.cancels ? .cancel : pending.map { .delete(insteadOf: $0) } ?? .first(.delete)
        }
    }

    /// Whether a change does not enter the outbox: an update that sets no column that is pushed.
    package static func isEmpty(_ kind: OperationKind, hasColumns: Bool) -> Bool { kind == .update && !hasColumns }

    /// How many of the changes that were made after an operation are discarded with it if a conflict is decided by
    /// deleting the row: the updates before the next insert or delete.
    package static func discarded(from later: some Sequence<OperationKind>) -> Int {
        var count = 0
        for kind in later {
            guard kind == .update else { break }
            count += 1
        }
        return count
    }

    /// The operation that is left to push; nil if there is none.
    package var operation: OperationKind? {
        switch self {
        case .first(let kind), .merge(let kind): kind
        case .replace: .update
        case .delete: .delete
        case .cancel: nil
        }
    }

    /// The columns that the operation sets: those that were pending, combined with those of the change.
    package func columns(_ pending: Row, _ change: Row) -> Row {
        switch self {
        case .first(.delete), .delete, .cancel: .empty
        case .first(.update), .merge: pending.merged(with: change)
        case .first(.insert), .replace: change
        }
    }

    /// The rule in words.
    package var words: String {
        switch self {
        case .first(let kind): "a new \(kind)"
        case .merge(into: .insert): "insert + update: one insert with the new content"
        case .merge(let kind): "\(kind) + update: one update, changes merged"
        case .replace: "delete + insert: an update that replaces the row"
        case .delete(let kind): "\(kind) + delete: one delete"
        case .cancel: "insert + delete: nothing is left to push"
        }
    }
}
