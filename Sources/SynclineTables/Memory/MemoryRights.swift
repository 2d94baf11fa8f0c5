// The edges and stays of tables in memory, and what callers see by them.

import SynclineCore
import SynclineGround
import SynclineWire

struct MemoryRights: RightsSource {
    private struct Edge: Sendable {
        var row: String
        var edge: RightEdge
    }

    private var edges: [RuleEdge: [Edge]] = [:]
    /// By table and id.
    private var stays: [String: [ExactString: [RowStay]]] = [:]

    func edges(_ step: RuleEdge, from: String, to: String) -> [RightEdge] {
        edges(step, from: from).filter { $0.ends.to.hasSameBytes(as: to) }
    }

    func edges(_ step: RuleEdge, from: String) -> [RightEdge] {
        edges[step, default: []].map(\.edge).filter { $0.ends.from.hasSameBytes(as: from) }
    }

    func edges(_ step: RuleEdge, to: String) -> [RightEdge] {
        edges[step, default: []].map(\.edge).filter { $0.ends.to.hasSameBytes(as: to) }
    }

    func stays(_ table: String, id: String) -> [RowStay] { stays[table]?[ExactString(id)] ?? [] }

    /// The ids of all rows that were ever in a bucket.
    func ids(_ table: String) -> [String] { stays[table]?.keys.map(\.text) ?? [] }

    /// Records what a write of a row changed.
    mutating func note(_ change: RightsChange, _ id: String, _ table: String, _ stamp: Stamp) {
        for (step, _) in change.ended {
            var all = edges[step] ?? []
            for place in all.indices where all[place].row.hasSameBytes(as: id) && all[place].edge.interval.end == nil {
                all[place].edge.interval.end = stamp
            }
            edges[step] = all
        }
        for (step, ends) in change.begun {
            edges[step, default: []].append(Edge(row: id, edge: RightEdge(ends, RightInterval(from: stamp))))
        }
        var known = stays(table, id: id)
        for bucket in change.left {
            for place in known.indices where known[place].bucket == bucket && known[place].interval.end == nil {
                known[place].interval.end = stamp
                known[place].endedByDeletion = change.isDeletion
            }
        }
        for (bucket, name) in change.entered { known.append(RowStay(bucket, name, RightInterval(from: stamp))) }
        if !known.isEmpty { stays[table, default: [:]][ExactString(id)] = known }
    }
}

extension MemoryTables {
    /// The list of a table with rules.
    func ruled(_ plan: ListPlan, _ filter: FilterExpression?, _ work: FilterWork) throws(StoreFailure) -> [TableRow] {
        var found: [TableRow] = []
        try eachRight(plan.table, plan.subject) { id, right, row in
            if let row = plan.entry(id, right, row: row, filter, work) { found.append(row) }
        }
        return found
    }

    /// The changes of a table with rules.
    func ruled(
        _ plan: ChangePlan, _ filter: FilterExpression?, _ work: FilterWork
    ) throws(StoreFailure) -> ChangeOutcome {
        let plan = plan.through(mark.change)
        var found: [TableChange] = []
        try eachRight(plan.table, plan.subject) { id, right, row in
            if let change = plan.change(id, right, row: row, filter, work) { found.append(change) }
        }
        try work.check(within: WorkLimit.current)
        var outcome = ChangeOutcome(count: plan.counts ? found.count : nil, mark)
        var room = AnswerBudget(limits.answerBytes)
        for change in found.sorted(by: { $0.isBefore($1) }) where !outcome.hasMore {
            outcome.add(change, plan.limit, &room)
        }
        return outcome
    }

    private func eachRight(
        _ table: String, _ subject: String?, _ body: (String, RowRight, TableRow?) -> Void
    ) throws(StoreFailure) {
        guard let judge = judge(table, subject.map { Caller(subject: $0) }) else { return }
        for id in rights.ids(table) { body(id, try judge.right(to: id), row(table, id: id)) }
    }
}

extension TableChange {
    /// Whether it comes first among changes of which several may have the same number.
    func isBefore(_ other: TableChange) -> Bool {
        number != other.number ? number < other.number : ExactString(row.id) < ExactString(other.row.id)
    }
}
