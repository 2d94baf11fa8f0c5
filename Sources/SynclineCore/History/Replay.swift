// The replay as a state machine: it folds events, remembers how to undo the latest of them, and can leave some out
// or apply another policy. It reads no log and prints nothing.

/// How a replay differs from what happened.
package struct ReplayVariation: Sendable {
    /// Events that are left out.
    package var without: Set<UInt64> = []
    /// The policy for conflicts that arose in a push, in place of the original decisions.
    package var policy: ConflictPolicy?

    package init() {}

    package var isNone: Bool { without.isEmpty && policy == nil }
}

/// An event in a replay.
package struct ReplayStep: Sendable {
    package enum Outcome: Hashable, Sendable {
        case folded
        /// It was left out as requested.
        case leftOut
        /// It is not valid in the state that the variation led to.
        case impossible(String)
    }

    /// A decision of the variation's policy that differs from what happened.
    package struct Decision: Sendable {
        /// The event that caused the conflict.
        package var event: UInt64
        package var resolution: Resolution
    }

    package var number: UInt64
    package var event: Event
    package var outcome: Outcome
    package var decisions: [Decision]
    /// What it changed; nothing in a replay with a variation.
    package var changes: StateChanges
}

package struct Replay {
    package let projector: Projector
    private let variation: ReplayVariation
    /// The keys of the rows that can differ; nil for all. Others are not folded.
    private let rows: Set<[UInt8]>?
    private var marks: [(changes: Int, mark: FoldState.Mark)] = []
    /// Conflicts that the variation's policy decides, by row. A push records a decision some events after the
    /// conflict; if it was the same, that event is kept.
    private var due: [[UInt8]: ReplayStep.Decision] = [:]
    /// How often the policy has decided on a row since an operation of it succeeded. A push has the same limit.
    private var rebases: [[UInt8]: Int] = [:]
    /// Rows whose conflicts the variation's policy decided differently; the original decisions about them are left
    /// out.
    private var decided: Set<[UInt8]> = []
    /// How many steps can be undone. To go back further, a replay starts again from an earlier state.
    package static let reach = 4096

    package init(
        from start: Projector, _ variation: ReplayVariation = ReplayVariation(), of rows: Set<[UInt8]>? = nil
    ) {
        projector = start
        self.variation = variation
        self.rows = rows
        projector.store.beginChanges()
    }

    /// The last event folded.
    package var through: UInt64 { projector.through }

    package var reader: StateReader { projector.reader(of: projector.store.snapshot) }

    // MARK: Forward

    /// Folds the next event.
    @discardableResult
    package mutating func step(_ event: Event, number: UInt64) throws(SyncError) -> ReplayStep {
        if !variation.isNone { return try vary(event, number) }
        if marks.count >= Replay.reach {
            // Older events are read again if they are needed.
            marks.removeAll(keepingCapacity: true)
            projector.store.beginChanges()
            try projector.store.settle(above: 16 << 20)
        }
        let mark = (changes: projector.store.changeCount, mark: projector.state.mark)
        marks.append(mark)
        try projector.apply(event, number: number)
        return ReplayStep(
            number: number, event: event, outcome: .folded, decisions: [],
            changes: try StateChanges(projector, after: mark.changes))
    }

    /// Folds the next event with the variation, which is not undone.
    private mutating func vary(_ event: Event, _ number: UInt64) throws(SyncError) -> ReplayStep {
        var outcome = ReplayStep.Outcome.folded
        var decisions: [ReplayStep.Decision] = []
        if variation.without.contains(number) {
            outcome = .leftOut
        } else if event.kind == .carried || !mayConcern(event) {
            // It repeats what happened, which does not happen in this replay; or it can't differ.
        } else {
            projector.store.beginChanges()
            decisions = try settle(keys(dueBefore: event))
            if case .resolved(let resolution) = event.body, variation.policy != nil {
                outcome = try decide(event, resolution, number, &decisions)
            } else {
                let isRefused = try isRefusal(event)
                outcome = try fold(event, number)
                if outcome == .folded { try note(event, number, isRefused: isRefused) }
            }
        }
        projector.state.through = number
        try projector.store.settle(above: 16 << 20)
        return ReplayStep(
            number: number, event: event, outcome: outcome, decisions: decisions, changes: StateChanges(joining: []))
    }

    private func mayConcern(_ event: Event) -> Bool {
        guard let rows else { return true }
        return event.changesOthers || event.kind == .purged
            || event.rows.contains { rows.contains(projector.state.rowKey($0.table, $0.id)) }
    }

    /// Folds an event as far as it concerns the rows that can differ.
    private func apply(_ event: Event, _ number: UInt64) throws(SyncError) {
        guard let rows else { return try projector.apply(event, number: number) }
        let state = projector.state
        try projector.apply(event, number: number) { rows.contains(state.rowKey($0, $1)) }
    }

    /// Ends a replay: applies the policy's decisions that no event has caused.
    package mutating func finish() throws(SyncError) -> [ReplayStep.Decision] {
        let last = through
        defer { projector.state.through = last }
        return try settle(Array(due.keys))
    }

    /// Folds an event that may not be valid here; if it is not, its changes are undone.
    private func fold(_ event: Event, _ number: UInt64) throws(SyncError) -> ReplayStep.Outcome {
        let (changes, mark) = (projector.store.changeCount, projector.state.mark)
        var reason: String?
        do throws(SyncError) {
            if case .local(let transaction) = event.body { reason = try fold(transaction, number) }
            if reason == nil {
                // The transaction is folded again as a whole.
                try takeBack(to: changes, mark)
                try apply(event, number)
                return .folded
            }
        } catch {
            guard let part = error.malformedPart else { throw error }
            reason = part
        }
        try takeBack(to: changes, mark)
        return .impossible(reason ?? "")
    }

    private func takeBack(to changes: Int, _ mark: FoldState.Mark) throws(SyncError) {
        try projector.store.takeBack(to: changes)
        projector.state.takeBack(to: mark)
    }

    /// Folds the changes of a transaction one after the other, up to one that a store in this state would have refused.
    /// Returns why it would have.
    private func fold(_ transaction: LocalTransaction, _ number: UInt64) throws(SyncError) -> String? {
        for (index, change) in transaction.changes.enumerated() {
            let key = projector.state.rowKey(change.table, change.id)
            if let rows, !rows.contains(key) { continue }
            let entry = try projector.state.entry(key).entry
            if let reason = change.refusal(on: entry ?? RowEntry()) { return reason }
            let position = Position(event: number, index: UInt32(index))
            _ = try projector.local.apply(change, at: position, isGrouped: transaction.heading.isGrouped)
        }
        return nil
    }

    // MARK: Another policy

    /// Returns the rows whose conflicts a push would have decided before an event. The app continues in the
    /// meantime, but what it changes of such a row, it changes after the decision.
    private func keys(dueBefore event: Event) -> [[UInt8]] {
        if due.isEmpty { return [] }
        switch event.body {
        case .local(let transaction): return transaction.changes.map { projector.state.rowKey($0.table, $0.id) }
        case .undone, .configured, .indexed, .typed, .cursorReset, .serverWorked, .carried: return []
        // Only the decision of a policy can be the one that is due.
        case .resolved(let resolution) where resolution.policy != nil: return []
        case .resolved(let resolution): return [projector.state.rowKey(resolution.table, resolution.id)]
        case .sent(let operations): return operations.map { projector.state.rowKey($0.table, $0.id) }
        case .answered(let answer): return [projector.state.rowKey(answer.table, answer.id)]
        case .discarded(let table, let id): return [projector.state.rowKey(table, id)]
        case .page(let page): return page.rows.map { projector.state.rowKey(page.table, $0.id) }
        // The push was over, or the operation it decided on may be removed.
        case .opened, .declared, .purged: return Array(due.keys)
        }
    }

    /// Applies the policy's decisions on some rows.
    private mutating func settle(_ keys: [[UInt8]]) throws(SyncError) -> [ReplayStep.Decision] {
        let found = keys.compactMap { key in due.removeValue(forKey: key).map { (key: key, decision: $0) } }
            .sorted { $0.decision.event < $1.decision.event }
        for (key, decision) in found { try carryOut(decision, key, number: decision.event) }
        return found.map(\.decision)
    }

    private mutating func carryOut(
        _ decision: ReplayStep.Decision, _ key: [UInt8], number: UInt64
    ) throws(SyncError) {
        decided.insert(key)
        rebases[key, default: 0] += 1
        _ = try fold(Event(time: 0, .resolved(decision.resolution)), number)
    }

    /// Keeps the decision of an event if the policy decides the same, or if an app decided and the policy did not.
    private mutating func decide(
        _ event: Event, _ resolution: Resolution, _ number: UInt64, _ decisions: inout [ReplayStep.Decision]
    ) throws(SyncError) -> ReplayStep.Outcome {
        let key = projector.state.rowKey(resolution.table, resolution.id)
        guard resolution.policy != nil else {
            if decided.remove(key) != nil { return .leftOut }
            rebases[key] = nil
            return try fold(event, number)
        }
        guard let decision = due.removeValue(forKey: key) else { return .leftOut }
        if decision.resolution.isEquivalent(to: resolution) {
            rebases[key, default: 0] += 1
            return try fold(event, number)
        }
        try carryOut(decision, key, number: number)
        decisions.append(decision)
        return .leftOut
    }

    /// Returns whether an answer refuses to restore a row; then a push does not use a policy.
    private func isRefusal(_ event: Event) throws(SyncError) -> Bool {
        guard variation.policy != nil, case .answered(let answer) = event.body, case .conflict = answer.outcome else {
            return false
        }
        let key = projector.state.rowKey(answer.table, answer.id)
        return try projector.state.entry(key).entry?.pending?.frozen?.revival != nil
    }

    /// Lets the policy decide the conflict that an answer caused, as a push does.
    private mutating func note(_ event: Event, _ number: UInt64, isRefused: Bool) throws(SyncError) {
        guard let policy = variation.policy, case .answered(let answer) = event.body else { return }
        let key = projector.state.rowKey(answer.table, answer.id)
        if case .done = answer.outcome { rebases[key] = nil }
        guard case .conflict = answer.outcome, !isRefused, rebases[key] ?? 0 < PushSettings.rebaseLimit,
            let entry = try projector.state.entry(key).entry, let frozen = entry.pending?.frozen,
            let conflict = Conflict(
                table: answer.table, id: answer.id, frozen, projector.state.types[answer.table]),
            !conflict.mayHaveBeenDone
        else { return }
        let found = try? conflict.resolution(policy.decide(conflict), hasBase: entry.base != nil, policy: policy.name)
        guard let resolution = found else { return }
        due[key] = ReplayStep.Decision(event: number, resolution: resolution)
    }

    // MARK: Back

    /// Undoes the latest event; returns false if it is too far back.
    package mutating func back() throws(SyncError) -> Bool {
        guard let mark = marks.popLast() else { return false }
        try projector.store.takeBack(to: mark.changes)
        projector.state.takeBack(to: mark.mark)
        return true
    }
}

extension LocalChange {
    /// Why a store refuses it; nil if it does not.
    fileprivate func refusal(on entry: RowEntry) -> String? {
        let what = "\(kind == .delete ? "a" : "an") \(kind) of \(table)/\(id)"
        do throws(ChangeRefusal) {
            _ = try CompactorRule.decide(kind, on: CompactorInput(entry))
        } catch {
            return error == .rowExists ? "\(what), which exists" : "\(what), which is deleted"
        }
        // The app had read the row that it changed.
        return kind != .insert && baseVersion != nil && !entry.isPresent ? "\(what), which is not there" : nil
    }
}

extension Resolution {
    /// Returns whether two resolutions have the same result.
    fileprivate func isEquivalent(to other: Resolution) -> Bool {
        change == other.change && (choice == .row) == (other.choice == .row)
    }
}
