// What a push adds to a random history: operations of a plan, old or new, are sent, answered in every way, and
// decided. Only what an engine would record is recorded.

import LogTesting
import Testing

@testable import SynclineCore

extension RandomHistory {
    /// Sends an operation, or drops changes without a remaining effect.
    mutating func send() throws {
        let plan = try PushPlan(reader)
        if let void = plan.voids.first, chance.once(in: 2) {
            guard let entry = try reader.entry(key: void.rowKey), let pending = entry.pending else { return }
            let row = try RowKey(malformed: void.rowKey)
            return try record(
                .sent([
                    SentOperation(
                        table: row.table, id: entry.spelling ?? row.id, operationID: nil, position: pending.first,
                        through: pending.last)
                ]))
        }
        let candidates = chance.once(in: 2) && !planned.isEmpty ? planned : plan.operations
        guard !candidates.isEmpty else { return }
        let operation = chance.pick(candidates)
        guard let pending = try reader.entry(key: operation.rowKey)?.pending, pending.frozen == nil,
            let first = pending.operation?.first, first <= operation.through
        else { return }
        try record(
            .sent([
                SentOperation(
                    table: operation.table, id: operation.id, operationID: "O\(next)", position: operation.position,
                    through: operation.through)
            ]))
    }

    /// Records the result of an operation that was sent.
    mutating func answer() throws {
        let sent = try PushPlan(reader).operations.filter { $0.isFrozen && $0.state == .pending }
        guard !sent.isEmpty else { return }
        let operation = chance.pick(sent)
        guard let frozen = try reader.entry(key: operation.rowKey)?.pending?.frozen else { return }
        let outcome: Answer.Outcome
        switch chance.below(8) {
        case 6 where frozen.revival != nil:
            outcome = .revived(PulledRow(id: operation.id, row: version().merged(with: columns())))
        case 6 where frozen.kind == .insert: outcome = .tombstone(chance.once(in: 2) ? nil : version())
        case 6: outcome = .failing
        case 7: outcome = frozen.failures > 0 ? .interrupted : .failing
        case 0, 1:
            let kept = frozen.columns.merged(with: chance.once(in: 3) ? columns() : .empty)
            let row = frozen.kind == .delete ? nil : version().merged(with: kept)
            outcome = .done(PulledRow(id: operation.id, row: row))
        case 2: outcome = .conflict(server: version().merged(with: columns()), code: "conflict")
        case 3: outcome = frozen.kind == .delete ? .parked : .conflict(server: nil, code: "row-gone")
        case 4: outcome = .parked
        default: outcome = .notReceived
        }
        var answer = Answer(
            table: operation.table, id: operation.id, operationID: frozen.operationID,
            status: 200 + chance.below(300), outcome: outcome, message: chance.once(in: 2) ? "no" : nil)
        if outcome.goesOn { answer.nextOperationID = "O\(next)" }
        try record(.answered(answer))
        if outcome == .failing, chance.once(in: 2) { try record(.serverWorked) }
    }

    /// Drops the pending operations of a row.
    mutating func discard() throws {
        let plan = try PushPlan(reader).operations
        guard !plan.isEmpty else { return }
        let operation = chance.pick(plan)
        try record(.discarded(table: operation.table, id: operation.id))
    }

    /// Decides what awaits a decision.
    mutating func resolve() throws {
        if chance.once(in: 12) { return try discard() }
        let conflicts = try reader.conflicts()
        guard !conflicts.isEmpty else { return }
        let conflict = chance.pick(conflicts)
        let decision: ConflictDecision
        switch chance.below(5) {
        case 0: decision = .takeServer
        case 1: decision = .keepMine
        case 2: decision = .merge
        default: decision = .row(columns(), as: chance.pick([nil, nil] + OperationKind.allCases.map { $0 }))
        }
        let hasBase = try reader.entry(conflict.table, conflict.id)?.base != nil
        guard let resolution = try? conflict.resolution(decision, hasBase: hasBase) else { return }
        try record(.resolved(resolution))
    }

    private mutating func version() -> Row {
        Row([.init("version", .string("v\(chance.below(6))"))])
    }
}
