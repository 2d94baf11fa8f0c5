// Changes from replicas. A replica answers if it has what the reader has seen, of any process or replica: a reader never
// goes back in time, and sees its own writes. What can't be told from a replica is told from the primary.

import SynclineGround
import SynclineTables
import SynclineWire

/// The replicas of a store.
final class Replicas: Sendable {
    let all: [Replica]
    let choice: Mutex<ReplicaChoice>

    init(_ all: [Replica]) {
        self.all = all
        choice = Mutex(ReplicaChoice(count: all.count))
        for replica in all { _ = replica.database }
    }

    func count(_ outcome: ReplicaChoice.Outcome, of place: Int) -> Int {
        choice.withLock { $0.count(outcome, of: place) }
    }

    var measures: [Measure] {
        if all.isEmpty { return [] }
        return [
            Measure(
                "replica_reads_total", .counter,
                "Reads that a replica answered, that it was too late for, or that failed; the last two were asked of another, or of the primary.",
                all.indices.flatMap { place in
                    ReplicaChoice.Outcome.allCases.map { outcome in
                        Measure.Sample(
                            labels: [("replica", String(all[place].number)), ("outcome", outcome.rawValue)],
                            value: Double(count(outcome, of: place)))
                    }
                })
        ]
    }
}

extension SQLStore {
    var hasReplicas: Bool { !replicas.all.isEmpty }

    /// A page of changes from a replica; nil if none has what the reader has seen.
    func changesOfReplica(_ plan: ChangePlan) throws(StoreFailure) -> ChangeOutcome? {
        if !hasReplicas || plan.seen == .max { return nil }
        // A replica that no longer follows the primary, or follows another one, is noticed.
        switch replicas.choice.withLock({ $0.look(now: .present) }) {
        case .none: break
        case .soon: OwnThread.run { [weak self] in _ = try? self?.mark() }
        case .now: _ = try? mark()
        }
        let (places, needed) = replicas.choice.withLock { choice in
            (choice.candidates(for: plan.seen, now: .present), choice.needed(plan.seen))
        }
        for place in places {
            let replica = replicas.all[place]
            guard let database = replica.database else {
                replicas.choice.withLock { $0.noteSilence(place, now: .present) }
                continue
            }
            do throws(StoreFailure) {
                let reading = try database.read { connection throws(StoreFailure) in
                    try page(plan, connection, needed, replica)
                }
                switch reading {
                case .done(let outcome):
                    replicas.choice.withLock { $0.note(place, .answered, has: outcome.mark.change, now: .present) }
                    return outcome
                case .late(let change):
                    replicas.choice.withLock { choice in
                        choice.note(place, .late, has: change, now: .present)
                        if change == 0 { choice.noteSilence(place, now: .present) }
                    }
                }
            } catch {
                // A refusal that is not the database's holds for the primary, too.
                let isLate = WorkLimit.current?.stop == .late
                if case .refused(let refusal) = error, refusal.cause == nil, !isLate { throw error }
                // The database ends reads that are in the way of what it follows.
                let isInWay = error.reason?.kind == .serialization
                replicas.choice.withLock { choice in
                    choice.count(place, .failed)
                    if !isInWay { choice.noteSilence(place, now: .present) }
                }
                // The time of the request is over for the primary, too.
                try WorkLimit.current?.check()
                if !isInWay { replica.tell("can't be used: \(StartFailure(error).message)") }
            }
        }
        return nil
    }

    /// A page from a replica, with the columns and rules that are known here, or the latest change that it has.
    private func page(
        _ plan: ChangePlan, _ connection: any SQLConnection, _ needed: Int64, _ replica: Replica
    ) throws(StoreFailure) -> TickedReading<ChangeOutcome> {
        let catalogue = currentCatalogue
        guard let statements = catalogue.tables[plan.table] else { return .late(0) }
        var (number, schema) = (catalogue.number, 0 as Int64)
        let reading = try page(plan, statements, connection, &number) { () throws(StoreFailure) in
            try connection.later(StateSQL.schema) { schema = $0.value(0).integer }
            let state = try connection.state(numbers, dialect)
            guard state.origin == .standby else {
                replica.tell("is not used: it is not a standby")
                return .late(0)
            }
            // A new epoch, new columns or rules may not have reached it.
            guard state.epoch == catalogue.epoch, schema == catalogue.number else {
                replica.tell("is not used: it lacks the current epoch, columns or rules")
                return .late(0)
            }
            if state.change < needed { return .late(state.change) }
            replica.tell("")
            return .done(state.mark)
        }
        // The rules are those of the catalogue, unless there is a new one by now.
        return number == catalogue.number && currentCatalogue.number == number ? reading : .late(0)
    }
}
