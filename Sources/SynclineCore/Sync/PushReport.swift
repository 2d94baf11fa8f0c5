// What a push tells of itself: what became of each operation, and how it ended.

/// What became of an operation in a push.
public struct OperationReport: Hashable, Sendable {
    /// What became of it.
    public enum Outcome: String, Hashable, Sendable {
        /// It is confirmed, waits for a decision (after a conflict, or refused), or is still to be sent.
        case done, conflict, parked, pending
    }

    /// The row's table.
    public var table: String
    /// The row's id.
    public var id: String
    /// What it does to the row.
    public var kind: OperationKind
    /// What became of it.
    public var outcome = Outcome.pending
    /// The status of the last answer.
    public var status: Int?
    /// Why it is not done, or which policy decided.
    public var code: String?
}

/// How a push ended.
public enum PushOutcome: Hashable, Sendable {
    /// Every operation is done.
    case complete
    /// It went through, and something is left.
    case incomplete
    /// It ended early, and what was not sent is still pending.
    case stopped(SyncError)
}

extension PushMachine {
    /// What the push came to.
    package var outcome: PushOutcome {
        if let stop { return .stopped(stop) }
        return items.allSatisfy { $0.report.outcome == .done } ? .complete : .incomplete
    }
}
