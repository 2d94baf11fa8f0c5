// The compactor: what a change to a row makes of the operation that is pending for it. One table decides both which
// changes are allowed and what is left to push.

/// Why a change to a row is refused.
package enum ChangeRefusal: String, Error, Hashable, Sendable {
    case rowExists = "row-exists"
    case rowDeleted = "row-deleted"
}

/// What matters of a row when it is changed.
package struct CollapseInput: Hashable, Sendable {
    /// What the changes that were not sent come to.
    package var operation: OperationKind?
    /// The operation that was sent, is in conflict, or parked.
    package var frozen: OperationKind?
    /// Whether the server has the row, as far as we were told.
    package var hasBase: Bool
    /// Whether an app sees the row.
    package var isPresent: Bool

    package init(operation: OperationKind?, frozen: OperationKind?, hasBase: Bool, isPresent: Bool) {
        self.operation = operation
        self.frozen = frozen
        self.hasBase = hasBase
        self.isPresent = isPresent
    }
}

/// What comes of a change.
package struct CollapseResult: Hashable, Sendable {
    /// The operation that is left to push; nil if the changes come to nothing.
    package var operation: OperationKind?
    /// The insert of a row whose delete is pending: columns the base has and the new row lacks become null.
    package var replaces = false
    /// The delete of a row that the server never saw: nothing is left to push.
    package var cancels = false

    package init(_ operation: OperationKind?, replaces: Bool = false, cancels: Bool = false) {
        self.operation = operation
        self.replaces = replaces
        self.cancels = cancels
    }
}

package enum Collapse {
    package static func step(
        _ change: OperationKind, on row: CollapseInput
    ) throws(ChangeRefusal) -> CollapseResult {
        switch (row.operation, change) {
        case (nil, .insert):
            if row.isPresent { throw .rowExists }
            return CollapseResult(.insert)
        case (nil, .update):
            if row.frozen == .delete { throw .rowDeleted }
            return CollapseResult(.update)
        case (nil, .delete):
            if row.frozen == .delete { throw .rowDeleted }
            return CollapseResult(.delete)
        case (.insert, .insert), (.update, .insert):
            throw .rowExists
        case (.insert, .update):
            return CollapseResult(.insert)
        case (.insert, .delete):
            // A base that a frozen delete is about to take away is as good as gone.
            if row.hasBase && row.frozen != .delete { return CollapseResult(.delete) }
            return CollapseResult(nil, cancels: true)
        case (.update, .update):
            return CollapseResult(.update)
        case (.update, .delete):
            return CollapseResult(.delete)
        case (.delete, .insert):
            return CollapseResult(.update, replaces: true)
        case (.delete, .update), (.delete, .delete):
            throw .rowDeleted
        }
    }
}
