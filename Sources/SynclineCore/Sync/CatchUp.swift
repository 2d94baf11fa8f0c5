// Decides when the callers that wait for automatic sync are caught up: it is told the calls, the steps of each round, and
// what the outbox has at each step. Pure.

import SynclineGround

/// A step of a sync, as it happens.
package enum SyncStep: Hashable, Sendable {
    /// A push begins. It is the first step.
    case push
    /// The push has ended, for this reason if it was stopped.
    case pushed(SyncError?)
    /// These tables are pulled next, in this order. A table may have several pulls.
    case pulls([String])
    /// A pull begins.
    case pull(table: String)
    /// A pull has ended.
    case pulled(table: String, isComplete: Bool)
}

/// The oldest change in the outbox at some moment.
package struct OutboxEdge: Hashable, Sendable {
    /// The last event at that moment.
    package var through: UInt64
    /// The event of the oldest change; nil if the outbox is empty.
    package var oldest: UInt64?

    package init(through: UInt64, oldest: UInt64?) {
        self.through = through
        self.oldest = oldest
    }

    /// Whether no change through an event is left.
    fileprivate func isEmpty(through event: UInt64) -> Bool { event <= through && oldest.map { $0 > event } ?? true }
}

package struct CatchUp: Sendable {
    /// What a caller is told.
    package enum Outcome: Hashable, Sendable {
        case caughtUp
        /// A push that began after the call has left a change that was made before it.
        case left(through: EventNumber)
        /// A round that began after the call did not pull this table.
        case notPulled(table: String)
        /// A round that began after the call was stopped.
        case stopped(SyncError)
    }

    private struct Caller: Sendable {
        /// The last event before the call.
        var through: UInt64
        /// The tables that are left to be pulled; nil until a whole round is over.
        var tables: Set<ExactString>?
        /// The number of the last step before the call.
        var since: UInt64
    }

    /// The pulls of a table in the present round.
    private struct Pulls: Sendable {
        /// How many have not ended.
        var left = 0
        /// The step with which the first one began.
        var began: UInt64?
        var areComplete = true
    }

    private var callers: [Int: Caller] = [:]
    /// The number of steps so far.
    private var steps: UInt64 = 0
    /// The step with which the round began.
    private var began: UInt64 = 0
    private var pulls: [ExactString: Pulls] = [:]

    package init() {}

    /// Adds a caller, by its number; returns false if it is caught up already.
    /// - Parameters:
    ///   - through: The last event before the call.
    ///   - tables: The tables that the caller needs; nil for those of a whole round.
    package mutating func add(_ caller: Int, through: UInt64, tables: [String]?, _ outbox: OutboxEdge) -> Bool {
        if tables?.isEmpty ?? false, outbox.isEmpty(through: through) { return false }
        callers[caller] = Caller(through: through, tables: tables?.exact, since: steps)
        return true
    }

    /// Forgets a caller that no longer waits.
    package mutating func remove(_ caller: Int) { callers[caller] = nil }

    /// Takes a step of a round. Returns the callers that need not wait any more, in the order of their calls.
    package mutating func take(_ step: SyncStep, _ outbox: OutboxEdge) -> [(caller: Int, outcome: Outcome)] {
        steps += 1
        switch step {
        case .push: (began, pulls) = (steps, [:])
        case .pushed(nil):
            return end { [began] caller in
                guard caller.since < began, !outbox.isEmpty(through: caller.through) else { return nil }
                return .left(through: EventNumber(rawValue: caller.through))
            } + endCaughtUp(outbox)
        case .pushed: break
        case .pulls(let tables): for table in tables { pulls[ExactString(table), default: Pulls()].left += 1 }
        case .pull(let table):
            let pull = pulls[ExactString(table)]
            pulls[ExactString(table)]?.began = pull?.began ?? steps
        case .pulled(let table, let isComplete): ended(ExactString(table), isComplete)
        }
        return endCaughtUp(outbox)
    }

    private mutating func ended(_ table: ExactString, _ isComplete: Bool) {
        guard var pull = pulls[table], let first = pull.began else { return }
        pull.left -= 1
        pull.areComplete = pull.areComplete && isComplete
        pulls[table] = pull
        if pull.left > 0 || !pull.areComplete { return }
        for number in callers.keys where callers[number].map({ $0.since < first }) ?? false {
            callers[number]?.tables?.remove(table)
        }
    }

    /// Takes the end of a round. A missing network is waited out.
    package mutating func endRound(_ reason: SyncError?, _ outbox: OutboxEdge) -> [(caller: Int, outcome: Outcome)] {
        steps += 1
        if reason == nil {
            for number in callers.keys where callers[number].map({ $0.since < began && $0.tables == nil }) ?? false {
                callers[number]?.tables = []
            }
        }
        let done = endCaughtUp(outbox)
        return done
            + end { [began] caller in
                guard caller.since < began else { return nil }
                switch reason?.code {
                case nil:
                    if let table = caller.tables?.min() { return .notPulled(table: table.text) }
                    return .left(through: EventNumber(rawValue: caller.through))
                case .offline?, .cancelled?: return nil
                case _?: return reason.map { .stopped($0) }
                }
            }
    }

    private mutating func endCaughtUp(_ outbox: OutboxEdge) -> [(caller: Int, outcome: Outcome)] {
        end { caller in
            caller.tables?.isEmpty ?? false && outbox.isEmpty(through: caller.through) ? .caughtUp : nil
        }
    }

    /// Removes the callers that have an outcome.
    private mutating func end(_ outcome: (Caller) -> Outcome?) -> [(caller: Int, outcome: Outcome)] {
        let ended = callers.sorted { $0.key < $1.key }.compactMap { number, caller in
            outcome(caller).map { (caller: number, outcome: $0) }
        }
        for (number, _) in ended { callers[number] = nil }
        return ended
    }
}
