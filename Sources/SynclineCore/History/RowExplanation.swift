// Explains a row: which event gave each field its value, why an operation on it is not pushed, and why an app does not
// see it. It is computed from the row's part of the log and from the state at one moment; the reader chooses the words.

/// An event that concerns a row.
package struct Occasion: Hashable, Sendable {
    package var event: UInt64
    /// Milliseconds since 1970.
    package var time: Int64
    package var provenance: Provenance

    package init(event: UInt64, time: Int64, provenance: Provenance) {
        self.event = event
        self.time = time
        self.provenance = provenance
    }
}

/// How a row disappeared from the app's view.
package struct Disappearance: Hashable, Sendable {
    package var first: Occasion
    /// The last event since then that changed the stored data of the row while something was pending; the first event if
    /// there was none.
    package var latest: Occasion
    /// Why a pull removed it, if one did.
    package var cause: PullCause?

    package enum PullCause: Hashable, Sendable {
        /// It received the row's tombstone.
        case tombstone
        /// The row no longer matches the query.
        case left
        /// The user lost the right to it.
        case right
        /// It requested all rows, and the row was not among them.
        case audit
    }

    init(_ occasion: Occasion, _ cause: PullCause?) {
        first = occasion
        latest = occasion
        self.cause = cause
    }
}

/// An attempt to send an operation, and its answer.
package struct PushAttempt: Hashable, Sendable {
    /// The event before the request.
    package var sent: UInt64
    /// Milliseconds since 1970.
    package var time: Int64
    /// The event of the answer; nil if none was recorded.
    package var answered: UInt64?
    package var answer: Answer?
}

/// Why an app does not see a row that the history knows.
public enum RowAbsence: String, Hashable, Sendable {
    /// The app deleted it, and the delete is not pushed yet.
    case deletePending = "delete-pending"
    /// The app deleted it, and the server confirmed the delete.
    case deleteConfirmed = "delete-confirmed"
    /// The app inserted it and deleted it again before it was sent.
    case cameToNothing = "came-to-nothing"
    /// A pull received its tombstone.
    case goneInPull = "gone-in-pull"
    /// It no longer matches the query of a pull.
    case left
    /// The user lost the right to it.
    case rightLost = "right-lost"
    /// A pull requested all rows, and it was not among them.
    case notFound = "not-found"
    /// The server answered an operation that it does not have the row.
    case goneInAnswer = "gone-in-answer"
    /// A decision removed it.
    case decided
    /// It was purged; the server was not told.
    case purged
    /// The transaction that inserted it was undone.
    case undone
    /// The operation that inserted it was dropped.
    case dropped
    /// A migration removed its table.
    case migrated
    /// It disappeared before the retained history begins.
    case goneBefore = "gone-before"
}

package struct RowExplanation: Hashable, Sendable {
    /// Whether an app sees the row.
    package enum Visibility: Hashable, Sendable {
        case visible
        case hidden(RowAbsence, Disappearance)
        /// The retained history does not know the row.
        case unknown
    }

    /// Whether the server has confirmed a field's value.
    package enum Standing: String, Hashable, Sendable {
        /// It is the server's value.
        case confirmed
        /// It is the app's value, and the server has not confirmed it.
        case unconfirmed
        /// It never leaves the device.
        case local
    }

    package struct Field: Hashable, Sendable {
        package var origin: FieldOrigin
        package var standing: Standing
    }

    /// Why an operation is still in the outbox.
    package enum Obstacle: Hashable, Sendable {
        /// Nothing: the next push sends it.
        case none
        /// It is being sent now.
        case underWay
        /// It was sent, and no answer was recorded: the server may have carried it out.
        case unanswered
        /// The last push stopped before the server accepted it: with this status, or 0 if there was no answer.
        case notReceived(status: Int)
        /// The server answered 500 to every attempt of this many pushes in a row.
        case failing(times: Int, serverWorks: Bool)
        /// Its row is held.
        case held
        /// It waits until another operation of its row, with this number, is done.
        case after(Int)
        /// It awaits a decision.
        case waits(Conflict)
    }

    package struct Waiting: Hashable, Sendable {
        /// Its number in the plan, from 1.
        package var number: Int
        package var operation: PlannedOperation
        package var obstacle: Obstacle
    }

    package var visibility: Visibility
    package var fields: [Field] = []
    package var operations: [Waiting] = []
    /// The last time an operation on the row was sent.
    package var attempt: PushAttempt?
    /// The event with which the right to the row was lost, if an operation on it remains.
    package var lostRight: UInt64?

    /// - Parameters:
    ///   - blame: The row's part of the log, up to a moment.
    ///   - plan: The operations that would be pushed at that moment.
    ///   - key: The row's key in the state.
    package init(_ blame: Blame, plan: [PlannedOperation], key: [UInt8]) throws(SyncError) {
        let entry = try blame.entry
        (attempt, lostRight) = (blame.attempt, blame.lostRight)
        if let origins = blame.fields {
            visibility = .visible
            fields = origins.map { Field(origin: $0, standing: RowExplanation.standing($0.field, entry)) }
        } else if let disappearance = blame.disappearance, let absence = try blame.absence {
            visibility = .hidden(absence, disappearance)
        } else {
            visibility = .unknown
        }
        var earlier: Int?
        for (index, operation) in plan.enumerated() where operation.rowKey == key {
            let obstacle = RowExplanation.obstacle(
                operation, entry?.pending?.frozen, after: earlier, attempt, blame.types)
            operations.append(Waiting(number: index + 1, operation: operation, obstacle: obstacle))
            earlier = index + 1
        }
    }

    private static func standing(_ field: String, _ entry: RowEntry?) -> Standing {
        if entry?.local?[field] != nil { return .local }
        return entry?.pending?.overlay[field] == nil ? .confirmed : .unconfirmed
    }

    private static func obstacle(
        _ operation: PlannedOperation, _ frozen: FrozenOperation?, after earlier: Int?, _ attempt: PushAttempt?,
        _ types: TableTypes
    ) -> Obstacle {
        if operation.state == .inFlight { return .underWay }
        if let earlier { return .after(earlier) }
        if operation.state == .held { return .held }
        if operation.isFrozen, let frozen {
            let conflict = Conflict(table: operation.table, id: operation.id, frozen, types)
            if let conflict { return .waits(conflict) }
            if frozen.failures > 0 { return .failing(times: frozen.failures, serverWorks: frozen.serverWorks) }
            return .unanswered
        }
        guard let attempt, attempt.sent > operation.events.lowerBound.rawValue, let answer = attempt.answer,
            answer.outcome == .notReceived
        else { return .none }
        return .notReceived(status: answer.status)
    }
}

extension Blame {
    /// Why an app does not see the row; nil if it does, or if the history does not know the row.
    package var absence: RowAbsence? {
        get throws(SyncError) {
            guard fields == nil, isKnown, let disappearance else { return nil }
            return .reason(disappearance, try entry?.pending)
        }
    }
}

extension RowAbsence {
    fileprivate static func reason(_ disappearance: Disappearance, _ pending: PendingRow?) -> RowAbsence {
        if let pending {
            return pending.operation == nil && pending.frozen == nil ? .cameToNothing : .deletePending
        }
        switch disappearance.first.provenance {
        case .transaction:
            switch disappearance.latest.provenance {
            case .purge: return .purged
            case .undo: return .undone
            case .discard: return .dropped
            case .resolution: return .decided
            // Changes that cancel each other out leave the outbox with the next push, and nothing is sent.
            case .transaction, .other: return .cameToNothing
            default: return .deleteConfirmed
            }
        case .pull:
            switch disappearance.cause {
            case .audit: return .notFound
            case .left: return .left
            case .right: return .rightLost
            case .tombstone, nil: return .goneInPull
            }
        case .push: return .goneInAnswer
        case .resolution: return .decided
        case .purge: return .purged
        case .undo: return .undone
        case .discard: return .dropped
        case .migration, .other: return .migrated
        case .beginning: return .goneBefore
        }
    }
}
