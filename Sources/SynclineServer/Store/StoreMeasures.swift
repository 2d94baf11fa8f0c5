// Metrics of a store's transactions.

import SynclineGround

final class StoreMeasures: Sendable {
    private let kept = Atomic(0)
    private let undone = Atomic(0)
    private let writes = Atomic(0)
    private let sweeps = Atomic(0)
    private let differences = Atomic(0)
    private let epochs = Atomic(0)
    private let missedTicks = Atomic(0)
    private let waited = Atomic<Int64>(0)

    /// Records that a transaction has the lock under which numbers are issued.
    func note(lockedAfter time: Duration) {
        waited.add(Int64(time / .nanoseconds(1)), ordering: .relaxed)
    }

    /// Records the end of a transaction.
    func note(writes count: Int, isKept: Bool) {
        guard isKept else {
            undone.add(1, ordering: .relaxed)
            return
        }
        kept.add(1, ordering: .relaxed)
        writes.add(count, ordering: .relaxed)
    }

    /// Records that a new epoch began because the database was an older copy.
    func noteEpoch() { epochs.add(1, ordering: .relaxed) }

    /// Records that a tick could not be made.
    func noteMissedTick() { missedTicks.add(1, ordering: .relaxed) }

    /// Records that a table was compared with what the server wrote.
    func noteSweep(differs: Bool) {
        if differs { differences.add(1, ordering: .relaxed) } else { sweeps.add(1, ordering: .relaxed) }
    }

    /// - Parameter waiting: Requests whose writes wait for the running transaction.
    func list(waiting: Int, _ pools: [PoolUse], _ hold: HorizonHold?) -> [Measure] {
        let age = hold.map { $0.start.duration(to: .present) / .seconds(1) } ?? 0
        let connections = pools.flatMap { pool in
            [("limit", pool.limit), ("lent", pool.lent), ("waiting", pool.waiting)].map { state, count in
                Measure.Sample(labels: [("pool", pool.name), ("state", state)], value: Double(count))
            }
        }
        return [
            Measure(
                "database_connections", .gauge,
                "Connections to the database: in use (lent), allowed (limit), and callers that wait for one (waiting).",
                connections),
            Measure(
                "transactions_total", .counter, "Transactions that write, committed (kept) and rolled back (undone).",
                by: "outcome",
                [("kept", kept.load(ordering: .relaxed)), ("undone", undone.load(ordering: .relaxed))]),
            Measure("writes_total", .counter, "Writes that were committed.", writes.load(ordering: .relaxed)),
            Measure(
                "swept_tables_total", .counter,
                "Tables that were compared with the server's writes: same, or changed by another program.",
                by: "outcome",
                [("same", sweeps.load(ordering: .relaxed)), ("changed", differences.load(ordering: .relaxed))]),
            Measure(
                "epochs_begun_total", .counter, "New epochs because the database was an older copy.",
                epochs.load(ordering: .relaxed)),
            Measure(
                "missed_ticks_total", .counter, "Ticks that could not be made, so that readers saw older changes.",
                missedTicks.load(ordering: .relaxed)),
            Measure(
                "horizon_age_seconds", .gauge,
                "How long changes have waited for an older transaction, and the process or prepared transaction that has it.",
                [Measure.Sample(labels: [("held_by", hold?.holder ?? "")], value: age)]),
            Measure("waiting_writes", .gauge, "Requests that wait for a transaction.", waiting),
            Measure(
                "lock_wait_seconds_total", .counter, "Time that transactions waited for the order of changes.",
                Double(waited.load(ordering: .relaxed)) / 1e9),
        ]
    }
}
