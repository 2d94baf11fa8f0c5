// The queue of writes: jobs that arrive together share a transaction, and a large one does not wait for another.

import Dispatch
import SynclineCore
import SynclineGround
import SynclineTables
import SynclineWire
import Testing

@testable import SynclineServer

@Suite struct WriteQueueTests {
    private func job(_ count: Int) -> WriteJob {
        let write = TableWrite(.insert(Row([])), table: "t", id: "a", serverProtocol: .zumo2)
        let groups = Array(repeating: [PreparedWrite(write)], count: count)
        return WriteJob(groups, WriteAllowance(RowLimits()), stopsAtRefusal: false, wantsRows: false)
    }

    private static func finish(_ jobs: [WriteJob]) {
        for job in jobs { job.finish(.success(WriteProgress(job.allowance))) }
    }

    /// Carries out a large job, and others while it is at work. Returns the sizes of the groups in the order of their
    /// ends.
    private func groups(leaders: Int, _ others: [Int]) -> [[Int]] {
        let queue = WriteQueue(leaders: leaders)
        let (begun, ends, threads) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchGroup())
        let found = Mutex<[[Int]]>([])
        func start(_ job: WriteJob, _ body: @escaping @Sendable () -> Void) {
            let thread = DispatchQueue(label: "test")
            thread.async(group: threads) {
                queue.carryOut([job]) { jobs in
                    body()
                    found.withLock { $0.append(jobs.map(\.count)) }
                    WriteQueueTests.finish(jobs)
                }
            }
        }
        start(job(1000)) {
            begun.signal()
            ends.wait()
        }
        begun.wait()
        for (place, count) in others.enumerated() {
            start(job(count)) {}
            // Each has joined, or was carried out, before the next one comes.
            while queue.waiting + found.withLock({ $0.joined().count }) <= place {}
        }
        ends.signal()
        threads.wait()
        return found.withLock { $0 }
    }

    @Test func `a large job leads beside another one and takes along what waits`() {
        let found = groups(leaders: 2, [1, 2, 1000, 3])
        // The last one follows either of the two.
        #expect(found.first == [1000, 1, 2] && Set(found.dropFirst()) == [[1000], [3]])
    }

    @Test func `with one leader all wait and share the next transaction`() {
        #expect(groups(leaders: 1, [1, 1000, 3]) == [[1000], [1, 1000, 3]])
    }
}
