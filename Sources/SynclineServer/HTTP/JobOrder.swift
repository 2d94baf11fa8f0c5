// Decides which job a worker carries out next, and which one makes room for others. Jobs that take long get at most half of the
// workers: a request for a page never waits for all those that look through a table. Nobody can tell beforehand which jobs take
// long. If one turns out to while that half is taken and others wait, it stops, and begins again when it is its turn.

struct JobOrder: Sendable {
    /// What bounds jobs that come from clients that do not wait for each other.
    struct Bounds: Hashable, Sendable {
        /// How many jobs may wait, of all clients.
        var waiting: Int
        /// How many of one client's jobs may run at a time.
        var running: Int
    }

    enum Admission: Hashable, Sendable {
        case begins, waits
        /// As many jobs wait as may.
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

    let workers: Int
    let bounds: Bounds?
    private var waiting: [Job] = []
    private var running: [Int: Running] = [:]
    /// A job that runs for longer takes long. Most reads take less than a tenth of it.
    static let patience = Duration.milliseconds(25)

    init(workers: Int, bounds: Bounds?) {
        self.workers = workers
        self.bounds = bounds
    }

    /// How many jobs that take long may run at a time.
    private var longLimit: Int { (workers + 1) / 2 }
    private var longRunning: Int { running.values.count { $0.job.isLong } }

    var waitingCount: Int { waiting.count }
    var runningCount: Int { running.count }

    mutating func arrive(_ number: Int, of client: ClientAddress, now: ContinuousClock.Instant) -> Admission {
        let job = Job(number: number, client: client)
        // A worker that is free has found nothing among those that wait.
        if running.count < workers, mayRun(job, counts) {
            running[number] = Running(job: job, since: now)
            return .begins
        }
        guard hasRoom(for: client) else { return .full }
        waiting.append(job)
        return .waits
    }

    /// One client's jobs take up at most half of the room.
    private func hasRoom(for client: ClientAddress) -> Bool {
        guard let bounds else { return true }
        return waiting.count < bounds.waiting && waiting.count { $0.client == client } < (bounds.waiting + 1) / 2
    }

    /// A job's worker is free. A job that made room is to be carried out again.
    mutating func end(_ number: Int, madeRoom: Bool) {
        guard var job = running.removeValue(forKey: number)?.job, madeRoom else { return }
        job.isLong = true
        // Before all that take long and came later, because it has the lower number.
        waiting.append(job)
    }

    /// The next job for a worker that is free; nil if there is none.
    mutating func next(now: ContinuousClock.Instant) -> Int? {
        guard running.count < workers, !waiting.isEmpty else { return nil }
        let counts = counts
        // Half of their places are theirs while others wait, so that they end some time.
        let isTurnOfLong = longRunning * 2 < longLimit
        let place = waiting.indices.filter { mayRun(waiting[$0], counts) }.min { one, other in
            let (one, other) = (waiting[one], waiting[other])
            if one.isLong != other.isLong { return one.isLong == isTurnOfLong }
            // The oldest job of the client that has the fewest running.
            return (counts[one.client, default: 0], one.number) < (counts[other.client, default: 0], other.number)
        }
        guard let place else { return nil }
        let job = waiting.remove(at: place)
        running[job.number] = Running(job: job, since: now)
        return job.number
    }

    /// How many of each client's jobs run.
    private var counts: [ClientAddress: Int] {
        guard bounds != nil else { return [:] }
        return running.values.reduce(into: [:]) { $0[$1.job.client, default: 0] += 1 }
    }

    private func mayRun(_ job: Job, _ counts: [ClientAddress: Int]) -> Bool {
        guard let bounds else { return true }
        return counts[job.client, default: 0] < bounds.running && (!job.isLong || longRunning < longLimit)
    }

    /// The jobs that are to make room, of those that have turned out to take long: one for each job that waits and may be quick,
    /// those that have run for longest first. To be asked now and then.
    mutating func crowders(now: ContinuousClock.Instant) -> [Int] {
        guard bounds != nil, workers > 1 else { return [] }
        let counts = counts
        var wanted = waiting.count { !$0.isLong && mayRun($0, counts) } - running.values.count { $0.isToMakeRoom }
        var crowders: [Int] = []
        let found = running.filter {
            !$1.job.isLong && !$1.isToMakeRoom && $1.since.duration(to: now) > JobOrder.patience
        }
        for (number, _) in found.sorted(by: { ($0.value.since, $0.key) < ($1.value.since, $1.key) }) {
            if longRunning < longLimit {
                running[number]?.job.isLong = true
            } else if wanted > 0 {
                running[number]?.isToMakeRoom = true
                crowders.append(number)
                wanted -= 1
            }
        }
        return crowders
    }
}
