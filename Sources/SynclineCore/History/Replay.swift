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

    /// What the variation's policy decided otherwise than what happened.
    package struct Decision: Sendable {
        /// The event that brought the conflict.
        package var event: UInt64
        package var resolution: Resolution
    }

    package var number: UInt64
    package var event: Event
    package var outcome: Outcome
    package var decisions: [Decision]
    package var changes: StateChanges
}

package struct Replay {
    package let projector: Projector
    private let variation: ReplayVariation
    private var marks: [(changes: Int, mark: Projector.Mark)] = []
    /// Conflicts that the variation's policy decides, by row. A push records a decision some events after the conflict: if it
    /// was the same, that event stands.
    private var due: [[UInt8]: ReplayStep.Decision] = [:]
    /// How often the policy has decided on a row since an operation of it was done. A push asks it no more than so often.
    private var rebases: [[UInt8]: Int] = [:]
    /// Rows whose conflicts the variation's policy has decided otherwise: what was decided about them then is left out.
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
        var decisions: [ReplayStep.Decision] = []
        if variation.isNone {
            try projector.apply(event, number: number)
        } else if variation.without.contains(number) {
            outcome = .leftOut
        } else if event.kind == .carried {
            // It repeats what happened, which is not what happens here.
        } else {
            decisions = try settle(keys(dueBefore: event))
            if case .resolved(let resolution) = event.body, variation.policy != nil {
                outcome = try decide(event, resolution, number, &decisions)
            } else {
                let isRefused = try isRefusal(event)
                outcome = try fold(event, number)
                if outcome == .folded { try note(event, number, isRefused: isRefused) }
            }
        }
        projector.through = number
        return ReplayStep(
            number: number, event: event, outcome: outcome, decisions: decisions,
            changes: try StateChanges(projector, behind: mark.changes))
    }

    /// Ends a replay: what the policy decides and no event brought about is done.
    package mutating func finish() throws(StateError) -> [ReplayStep.Decision] {
        let last = through
        defer { projector.through = last }
        return try settle(Array(due.keys))
    }

    /// Folds an event that may make no sense here; what it did until that showed is taken back.
    private func fold(_ event: Event, _ number: UInt64) throws(StateError) -> ReplayStep.Outcome {
        let (changes, mark) = (projector.store.changeCount, projector.mark)
        do throws(StateError) {
            try projector.apply(event, number: number)
            return .folded
        } catch {
            guard case .malformed(let what) = error else { throw error }
            try projector.store.takeBack(to: changes)
            projector.takeBack(to: mark)
            return .impossible(what.hasSuffix(", which") ? String(what.dropLast(7)) : what)
        }
    }

    // MARK: Another policy

    /// The rows whose conflicts a push would have had decided before an event. An app goes on meanwhile.
    private func keys(dueBefore event: Event) -> [[UInt8]] {
        if due.isEmpty { return [] }
        switch event.body {
        case .local, .undone, .configured, .indexed, .cursorReset, .serverWorked, .carried: return []
        // Only the decision of a policy can be the one that is due.
        case .resolved(let resolution) where resolution.policy != nil: return []
        case .resolved(let resolution): return [projector.rowKey(resolution.table, resolution.id)]
        case .sent(let operations): return operations.map { projector.rowKey($0.table, $0.id) }
        case .answered(let answer): return [projector.rowKey(answer.table, answer.id)]
        case .discarded(let table, let id): return [projector.rowKey(table, id)]
        case .page(let page): return page.rows.map { projector.rowKey(page.table, $0.id) }
        // The push was over, or what it decided on may go.
        case .opened, .declared, .purged: return Array(due.keys)
        }
    }

    /// Carries out what the policy decides on some rows.
    private mutating func settle(_ keys: [[UInt8]]) throws(StateError) -> [ReplayStep.Decision] {
        let found = keys.compactMap { key in due.removeValue(forKey: key).map { (key: key, decision: $0) } }
            .sorted { $0.decision.event < $1.decision.event }
        for (key, decision) in found { try carryOut(decision, key, number: decision.event) }
        return found.map(\.decision)
    }

    private mutating func carryOut(
        _ decision: ReplayStep.Decision, _ key: [UInt8], number: UInt64
    ) throws(StateError) {
        decided.insert(key)
        rebases[key, default: 0] += 1
        _ = try fold(Event(time: 0, .resolved(decision.resolution)), number)
    }

    /// What an event decided stands if the policy decides the same, or if an app decided it and the policy did not.
    private mutating func decide(
        _ event: Event, _ resolution: Resolution, _ number: UInt64, _ decisions: inout [ReplayStep.Decision]
    ) throws(StateError) -> ReplayStep.Outcome {
        let key = projector.rowKey(resolution.table, resolution.id)
        guard resolution.policy != nil else {
            if decided.remove(key) != nil { return .leftOut }
            rebases[key] = nil
            return try fold(event, number)
        }
        guard let decision = due.removeValue(forKey: key) else { return .leftOut }
        if decision.resolution.comesToTheSame(as: resolution) {
            rebases[key, default: 0] += 1
            return try fold(event, number)
        }
        try carryOut(decision, key, number: number)
        decisions.append(decision)
        return .leftOut
    }

    /// Whether an answer refuses to bring a row back: then a push asks no policy.
    private func isRefusal(_ event: Event) throws(StateError) -> Bool {
        guard variation.policy != nil, case .answered(let answer) = event.body, case .conflict = answer.outcome else {
            return false
        }
        return try projector.entry(projector.rowKey(answer.table, answer.id)).entry?.pending?.frozen?.revival != nil
    }

    /// Lets the policy decide the conflict that an answer brought, as a push does.
    private mutating func note(_ event: Event, _ number: UInt64, isRefused: Bool) throws(StateError) {
        guard let policy = variation.policy, case .answered(let answer) = event.body else { return }
        let key = projector.rowKey(answer.table, answer.id)
        if case .done = answer.outcome { rebases[key] = nil }
        guard case .conflict = answer.outcome, !isRefused, rebases[key] ?? 0 < PushOptions.rebaseLimit,
            let entry = try projector.entry(key).entry, let frozen = entry.pending?.frozen,
            let conflict = Conflict(table: answer.table, id: answer.id, frozen), !conflict.mayHaveBeenDone
        else { return }
        let found = try? conflict.resolution(policy.decide(conflict), hasBase: entry.base != nil, policy: policy.name)
        guard let resolution = found else { return }
        due[key] = ReplayStep.Decision(event: number, resolution: resolution)
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

extension Resolution {
    /// Whether it makes of a conflict what another does.
    fileprivate func comesToTheSame(as other: Resolution) -> Bool {
        change == other.change && (choice == .row) == (other.choice == .row)
    }
}
