// The replay as a machine: it is handed events and folds them, remembers how to take the latest of them back, and may leave
// some out or let another policy decide. It reads no log and prints nothing.

/// How a replay differs from what happened.
package struct ReplayVariation: Sendable {
    /// Events that are left out.
    package var without: Set<UInt64> = []
    /// Who decides conflicts that arose in a push, in place of who did.
    package var policy: ConflictPolicy?

    package init() {}

    package var isNone: Bool { without.isEmpty && policy == nil }
}

/// An event on its way through a replay.
package struct ReplayStep: Sendable {
    package enum Outcome: Hashable, Sendable {
        case folded
        /// It was to be left out.
        case leftOut
        /// It makes no sense in the state that the variation led to.
        case impossible(String)
    }

    package var number: UInt64
    package var event: Event
    package var outcome: Outcome
    /// What the variation's policy decided behind it.
    package var decision: Resolution?
    package var changes: StateChanges
}

package struct Replay {
    package let projector: Projector
    private let variation: ReplayVariation
    private var marks: [(changes: Int, mark: Projector.Mark)] = []
    /// Rows whose conflicts the variation's policy has decided: what was decided about them then is left out.
    private var decided: Set<[UInt8]> = []
    /// How many steps can be taken back. Beyond that a replay begins anew from further back.
    package static let reach = 4096

    package init(from start: Projector, _ variation: ReplayVariation = ReplayVariation()) {
        projector = start
        self.variation = variation
        projector.store.beginChanges()
    }

    /// The last event folded.
    package var through: UInt64 { projector.through }

    package var reader: StateReader { projector.reader(of: projector.store.snapshot) }

    // MARK: Forward

    /// Folds the next event.
    @discardableResult
    package mutating func step(_ event: Event, number: UInt64) throws(StateError) -> ReplayStep {
        if marks.count >= Replay.reach, variation.isNone {
            // What lies so far back is read again when it is asked for.
            marks.removeAll(keepingCapacity: true)
            projector.store.beginChanges()
            try projector.store.settle(above: 16 << 20)
        }
        let mark = (changes: projector.store.changeCount, mark: projector.mark)
        marks.append(mark)
        var outcome = ReplayStep.Outcome.folded
        var decision: Resolution?
        if variation.isNone {
            try projector.apply(event, number: number)
        } else if variation.without.contains(number) {
            outcome = .leftOut
        } else if event.kind == .carried {
            // It repeats what happened, which is not what happens here.
        } else if case .resolved(let resolution) = event.body, variation.policy != nil, wasDecided(resolution) {
            outcome = .leftOut
        } else {
            outcome = try fold(event, number, mark)
            if outcome == .folded { decision = try decide(event, number) }
        }
        projector.through = number
        return ReplayStep(
            number: number, event: event, outcome: outcome, decision: decision,
            changes: try StateChanges(projector, behind: mark.changes))
    }

    /// Folds an event that may make no sense here; what it did until that showed is taken back.
    private func fold(
        _ event: Event, _ number: UInt64, _ mark: (changes: Int, mark: Projector.Mark)
    ) throws(StateError) -> ReplayStep.Outcome {
        do throws(StateError) {
            try projector.apply(event, number: number)
            return .folded
        } catch {
            guard case .malformed(let what) = error else { throw error }
            try projector.store.takeBack(to: mark.changes)
            projector.takeBack(to: mark.mark)
            return .impossible(what.hasSuffix(", which") ? String(what.dropLast(7)) : what)
        }
    }

    // MARK: Another policy

    private mutating func wasDecided(_ resolution: Resolution) -> Bool {
        // What an app decided by itself stands, but for conflicts that the policy has taken from it.
        resolution.policy != nil || decided.remove(projector.rowKey(resolution.table, resolution.id)) != nil
    }

    /// Lets the policy decide the conflict that an answer brought.
    private mutating func decide(_ event: Event, _ number: UInt64) throws(StateError) -> Resolution? {
        guard let policy = variation.policy, case .answered(let answer) = event.body,
            case .conflict = answer.outcome
        else { return nil }
        let key = projector.rowKey(answer.table, answer.id)
        guard let entry = try projector.entry(key).entry, let frozen = entry.pending?.frozen,
            let conflict = Conflict(table: answer.table, id: answer.id, frozen)
        else { return nil }
        let found = try? conflict.resolution(policy.decide(conflict), hasBase: entry.base != nil, policy: policy.name)
        guard let resolution = found else { return nil }
        decided.insert(key)
        try projector.apply(Event(time: event.time, .resolved(resolution)), number: number)
        return resolution
    }

    // MARK: Back

    /// Takes the latest event back; false if it lies beyond the machine's reach.
    package mutating func back() throws(StateError) -> Bool {
        guard let mark = marks.popLast() else { return false }
        try projector.store.takeBack(to: mark.changes)
        projector.takeBack(to: mark.mark)
        return true
    }
}

/// Looks for the event that made a condition true.
package struct ReplaySearch {
    private let condition: Condition
    private let projector: Projector
    private var count: Int

    package init(_ condition: Condition, from start: Projector) throws(StateError) {
        self.condition = condition
        projector = start
        count = try condition.count(in: start.reader(of: start.store.snapshot))
    }

    /// Whether it holds by now.
    package var holds: Bool { condition.holds(count) }

    /// Takes the next record; whether the condition holds behind it.
    package mutating func fold(_ record: UnsafeRawBufferPointer, number: UInt64) throws(StateError) -> Bool {
        if let focus = condition.focus {
            var reader = try EventReader(record, projector.shapes)
            guard focus.mayConcern(record, kind: reader.kind, projector.ids) else { return holds }
            try projector.apply(try reader.event(), number: number, onlyTo: focus)
            count = try condition.count(in: projector.reader(of: projector.store.snapshot))
            return holds
        }
        let kind = try EventReader(record, projector.shapes).kind
        if condition.mayChange(with: kind) {
            projector.store.beginChanges()
            try projector.apply(record, number: number)
            count += condition.difference(try StateChanges(projector, of: condition.scope))
        } else {
            projector.store.endChanges()
            try projector.apply(record, number: number)
            // The fold counts by itself how many changes are in the outbox.
            if case .pending = condition.subject { count = Int(projector.totals.pending) }
        }
        if number & 0xff == 0 { try projector.store.settle(above: 16 << 20) }
        return holds
    }
}
