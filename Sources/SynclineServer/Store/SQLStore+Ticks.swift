// Ticks: a reader makes one if numbers were issued since the last, and so does a writer after its commit, so that
// standbys and other processes see it. Requests that need a tick at the same time share one.

import Dispatch
import SynclineGround
import SynclineTables

/// A request for a tick.
final class TickJob: Sendable {
    fileprivate let turn = DispatchSemaphore(value: 0)
    fileprivate let isDone = Atomic(false)
}

/// The result of a read, or the latest number that was issued and that it doesn't see.
enum TickedReading<Result> {
    case done(Result)
    case late(Int64)

    func map<Other>(_ body: (Result) throws(StoreFailure) -> Other) throws(StoreFailure) -> TickedReading<Other> {
        switch self {
        case .done(let result): .done(try body(result))
        case .late(let issued): .late(issued)
        }
    }
}

/// What readers wait for: a transaction that is older than the changes after the horizon.
struct HorizonHold: Hashable, Sendable {
    /// The horizon's number.
    let change: Int64
    let since: ContinuousClock.Instant
    /// A process or a prepared transaction.
    var holder = ""
    /// When the first change that waits was made.
    var start: ContinuousClock.Instant
    var isTold = false

    init(_ change: Int64, since: ContinuousClock.Instant) {
        (self.change, self.since, start) = (change, since, since)
    }

    var isLong: Bool { since.duration(to: .present) >= .seconds(1) }
}

final class TickQueue: Sendable {
    private struct Plan {
        /// Whether a tick after a commit is due already, and whether the horizon is being watched.
        var (isDue, isWatched, isOver) = (false, false, false)
        var last: ContinuousClock.Instant?
        /// The time until the horizon is looked at again, while a transaction holds it.
        var pause = TickQueue.least
        var hold: HorizonHold?
        /// The number of the latest horizon.
        var horizon: Int64 = 0
    }

    /// The least time between two ticks after commits.
    private static let least = Duration.milliseconds(5)
    private static let longest = Duration.milliseconds(160)

    private let jobs = Mutex(GroupCommit<TickJob>())
    private let plan = Mutex(Plan())
    private let queue = DispatchQueue(label: "syncline.ticks")

    var hold: HorizonHold? { plan.withLock { $0.hold } }
    var isHeld: Bool { hold?.isLong == true }

    /// Returns after a tick that began after this call.
    fileprivate func carryOut(_ tick: () -> Void) {
        let job = TickJob()
        if !jobs.withLock({ $0.join(job) }) {
            job.turn.wait()
            if job.isDone.load(ordering: .acquiring) { return }
        }
        let group = jobs.withLock { $0.take() }
        plan.withLock { $0.last = .present }
        tick()
        let next = jobs.withLock { $0.passOn() }
        for other in group where other !== job {
            other.isDone.store(true, ordering: .releasing)
            other.turn.signal()
        }
        next?.turn.signal()
    }

    /// Lets a tick follow a commit at once, or after the least time between two.
    fileprivate func follow(_ body: @escaping @Sendable () -> Void) {
        let delay = plan.withLock { plan -> Duration? in
            if plan.isDue || plan.isOver { return nil }
            plan.isDue = true
            return plan.last.map { max(.zero, TickQueue.least - $0.duration(to: .present)) } ?? .zero
        }
        if let delay { run(after: delay, { $0.isDue = false }, body) }
    }

    /// Watches the horizon while a transaction holds it.
    fileprivate func watch(_ body: @escaping @Sendable () -> Void) {
        let delay = plan.withLock { plan -> Duration? in
            if plan.isWatched || plan.isOver { return nil }
            (plan.isWatched, plan.pause) = (true, min(plan.pause * 2, TickQueue.longest))
            return plan.pause
        }
        if let delay { run(after: delay, { $0.isWatched = false }, body) }
    }

    private func run(
        after delay: Duration, _ begin: @escaping @Sendable (inout Plan) -> Void, _ body: @escaping @Sendable () -> Void
    ) {
        queue.asyncAfter(deadline: .now() + .nanoseconds(Int(delay / .nanoseconds(1)))) { [weak self] in
            guard let self else { return }
            let isOver = plan.withLock { plan in
                begin(&plan)
                return plan.isOver
            }
            if !isOver { body() }
        }
    }

    /// Whether the horizon has moved.
    fileprivate func isNew(_ state: DatabaseState) -> Bool {
        plan.withLock { plan in
            defer { plan.horizon = state.change }
            return plan.horizon != state.change
        }
    }

    /// Whether the horizon of this process's own tick is at least at a number.
    func hasSeen(_ change: Int64) -> Bool { plan.withLock { $0.horizon >= change } }

    func end() { plan.withLock { $0.isOver = true } }

    /// Learns where the horizon is. Returns the hold if it has lasted for a second.
    fileprivate func note(_ state: DatabaseState) -> HorizonHold? {
        plan.withLock { plan in
            guard state.change < state.ticked else {
                (plan.hold, plan.pause) = (nil, TickQueue.least)
                return nil
            }
            if plan.hold?.change != state.change {
                (plan.hold, plan.pause) = (HorizonHold(state.change, since: .present), TickQueue.least)
            }
            return plan.hold.flatMap { $0.isLong ? $0 : nil }
        }
    }

    fileprivate func note(_ hold: HorizonHold) {
        plan.withLock { if $0.hold?.change == hold.change { $0.hold = hold } }
    }
}

extension SQLStore {
    /// Reads with the body. If numbers were issued that it doesn't see, it runs again after a tick, and after the
    /// transactions that the tick waits for, unless they take long.
    func ticking<Result>(
        _ read: (_ wanted: Int64?) throws(StoreFailure) -> TickedReading<Result>
    ) throws(StoreFailure) -> Result {
        let wanted: Int64
        switch try read(nil) {
        case .done(let result): return result
        case .late(let issued): wanted = issued
        }
        ticks.carryOut(tick)
        let (start, patience) = (ContinuousClock.Instant.present, environment.patience(isHeld: ticks.isHeld))
        var pause = Duration.microseconds(250)
        while start.duration(to: .present) < patience {
            if case .done(let result) = try read(wanted) { return result }
            pause.block()
            pause = min(pause * 2, .milliseconds(8))
        }
        guard case .done(let result) = try read(.min) else { throw .broken("a read that may be late has no result") }
        return result
    }

    /// Lets a tick follow a commit soon.
    func tickSoon() {
        ticks.follow { [weak self] in self?.tickAgain() }
    }

    private func tickAgain() { ticks.carryOut(tick) }

    /// Looks for the end of a transaction that holds changes back.
    func watchHorizon() { ticks.watch { [weak self] in self?.tickAgain() } }

    /// Without a tick, readers see the changes up to the last one.
    private func tick() {
        do throws(StoreFailure) {
            try database.write { connection throws(StoreFailure) in
                try connection.execute(NumberSource.tick(clock: environment.databaseClock))
                let state = try connection.state(numbers, dialect)
                if let hold = ticks.note(state) { try look(at: hold, connection) }
                if state.change < state.ticked { watchHorizon() }
                if ticks.isNew(state) { tellListener() }
            }
        } catch {
            counts.noteMissedTick()
        }
    }

    /// Finds out what holds the horizon, and tells it once.
    private func look(at hold: HorizonHold, _ connection: any SQLConnection) throws(StoreFailure) {
        guard let values = try connection.first(NumberSource.holder, count: 2) else { return }
        var hold = hold
        hold.holder = values[0].text
        hold.start = .present - .milliseconds(max(0, values[1].integer))
        if !hold.isTold, hold.since.duration(to: .present) > .seconds(10) {
            hold.isTold = true
            note("clients don't see the latest changes until the transaction of \(hold.holder) ends")
        }
        ticks.note(hold)
    }

    /// The plan with the time up to which lists by time are complete; without a time if they always are.
    func closed(
        _ plan: ListPlan, _ connection: any SQLConnection, _ wanted: Int64?
    ) throws(StoreFailure) -> TickedReading<ListPlan> {
        if !plan.namesTime || numbers == .line { return .done(plan) }
        let state = try connection.state(numbers, dialect)
        if let issued = state.late(for: wanted) { return .late(issued) }
        var plan = plan
        plan.until = state.closed
        return .done(plan)
    }
}
