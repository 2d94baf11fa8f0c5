// What a push and a pull tell when they are over, and while they run.

public import SynclineCore

/// How a push went.
public struct PushReport: Hashable, Sendable {
    /// How it ended.
    public var outcome: PushOutcome
    /// Every operation in scope, in the order of the plan, those that wait too.
    public var operations: [OperationReport]
    /// What was noticed and put right.
    public var warnings: [String]

    init(_ outcome: PushOutcome, _ operations: [OperationReport], warnings: [String] = []) {
        self.outcome = outcome
        self.operations = operations
        self.warnings = warnings
    }

    /// Why not everything is done.
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

/// What a push would do, looked at without doing it.
public struct PushPreview: Hashable, Sendable {
    /// A request, without credentials and headers of the app's.
    public struct Request: Hashable, Sendable {
        /// `POST`, `PATCH`, `PUT` or `DELETE`.
        public var method: String
        /// Below the backend's URL, decoded: `/tables/todoitem/a b`.
        public var path: String
        /// `If-Match` and the like; an operation that was never sent has no operation id yet.
        public var headers: [String: String]
        /// The body, which is JSON; nil where there is none.
        public var body: [UInt8]?
    }

    /// Every operation in scope, in the order of the plan.
    public var report: PushReport
    /// What would be sent of each, as if it went alone; nil for one that waits.
    public var requests: [Request?]
}

/// How a pull went.
public struct PullReport: Hashable, Sendable {
    /// Why it stopped; nil if it is complete.
    public var reason: SyncError?
    /// Lists asked for.
    public var requests = 0
    /// Rows as they came, tombstones and repeats included.
    public var received = 0
    /// Rows whose base, or the server's side of whose conflict, became something new.
    public var changed = 0
    /// Local rows removed.
    public var deleted = 0
    /// Conflicts found.
    public var conflicts = 0

    init() {}
}

/// How far a push or a pull is.
public enum SyncProgress: Hashable, Sendable {
    /// Operations that this push decided, of those that were to be sent when it began.
    case pushing(done: Int, total: Int)
    /// The total is what the server says there is.
    case pulling(table: String, received: Int, total: Int?)
}
