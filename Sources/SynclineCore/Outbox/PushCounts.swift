// The numbers of operations in the outbox, by what they wait for. They are counted without keeping the operations.

package import SynclineGround

package struct PushCounts: Hashable, Sendable {
    package private(set) var all = 0
    /// Those that a push sends.
    package private(set) var toPush = 0
    package private(set) var conflicts = 0
    package private(set) var parked = 0
    package private(set) var held = 0

    /// Those that wait for a decision.
    package var undecided: Int { conflicts + parked }

    /// Those that come after one of the same row that waits.
    package var after: Int { all - toPush - undecided - held }

    package init() {}

    /// Counts the operations of all tables.
    package init(_ reader: StateReader) throws(SyncError) {
        try PushPlan.walk(reader) { operation, _ throws(SyncError) in
            add(operation)
            return true
        }
    }

    /// Counts the operations of each table.
    package static func byTable(_ reader: StateReader) throws(SyncError) -> [ExactString: PushCounts] {
        var counts: [ExactString: PushCounts] = [:]
        try PushPlan.walk(reader) { operation, _ throws(SyncError) in
            counts[ExactString(operation.table), default: PushCounts()].add(operation)
            return true
        }
        return counts
    }

    private mutating func add(_ operation: PlannedOperation) {
        all += 1
        if operation.isToPush { toPush += 1 }
        switch operation.state {
        case .pending, .inFlight: break
        case .conflict: conflicts += 1
        case .parked: parked += 1
        case .held: held += 1
        }
    }
}

extension PushCounts {
    /// The sum of the counts of several tables.
    package init(_ tables: some Sequence<PushCounts>) {
        for table in tables {
            all += table.all
            toPush += table.toPush
            conflicts += table.conflicts
            parked += table.parked
            held += table.held
        }
    }
}
