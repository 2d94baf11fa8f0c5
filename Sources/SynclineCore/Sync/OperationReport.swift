// The report of a push: the result of each operation, and how the push ended.

/// The report of one operation of a push.
public struct OperationReport: Hashable, Sendable {
    /// The result of an operation.
    public enum Outcome: String, Hashable, Sendable {
        /// Confirmed, in conflict, refused by the server, or not yet sent.
        case done, conflict, parked, pending
    }

    /// Why an operation has its result.
    public enum Reason: Hashable, Sendable {
        /// It, or an earlier operation on its row, awaits a decision.
        case conflict(ConflictReason)
        /// It is held back.
        case held
        /// The policy with this name decided its conflict.
        case decided(by: String)
        /// The push was stopped by this error.
        case stopped(SyncError.Code)
    }

    /// The row's table.
    public var table: String
    /// The row's id.
    public var id: String
    /// What the operation does to the row.
    public var kind: OperationKind
    /// The result.
    public var outcome = Outcome.pending
    /// The status of the last response.
    public var status: Int?
    /// Why it is not done, or which policy decided; nil if it was just done.
    public var reason: Reason?
    /// The columns of decimals in which the server has another number than was sent.
    public var rounded: [String] = []
}

extension OperationReport.Reason {
    /// The reason in a word.
    package var code: String {
        switch self {
        case .conflict(let reason): reason.rawValue
        case .held: "held"
        case .decided(let policy): policy
        case .stopped(let code): code.rawValue
        }
    }
}

/// How a push ended.
public enum PushOutcome: Hashable, Sendable {
    /// All operations are done.
    case complete
    /// The push finished, but some operations remain.
    case incomplete
    /// The push stopped early; what was not sent is still pending.
    case stopped(SyncError)

    package var name: String {
        switch self {
        case .complete: "complete"
        case .incomplete: "incomplete"
        case .stopped: "stopped"
        }
    }
}

extension PushMachine {
    /// The outcome of the push.
    package var outcome: PushOutcome {
        if let stop { return .stopped(stop) }
        return items.allSatisfy { $0.report.outcome == .done } ? .complete : .incomplete
    }
}
