// Works on the records of a log on several threads, and gives the results in the order of the log.

import CLibrary
import Dispatch
import SegmentLog
import SynclineGround

/// Records with their numbers, copied from a walk.
struct NumberedRecords: Sendable {
    private var records = RecordBatch()
    private var numbers: [UInt64] = []

    var isEmpty: Bool { numbers.isEmpty }
    /// Whether they are enough work for a thread.
    var isFull: Bool { records.wire.count >= 128 << 10 }

    mutating func add(_ number: UInt64, _ record: UnsafeRawBufferPointer) {
        records.append(record)
        numbers.append(number)
    }

    func forEach<Failure>(
        _ body: (UInt64, UnsafeRawBufferPointer) throws(Failure) -> Void
    ) throws(Failure) {
        var numbers = numbers[...]
        try records.forEach { record throws(Failure) in try body(numbers.removeFirst(), record) }
    }
}

/// The threads, each of which gets every n-th batch.
struct RecordPipeline<Output: Sendable> {
    typealias Work = @Sendable (NumberedRecords) throws -> Output

    private final class Job: Sendable {
        let output = Mutex<Result<Output, any Error>?>(nil)
        let done = DispatchSemaphore(value: 0)
    }

    private let threads: [(queue: DispatchQueue, work: Work)]
    private var batch = NumberedRecords()
    private var started = 0
    /// Batches whose output was not taken, the oldest first.
    private var jobs: [Job] = []

    /// - Parameter work: Returns the work of one thread, which does one batch after the other.
    init(_ work: () -> Work) {
        let count = min(8, max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))))
        threads = (0..<count).map { (DispatchQueue(label: "syncline.records.\($0)"), work()) }
    }

    mutating func add(_ number: UInt64, _ record: UnsafeRawBufferPointer, _ take: (Output) throws -> Void) throws {
        batch.add(number, record)
        if batch.isFull { try start(take) }
    }

    /// Waits for all threads.
    mutating func finish(_ take: (Output) throws -> Void) throws {
        if !batch.isEmpty { try start(take) }
        while !jobs.isEmpty { try takeOldest(take) }
    }

    private mutating func start(_ take: (Output) throws -> Void) throws {
        // Each thread has another batch, so that it does not wait for the walk.
        if jobs.count == 2 * threads.count { try takeOldest(take) }
        let job = Job()
        let (queue, work) = threads[started % threads.count]
        queue.async { [batch] in
            let output = Result { try work(batch) }
            job.output.withLock { $0 = output }
            job.done.signal()
        }
        jobs.append(job)
        started += 1
        batch = NumberedRecords()
    }

    private mutating func takeOldest(_ take: (Output) throws -> Void) throws {
        let job = jobs.removeFirst()
        job.done.wait()
        guard let output = job.output.withLock({ $0 }) else { preconditionFailure("a finished job has its output") }
        try take(output.get())
    }
}
