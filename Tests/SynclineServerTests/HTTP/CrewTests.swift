// What is carried out off the threads that serve connections: all of it, so many at once, and nothing after the end.

import Dispatch
import Synchronization
import Testing

@testable import SynclineServer

@Suite struct CrewTests {
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

    @Test func `every job is carried out once, and no more at a time than there are hands`() {
        let crew = Crew(hands: 3)
        let count = Count()
        for _ in 0..<200 {
            let isTaken = crew.carryOut {
                count.begin()
                count.end()
            }
            #expect(isTaken)
        }
        crew.close()
        #expect(count.figures.done == 200)
        #expect(count.figures.now == 0)
        #expect(count.figures.most <= 3)
    }

    @Test func `jobs that wait for each other all get a hand`() {
        let crew = Crew(hands: 4)
        let (arrived, go) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        for _ in 0..<4 {
            _ = crew.carryOut {
                arrived.signal()
                go.wait()
            }
        }
        // Each of the four is at work while none can end.
        for _ in 0..<4 { arrived.wait() }
        for _ in 0..<4 { go.signal() }
        crew.close()
    }

    @Test func `a crew that is closed takes no job, and has done those it took`() {
        let crew = Crew(hands: 1)
        let done = Atomic(0)
        for _ in 0..<10 { _ = crew.carryOut { done.add(1, ordering: .relaxed) } }
        crew.close()
        #expect(done.load(ordering: .relaxed) == 10)
        #expect(!crew.carryOut { done.add(1, ordering: .relaxed) })
        #expect(done.load(ordering: .relaxed) == 10)
    }
}
