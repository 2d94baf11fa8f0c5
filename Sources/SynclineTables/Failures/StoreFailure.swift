// The failure of a store to carry out a request, and whether trying again can help.

/// The reason why a store could not carry out a request.
package enum StoreFailure: Error, Hashable, Sendable {
    /// The request may succeed in a moment.
    case busy(FailureReason)
    /// The request can't be carried out on the current tables.
    case refused(Refusal)
    /// A statement does not fit the tables: they were changed by hand. Another look at them solves or explains it.
    case changed(FailureReason)
    /// The database is an older copy of the one that was known. A new epoch solves it.
    case replaced(FailureReason)
    /// A defect, or a damaged database.
    case broken(FailureReason)

    /// Another transaction was in the way: the same may succeed now.
    package static let contest = StoreFailure.busy(FailureReason(.serialization, "another transaction changed a row"))

    /// Nil if the database had no part in it.
    package var reason: FailureReason? {
        switch self {
        case .busy(let reason), .changed(let reason), .replaced(let reason), .broken(let reason): reason
        case .refused(let refusal): refusal.cause
        }
    }

    /// What the client is told.
    package var refusal: Refusal {
        switch self {
        case .refused(let refusal): refusal
        case .busy(let reason) where reason.kind == .readOnly:
            Refusal(503, "read-only", "The database takes no writes now; try again later")
        case .busy, .replaced: Refusal(503, "busy", "The server is busy; try again")
        case .changed, .broken: Refusal(500, "internal", "The server failed")
        }
    }
}
