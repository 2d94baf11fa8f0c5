// What is carried out off the threads that serve connections: all of it, so many at once, and nothing after the end.

import Dispatch
import Synchronization
import Testing

@testable import SynclineServer

@Suite struct WorkerPoolTests {
    /// How many jobs run at a time, and how many have run.
    private final class Count: Sendable {
        private let state = Mutex((now: 0, most: 0, done: 0))

        func begin() {
            state.withLock { state in
                state.now += 1
                state.most = max(state.most, state.now)
            }
        }

        func end() {
            state.withLock { state in
                state.now -= 1
                state.done += 1
            }
        }

        var figures: (now: Int, most: Int, done: Int) { state.withLock { $0 } }
    }

    @Test func `every job is carried out once, and no more at a time than there are workers`() {
        let pool = WorkerPool("test", workers: 3)
        let count = Count()
        for _ in 0..<200 {
            let admission = pool.carryOut {
                count.begin()
                count.end()
            }
            #expect(admission == .taken)
        }
        pool.close()
        #expect(count.figures.done == 200)
        #expect(count.figures.now == 0)
        #expect(count.figures.most <= 3)
    }

    @Test func `jobs that wait for each other all get a worker`() {
        let pool = WorkerPool("test", workers: 4)
        let (arrived, go) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        for _ in 0..<4 {
            _ = pool.carryOut {
                arrived.signal()
                go.wait()
            }
        }
        // Each of the four is at work while none can end.
        for _ in 0..<4 { arrived.wait() }
        for _ in 0..<4 { go.signal() }
        pool.close()
    }

    @Test func `a pool that is closed takes no job, and has done those it took`() {
        let pool = WorkerPool("test", workers: 1)
        let done = Atomic(0)
        for _ in 0..<10 { _ = pool.carryOut { done.add(1, ordering: .relaxed) } }
        pool.close()
        #expect(done.load(ordering: .relaxed) == 10)
        #expect(pool.carryOut { done.add(1, ordering: .relaxed) } == .closed)
        #expect(done.load(ordering: .relaxed) == 10)
    }

    @Test func `others take the place of jobs that take long, and there are no more workers afterwards`() {
        let pool = WorkerPool("test", workers: 2, bounds: .init(waiting: 10, running: 10, extra: 2))
        let (arrived, go) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let count = Count()
        for _ in 0..<6 {
            _ = pool.carryOut {
                count.begin()
                arrived.signal()
                go.wait()
                count.end()
            }
        }
        for _ in 0..<2 { arrived.wait() }
        pool.relieve()
        #expect(pool.waitingCount == 4, "it is too early")
        let later = ContinuousClock.now + .seconds(60)
        pool.relieve(now: later)
        for _ in 0..<2 { arrived.wait() }
        // The bound is reached: those that came are long as well, and nobody comes for them.
        pool.relieve(now: later)
        #expect(pool.waitingCount == 2 && count.figures.now == 4)
        for _ in 0..<6 { go.signal() }
        for _ in 0..<2 { arrived.wait() }
        while count.figures.done < 6 {}
        // All of it was done, and two can be at work again, no more.
        for _ in 0..<4 {
            _ = pool.carryOut {
                arrived.signal()
                go.wait()
            }
        }
        for _ in 0..<2 { arrived.wait() }
        #expect(pool.waitingCount == 2)
        for _ in 0..<4 { go.signal() }
        pool.close()
        #expect(count.figures.most == 4)
    }

    @Test func `a client whose jobs take long gets the next one done`() {
        let pool = WorkerPool("test", workers: 1, bounds: .init(waiting: 10, running: 1, extra: 3))
        let (arrived, go) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        for _ in 0..<4 {
            _ = pool.carryOut {
                arrived.signal()
                go.wait()
            }
        }
        for _ in 0..<4 {
            arrived.wait()
            // Another worker comes, and has nothing to do.
            pool.relieve(now: .now + .seconds(60))
            go.signal()
        }
        pool.close()
    }

    @Test func `no client takes all workers, nor all of the room`() {
        let pool = WorkerPool("test", workers: 2, bounds: .init(waiting: 4, running: 1))
        let (one, other) = (ClientAddress.v4(1), ClientAddress.v4(2))
        let order = Mutex<[String]>([])
        let (arrived, go) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        func ask(_ client: ClientAddress, _ name: String) -> WorkerPool.Admission {
            pool.carryOut(for: client) {
                order.withLock { $0.append(name) }
                arrived.signal()
                go.wait()
            }
        }
        #expect(ask(one, "one 1") == .taken)
        arrived.wait()
        // One of its jobs runs, two wait; there is no room for more of them, though there is for others.
        #expect((2...4).map { ask(one, "one \($0)") } == [.taken, .taken, .full])
        #expect(pool.waitingCount == 2)
        #expect(ask(other, "other 1") == .taken)
        arrived.wait()
        #expect((2...4).map { ask(other, "other \($0)") } == [.taken, .taken, .full])
        #expect(order.withLock { $0 } == ["one 1", "other 1"])
        for _ in 0..<6 { go.signal() }
        pool.close()
        #expect(order.withLock { $0 }.count == 6 && pool.waitingCount == 0)
    }
}
