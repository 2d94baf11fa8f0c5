// Reports of pushes and pulls, and their progress.

public import SynclineCore

/// The result of a push.
public struct PushReport: Hashable, Sendable {
    /// How the push ended.
    public var outcome: PushOutcome
    /// Every operation in scope, in plan order, including those that await a decision.
    public var operations: [OperationReport]
    /// Problems that were noticed and corrected.
    public var warnings: [String]

    init(_ outcome: PushOutcome, _ operations: [OperationReport], warnings: [String] = []) {
        self.outcome = outcome
        self.operations = operations
        self.warnings = warnings
    }

    /// How many amounts the server keeps with other digits than were sent; each operation names its columns.
    public var rounded: Int { operations.reduce(0) { $0 + $1.rounded.count } }

    /// Why the push is incomplete, or nil.
    public var reason: SyncError? {
        switch outcome {
        case .complete: nil
        case .incomplete:
            SyncError(
                .pushIncomplete, PushReport.sentence(left: operations.count { $0.outcome != .done }),
                hint: "`conflicts` lists those that wait for a decision.")
        case .stopped(let error): error
        }
    }

    private static func sentence(left count: Int) -> String {
        count == 1 ? "1 operation is left" : "\(count) operations are left"
    }
}

/// The result of a pull.
public struct PullReport: Hashable, Sendable {
    /// Why the pull stopped; nil if it is complete.
    public var reason: SyncError?
    /// The number of list requests.
    public var requests = 0
    /// The number of rows received, including tombstones and repeats.
    public var received = 0
    /// The number of rows with a new base, or a new server side of their conflict.
    public var changed = 0
    /// The number of local rows removed.
    public var deleted = 0
    /// The number of conflicts found.
    public var conflicts = 0
    /// How many of the received rows can't be read. ``SyncDatabase/unreadableRows()`` lists them.
    public var unreadable = 0
}

/// The progress of a push or pull.
public enum SyncProgress: Hashable, Sendable {
    /// The number of operations decided so far, of those that were to be sent when the push began.
    case pushing(done: Int, total: Int)
    /// The number of rows received so far; the total is the server's count.
    case pulling(table: String, received: Int, total: Int?)
}

/// The result of a sync.
public struct SyncReport: Sendable {
    /// The report of the push.
    public var push: PushReport
    /// The report of each pull, in order. The list ends early if the push stopped, or if the remaining pulls could
    /// not succeed.
    public var pulls: [(table: String, report: PullReport)] = []

    /// Why the push, or the first incomplete pull, stopped; otherwise `push-incomplete` if operations are left, such as
    /// those that await a decision. Nil if everything was sent and received.
    public var reason: SyncError? { stop ?? push.reason }

    /// Why the push, or the first incomplete pull, stopped.
    var stop: SyncError? {
        if case .stopped(let error) = push.outcome { return error }
        return pulls.lazy.compactMap(\.report.reason).first
    }
}
