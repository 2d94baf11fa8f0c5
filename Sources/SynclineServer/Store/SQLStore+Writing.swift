// Writes: one transaction for all requests that arrive together, in which each write is looked up, decided and carried
// out in turn. Nothing of it is visible before all of it is durable.

import SynclineGround
import SynclineTables

extension SQLStore {
    func write(
        _ groups: [[TableWrite]], stopsAtRefusal: Bool, wantsRows: Bool
    ) throws(StoreFailure) -> [[WriteOutcome]] {
        let prepared = try groups.map { group throws(StoreFailure) in
            try group.map { write throws(StoreFailure) in try prepare(write) }
        }
        var done = WriteProgress(WriteAllowance(limits))
        // A large job lets others run after each part of it.
        while done.outcomes.count < groups.count, !done.isStopped {
            let rest = Array(prepared.dropFirst(done.outcomes.count))
            let job = WriteJob(rest, done.allowance, stopsAtRefusal: stopsAtRefusal, wantsRows: wantsRows)
            queue.carryOut([job]) { perform($0) }
            guard let result = job.result else { throw .broken("a write was not carried out") }
            switch result {
            case .success(let part): done.add(part)
            // The outcomes of earlier parts are reported.
            case .failure(let failure) where done.outcomes.isEmpty: throw failure
            case .failure(let failure): done.add(job.failed(failure))
            }
        }
        return done.outcomes + groups.dropFirst(done.outcomes.count).map { $0.map { _ in .notAttempted } }
    }

    func write(together writes: [TableWrite]) -> [Result<WriteOutcome, StoreFailure>] {
        let prepared = writes.map { write in
            Result { () throws(StoreFailure) in
                WriteJob([[try prepare(write)]], WriteAllowance(limits), stopsAtRefusal: false, wantsRows: true)
            }
        }
        queue.carryOut(prepared.compactMap { try? $0.get() }) { perform($0) }
        return prepared.map { job in
            job.flatMap { $0.result ?? .failure(.broken("a write was not carried out")) }
                .map { $0.outcomes.first?.first ?? .notAttempted }
        }
    }

    private func prepare(_ write: TableWrite) throws(StoreFailure) -> PreparedWrite {
        guard let schema = schema(write.table) else { return PreparedWrite(write) }
        let row = write.isPatch ? try row(write.table, id: write.id) : nil
        return PreparedWrite(write, schema, on: row, mayBegin: limits.mayBegin(schema, limits.newColumns))
    }

    /// Finishes each job. They share a transaction, which is repeated if others were in the way; if that fails, they share
    /// one in which a group's failure affects only that group; and if that fails too, for example because the database
    /// ends it or refuses the commit, each has its own.
    func perform(_ jobs: [WriteJob]) {
        var failure: StoreFailure?
        for number in 0..<SQLStore.attempts {
            // What is careful locks rows one by one, and meets others again.
            let isCareful = failure.map { !$0.isContest || number >= SQLStore.attempts / 2 } ?? false
            do throws(AttemptFailure) {
                return finish(jobs, try attempt(jobs, isCareful, after: failure))
            } catch {
                var reason = error.reason
                if case .replaced = reason, !isCareful {
                    do throws(StoreFailure) {
                        try beginEpoch()
                        failure = reason
                        continue
                    } catch {
                        reason = error
                    }
                }
                let isRepeated = reason.isContest && number + 1 < SQLStore.attempts
                if isRepeated {
                    failure = reason
                    continue
                }
                if error.failsWholeGroup || isCareful && reason.isBusy {
                    return jobs.forEach { $0.finish(.failure(reason)) }
                }
                failure = reason
                if isCareful { break }
            }
        }
        if jobs.count > 1 { return jobs.forEach { perform([$0]) } }
        guard let job = jobs.first, let failure else { return }
        job.finish(.success(job.groups.count > 1 ? apart(job) : job.failed(failure)))
    }

    /// How often writes are attempted that meet others.
    private static let attempts = 6

    private func finish(_ jobs: [WriteJob], _ results: [WriteProgress]) {
        for (job, result) in zip(jobs, results) { job.finish(.success(result)) }
    }

    /// A job's groups, each in its own transaction.
    private func apart(_ job: WriteJob) -> WriteProgress {
        var done = WriteProgress(job.allowance)
        for group in job.groups where !done.isStopped {
            let part = WriteJob([group], done.allowance, stopsAtRefusal: job.stopsAtRefusal, wantsRows: job.wantsRows)
            perform([part])
            switch part.result {
            case .success(let progress)?: done.add(progress)
            case .failure(let failure)?: done.add(part.failed(failure))
            case nil: done.add(part.failed(.broken("a write was not carried out")))
            }
        }
        return done
    }

    /// All jobs in one transaction, which uses savepoints if it is careful.
    private func attempt(
        _ jobs: [WriteJob], _ isCareful: Bool, after failure: StoreFailure?
    ) throws(AttemptFailure) -> [WriteProgress] {
        var stage = WriteStage.beginning
        var (written, isKept) = (0, false)
        defer { counts.note(writes: written, isKept: isKept) }
        do throws(StoreFailure) {
            return try database.write { connection throws(StoreFailure) in
                var grown: StoreCatalogue?
                var after: DatabaseState?
                let start = ContinuousClock.Instant.present
                let begin = numbers.beginWrites(dialect, inSets: jobs.count > 1 || (jobs.first?.count ?? 0) > 1)
                let (results, hasEffect) = try connection.transaction(begin) { () throws(StoreFailure) in
                    var writer = try StoreTransaction(self, connection, jobs, isCareful: isCareful, after: failure)
                    counts.note(lockedAfter: start.duration(to: .present))
                    stage = .writing
                    var results: [WriteProgress] = []
                    for job in jobs { results.append(try writer.write(job)) }
                    try writer.finish()
                    (grown, after) = (writer.catalogue, writer.after)
                    stage = .committing
                    return ((results, writer.hasEffect), writer.hasEffect)
                }
                written = results.reduce(0) { $0 + $1.outcomes.reduce(0) { $0 + $1.count } }
                isKept = hasEffect
                if let after, hasEffect {
                    noteCommitted(after)
                    if numbers == .ticks { tickSoon() } else { tellListener() }
                }
                if let grown { publish(grown) }
                return results
            }
        } catch {
            throw AttemptFailure(reason: error, stage: stage)
        }
    }
}

extension WriteJob {
    /// The progress if the database carried out nothing of it.
    fileprivate func failed(_ failure: StoreFailure) -> WriteProgress {
        var progress = WriteProgress(allowance)
        progress.outcomes = groups.map { $0.map { _ in .failed(failure) } }
        progress.isStopped = stopsAtRefusal
        return progress
    }
}

extension WriteProgress {
    fileprivate mutating func add(_ part: WriteProgress) {
        outcomes += part.outcomes
        (allowance, isStopped) = (part.allowance, part.isStopped)
    }
}

private enum WriteStage {
    case beginning, writing, committing
}

/// The reason why a transaction was not carried out.
private struct AttemptFailure: Error {
    let reason: StoreFailure
    let stage: WriteStage

    /// Whether none of its writes is the cause: the database is not available, or the result of the commit is unknown.
    var failsWholeGroup: Bool {
        switch stage {
        case .beginning: if case .changed = reason { false } else { true }
        case .writing: false
        case .committing: reason.isBusy
        }
    }
}

extension StoreFailure {
    fileprivate var isBusy: Bool { if case .busy = self { true } else { false } }

    /// Whether another transaction was in the way, so that the same may succeed now.
    fileprivate var isContest: Bool {
        if case .busy(let reason) = self { [.deadlock, .serialization].contains(reason.kind) } else { false }
    }
}
