// One timed run of appends: writers take batch after batch from a range of records until it is used up or the time is.

import Glibc
import Synchronization

/// What a worker is asked to append.
struct AppendJob: Codable, Sendable {
    var first: Int
    var count: Int
    var batch = 1
    var writers = 1
    var style = EngineVariant.Style.threads
    /// Commits that end later than this after the start do not count, and none is begun.
    var secondsAtMost = 60.0
    /// Writes the moment of the commit into each record, for a follower to read.
    var stamped = false
}

/// Its result.
struct AppendOutcome: Codable, Sendable {
    var records = 0
    var commits = 0
    var seconds = 0.0
    var latency = Histogram()

    fileprivate mutating func add(_ records: Int, _ nanoseconds: UInt64) {
        self.records += records
        commits += 1
        latency.add(nanoseconds)
    }

    fileprivate mutating func add(_ other: AppendOutcome) {
        records += other.records
        commits += other.commits
        latency.add(other.latency)
    }
}

final class AppendRun: Sendable {
    private let engine: any Engine
    private let records: RecordSet
    private let job: AppendJob
    private let next: Atomic<Int>
    private let waiting: Atomic<Int>
    private let beginning = Atomic<UInt64>(0)
    private let total = Mutex(AppendOutcome())
    private let failure = Mutex<(any Error)?>(nil)

    init(_ engine: any Engine, _ records: RecordSet, _ job: AppendJob) {
        self.engine = engine
        self.records = records
        self.job = job
        next = Atomic(job.first)
        waiting = Atomic(job.writers)
    }

    func run() async throws -> AppendOutcome {
        if job.style == .tasks {
            await runTasks()
        } else if job.writers == 1 {
            runThread()
        } else {
            try onThreads(job.writers) { self.runThread() }
        }
        let end = monotonicNanoseconds()
        if let failure = failure.withLock({ $0 }) { throw failure }
        var outcome = total.withLock { $0 }
        outcome.seconds = min(Double(end - beginning.load(ordering: .relaxed)) / 1e9, job.secondsAtMost)
        return outcome
    }

    /// The clock starts when every thread has its session.
    private func runThread() {
        keepingFailure {
            let session = Result { try engine.makeSession() }
            waiting.subtract(1, ordering: .acquiringAndReleasing)
            while waiting.load(ordering: .acquiring) > 0 { sched_yield() }
            markBeginning()
            let writer = try session.get()
            var outcome = AppendOutcome()
            while let range = take() {
                let before = monotonicNanoseconds()
                if job.stamped { for index in range { records.stamp(index, with: before) } }
                try writer.put(records, range)
                guard count(range, since: before, in: &outcome) else { break }
            }
            total.withLock { $0.add(outcome) }
        }
    }

    private func runTasks() async {
        markBeginning()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<job.writers { group.addTask { await self.runTask() } }
        }
    }

    private func runTask() async {
        do {
            guard let writer = try engine.makeTaskSession() else { throw BenchError("no tasks in this engine") }
            var outcome = AppendOutcome()
            while let range = take() {
                let before = monotonicNanoseconds()
                try await writer.put(records, range)
                guard count(range, since: before, in: &outcome) else { break }
            }
            total.withLock { $0.add(outcome) }
        } catch {
            failure.withLock { $0 = $0 ?? error }
        }
    }

    private func keepingFailure(_ body: () throws -> Void) {
        do { try body() } catch { failure.withLock { $0 = $0 ?? error } }
    }

    private func markBeginning() {
        _ = beginning.compareExchange(
            expected: 0, desired: monotonicNanoseconds(), ordering: .acquiringAndReleasing)
    }

    private func take() -> Range<Int>? {
        let end = job.first + job.count
        let start = next.add(job.batch, ordering: .relaxed).oldValue
        guard start < end, isInTime(monotonicNanoseconds()) else { return nil }
        return start..<min(end, start + job.batch)
    }

    /// Counts a commit that just ended; false if the time is up.
    private func count(_ range: Range<Int>, since before: UInt64, in outcome: inout AppendOutcome) -> Bool {
        let now = monotonicNanoseconds()
        guard isInTime(now) else { return false }
        outcome.add(range.count, now - before)
        return true
    }

    private func isInTime(_ now: UInt64) -> Bool {
        Double(now - beginning.load(ordering: .relaxed)) < job.secondsAtMost * 1e9
    }
}
