// What a push tells of itself: what became of each operation, and how it ended.

/// What became of an operation in a push.
public struct OperationReport: Hashable, Sendable {
    public enum Outcome: String, Hashable, Sendable {
        case done, conflict, parked, pending
    }

    public var table: String
    public var id: String
    public var kind: OperationKind
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
    case stopped(SyncError)
}

extension PushMachine {
    /// What the push came to.
    package var outcome: PushOutcome {
        if let stop { return .stopped(stop) }
        return items.allSatisfy { $0.report.outcome == .done } ? .complete : .incomplete
    }
}
