// Jobs that run off the threads that serve connections: all of them, a limited number at once, and none after the
// end.

import Dispatch
import SynclineGround
import SynclineTables
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
        // Each of the four runs while none can end.
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

    @Test func `a job that takes long makes room for others, and is carried out again`() {
        let pool = ReadWorkers(workers: 2, bounds: .init(waiting: 10, running: 10))
        let (arrived, go) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let gone = DispatchSemaphore(value: 0)
        // Two that take long: one may stay, and the other stops when it is told to.
        let limits = (0..<2).map { _ in WorkLimit(seconds: 3600) }
        let begun = Mutex([0, 0])
        for number in 0..<2 {
            let admission = pool.carryOut(for: .v4(UInt32(number)), within: limits[number]) {
                begun.withLock { $0[number] += 1 }
                arrived.signal()
                go.wait()
                if let stop = limits[number].stop { _ = limits[number].refusal(stop) }
                return limits[number].takeInterruption() ? .madeRoom : .done
            }
            #expect(admission == .taken)
            arrived.wait()
        }
        pool.relieve(now: .now + .seconds(60))
        #expect(limits.map(\.stop) == [nil, nil], "no job waits")
        _ = pool.carryOut(for: .v4(7), within: nil) {
            gone.signal()
            return .done
        }
        #expect(pool.waitingCount == 1)
        pool.relieve(now: .now + .seconds(60))
        #expect(limits.map(\.stop) == [nil, .crowding])
        // The stopped one ends, the quick one takes its place, and the stopped one begins again once the other is
        // done.
        for _ in 0..<2 { go.signal() }
        gone.wait()
        arrived.wait()
        go.signal()
        pool.close()
        #expect(begun.withLock { $0 } == [1, 2])
        #expect(pool.madeRoomCount == 1 && pool.waitingCount == 0)
    }

    @Test func `no client uses all workers or the whole queue`() {
        let pool = ReadWorkers(workers: 2, bounds: .init(waiting: 4, running: 1))
        let (one, other) = (ClientAddress.v4(1), ClientAddress.v4(2))
        let order = Mutex<[String]>([])
        let (arrived, go) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        func ask(_ client: ClientAddress, _ name: String) -> JobAdmission {
            pool.carryOut(for: client, within: nil) {
                order.withLock { $0.append(name) }
                arrived.signal()
                go.wait()
                return .done
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
