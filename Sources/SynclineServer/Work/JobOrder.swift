// Decides which job a worker carries out next, and which one makes room for others. Long jobs get at most half of the
// workers, so a request for a page never waits for all requests that scan a table. It is not known in advance which
// jobs take long. If a job turns out to while that half is taken and others wait, it stops, and starts again when it is
// its turn. On a busy machine that also happens to short jobs of clients that ask for little. So among long jobs, those
// come first whose clients have used the least time.

struct JobOrder: Sendable {
    /// Limits for jobs of independent clients.
    struct Bounds: Hashable, Sendable {
        /// The number of jobs that may wait, over all clients.
        var waiting: Int
        /// The time for which a job may be expected to wait.
        var wait = Duration.seconds(10)
        /// The number of one client's jobs that may run at a time.
        var running: Int
    }

    enum Admission: Hashable, Sendable {
        case begins, waits
        /// Too many jobs already wait.
        case full
    }

    private struct Job: Sendable {
        let number: Int
        let client: ClientAddress
        var isLong = false
    }

    private struct Running: Sendable {
        var job: Job
        let since: ContinuousClock.Instant
        var isToMakeRoom = false
    }

    /// A client with running or waiting jobs, or with long jobs in the recent past.
    private struct Client: Sendable {
        var running = 0
        /// The time that its long jobs took, less a part of the time since.
        private var used = Duration.zero
        private var usedAt: ContinuousClock.Instant?

        func used(now: ContinuousClock.Instant) -> Duration {
            guard let usedAt else { return .zero }
            return max(.zero, used - usedAt.duration(to: now) / JobOrder.forgetting)
        }

        mutating func use(_ time: Duration, now: ContinuousClock.Instant) {
            (used, usedAt) = (used(now: now) + time, now)
        }

        func isForgotten(now: ContinuousClock.Instant) -> Bool {
            running == 0 && waiting == 0 && used(now: now) == .zero
        }

        /// The number of its waiting jobs, including long ones.
        var waiting = 0
        /// Its waiting jobs that are not known to be long, oldest first.
        var quick = WaitingLine<Int>()
    }

    let workers: Int
    let bounds: Bounds
    private var clients: [ClientAddress: Client] = [:]
    private var running: [Int: Running] = [:]
    private var longRunning = 0
    /// Jobs that made room and wait again.
    private var long: [Job] = []
    private(set) var waitingCount = 0
    /// The average time that recent quick jobs took.
    private var quickTime = Duration.zero
    /// A job that runs for longer counts as long. Most reads take less than a tenth of it.
    static let longAfter = Duration.milliseconds(12)
    /// How much time has to pass until a unit of used time is forgotten.
    private static let forgetting = 20

    init(workers: Int, bounds: Bounds) {
        self.workers = workers
        self.bounds = bounds
    }

    /// The number of long jobs that may run at a time.
    private var longLimit: Int { (workers + 1) / 2 }

    var runningCount: Int { running.count }

    mutating func arrive(_ number: Int, of client: ClientAddress, now: ContinuousClock.Instant) -> Admission {
        let job = Job(number: number, client: client)
        let has = clients[job.client].map { (running: $0.running, waiting: $0.waiting) } ?? (running: 0, waiting: 0)
        // A free worker has found nothing to run among the waiting jobs.
        if running.count < workers, mayRun(beside: has.running) {
            clients[job.client, default: Client()].running += 1
            running[number] = Running(job: job, since: now)
            return .begins
        }
        guard hasRoom(beside: has.waiting) else { return .full }
        wait(job)
        return .waits
    }

    private mutating func wait(_ job: Job) {
        waitingCount += 1
        clients[job.client, default: Client()].waiting += 1
        if job.isLong { long.append(job) } else { clients[job.client]?.quick.append(job.number) }
    }

    /// One client's jobs fill at most half of the room.
    private func hasRoom(beside waiting: Int) -> Bool {
        waitingCount < bounds.waiting && waiting < (bounds.waiting + 1) / 2
            && expectedWait(beside: waitingCount - long.count) <= bounds.wait
            && expectedWait(beside: waiting) <= bounds.wait / 2
    }

    /// The time until a new job begins if this number of others wait that are not known to be long.
    private func expectedWait(beside waiting: Int) -> Duration { quickTime * waiting / workers }

    private func mayRun(beside running: Int) -> Bool { running < bounds.running }

    /// Called when a job's worker is free. A job that made room is carried out again.
    mutating func end(_ number: Int, madeRoom: Bool, now: ContinuousClock.Instant) {
        guard let ended = running.removeValue(forKey: number) else { return }
        var job = ended.job
        clients[job.client]?.running -= 1
        if job.isLong { longRunning -= 1 }
        if !job.isLong, !madeRoom { quickTime += (ended.since.duration(to: now) - quickTime) / 16 }
        if job.isLong || madeRoom { clients[job.client]?.use(ended.since.duration(to: now), now: now) }
        if madeRoom {
            job.isLong = true
            wait(job)
        } else if job.isLong {
            clients = clients.filter { !$0.value.isForgotten(now: now) }
        } else if clients[job.client]?.isForgotten(now: now) ?? false {
            clients[job.client] = nil
        }
    }

    /// The next job for a free worker; nil if there is none.
    mutating func next(now: ContinuousClock.Instant) -> Int? {
        guard running.count < workers, waitingCount > 0 else { return nil }
        // Half of the places for long jobs stay theirs even while others wait, so that they finish at some point.
        let isTurnOfLong = longRunning * 2 < longLimit
        guard let job = isTurnOfLong ? takeLong(now) ?? takeQuick() : takeQuick() ?? takeLong(now) else { return nil }
        clients[job.client]?.running += 1
        clients[job.client]?.waiting -= 1
        waitingCount -= 1
        if job.isLong { longRunning += 1 }
        running[job.number] = Running(job: job, since: now)
        return job.number
    }

    /// The oldest job of the client with the fewest running jobs.
    private mutating func takeQuick() -> Job? {
        var best: (client: ClientAddress, rank: (Int, Int))?
        for (address, client) in clients where mayRun(beside: client.running) {
            guard let first = client.quick.first else { continue }
            let rank = (client.running, first)
            if best.map({ rank < $0.rank }) ?? true { best = (address, rank) }
        }
        guard let address = best?.client, let number = clients[address]?.quick.removeFirst() else { return nil }
        return Job(number: number, client: address)
    }

    /// The oldest long job of the client that has used the least time.
    private mutating func takeLong(_ now: ContinuousClock.Instant) -> Job? {
        guard longRunning < longLimit else { return nil }
        let found = long.indices.compactMap { index -> (index: Int, rank: (Duration, Int))? in
            guard let client = clients[long[index].client], mayRun(beside: client.running) else { return nil }
            return (index, (client.used(now: now), long[index].number))
        }
        return found.min { $0.rank < $1.rank }.map { long.remove(at: $0.index) }
    }

    /// The long jobs that must make room: one for each waiting job that may be quick, longest-running first. Call this
    /// from time to time.
    mutating func crowders(now: ContinuousClock.Instant) -> [Int] {
        guard workers > 1 else { return [] }
        var wanted = clients.values.reduce(0) { $0 + (mayRun(beside: $1.running) ? $1.quick.count : 0) }
        wanted -= running.values.count { $0.isToMakeRoom }
        var crowders: [Int] = []
        let found = running.filter {
            !$1.job.isLong && !$1.isToMakeRoom && $1.since.duration(to: now) > JobOrder.longAfter
        }
        for (number, _) in found.sorted(by: { ($0.value.since, $0.key) < ($1.value.since, $1.key) }) {
            if longRunning < longLimit {
                running[number]?.job.isLong = true
                longRunning += 1
            } else if wanted > 0 {
                running[number]?.isToMakeRoom = true
                crowders.append(number)
                wanted -= 1
            }
        }
        return crowders
    }
}
