// Which job a worker runs next: tested with jobs of known length, and a clock that only the test moves.

import SynclineTesting
import Testing

@testable import SynclineServer

@Suite struct JobOrderTests {
    private let start = ContinuousClock.now

    private func time(_ milliseconds: Int) -> ContinuousClock.Instant { start + .milliseconds(milliseconds) }

    @Test func `jobs begin in turn, first those of the client with the fewest running`() {
        var order = JobOrder(workers: 2, bounds: .init(waiting: 10, running: 2))
        let (one, other) = (ClientAddress.v4(1), ClientAddress.v4(2))
        #expect([1, 2].map { order.arrive($0, of: one, now: start) } == [.begins, .begins])
        #expect(order.arrive(3, of: one, now: start) == .waits)
        #expect(order.arrive(4, of: other, now: start) == .waits)
        order.end(1, madeRoom: false, now: start)
        #expect(order.next(now: start) == 4)
        order.end(2, madeRoom: false, now: start)
        #expect(order.next(now: start) == 3)
        #expect(order.next(now: start) == nil && order.runningCount == 2)
    }

    @Test func `long jobs keep half of the workers, and the rest make room if others wait`() {
        var order = JobOrder(workers: 4, bounds: .init(waiting: 10, running: 4))
        for number in 1...4 { #expect(order.arrive(number, of: .v4(UInt32(number)), now: time(number)) == .begins) }
        #expect(order.crowders(now: time(10)).isEmpty, "it is too early")
        #expect(order.crowders(now: time(100)).isEmpty, "no job waits")
        #expect(order.arrive(5, of: .v4(5), now: time(100)) == .waits)
        // The first two are known to take long and stay. Of the others the older one is stopped, once.
        #expect(order.crowders(now: time(101)) == [3])
        #expect(order.crowders(now: time(102)).isEmpty)
        order.end(3, madeRoom: true, now: time(102))
        #expect(order.next(now: time(103)) == 5)
        #expect(order.waitingCount == 1)
        // There is a worker for it, but not one of those for long jobs.
        order.end(5, madeRoom: false, now: time(104))
        #expect(order.next(now: time(104)) == nil)
        order.end(1, madeRoom: false, now: time(105))
        #expect(order.next(now: time(105)) == 3)
        #expect(order.crowders(now: time(1000)).isEmpty, "it stays now")
    }

    @Test func `of long jobs, the client's that has used the least time is first`() {
        var order = JobOrder(workers: 2, bounds: .init(waiting: 10, running: 2))
        let (scanner, other) = (ClientAddress.v4(1), ClientAddress.v4(2))
        #expect(order.arrive(1, of: scanner, now: start) == .begins)
        #expect(order.crowders(now: time(500)).isEmpty)
        order.end(1, madeRoom: false, now: time(1000))
        #expect([2, 3].map { order.arrive($0, of: scanner, now: time(1000)) } == [.begins, .begins])
        #expect(order.arrive(4, of: other, now: time(1000)) == .waits)
        #expect(order.crowders(now: time(1020)) == [3])
        order.end(3, madeRoom: true, now: time(1021))
        #expect(order.next(now: time(1021)) == 4)
        // The machine is busy, so this one takes longer than usual, and is taken for a long one.
        #expect(order.arrive(5, of: .v4(3), now: time(1022)) == .waits)
        #expect(order.crowders(now: time(1040)) == [4])
        order.end(4, madeRoom: true, now: time(1041))
        #expect(order.next(now: time(1041)) == 5)
        order.end(5, madeRoom: false, now: time(1042))
        #expect(order.next(now: time(1042)) == nil)
        order.end(2, madeRoom: false, now: time(2000))
        #expect(order.next(now: time(2000)) == 4)
        order.end(4, madeRoom: false, now: time(2010))
        #expect(order.next(now: time(2010)) == 3)
    }

    @Test func `one client's jobs fill at most half of the queue`() {
        var order = JobOrder(workers: 1, bounds: .init(waiting: 4, running: 1))
        #expect(order.arrive(1, of: .v4(1), now: start) == .begins)
        #expect([2, 3, 4].map { order.arrive($0, of: .v4(1), now: start) } == [.waits, .waits, .full])
        #expect([5, 6, 7].map { order.arrive($0, of: .v4(2), now: start) } == [.waits, .waits, .full])
        #expect(order.arrive(8, of: .v4(3), now: start) == .full)
        order.end(1, madeRoom: false, now: start)
        // No client has any running, so the oldest is next.
        var ended: [Int] = []
        while let next = order.next(now: start) {
            ended.append(next)
            order.end(next, madeRoom: false, now: start)
        }
        #expect(ended == [2, 3, 5, 6] && order.waitingCount == 0 && order.runningCount == 0)
    }

    @Test func `jobs are refused by the time that they would wait, not by their number`() {
        func admitted(each took: Int, clients: Int) -> Int {
            var order = JobOrder(workers: 2, bounds: .init(waiting: 10_000, wait: .seconds(2), running: 1))
            for number in 1...100 {
                _ = order.arrive(-number, of: .v4(0), now: start)
                order.end(-number, madeRoom: false, now: start + .microseconds(took))
            }
            return (1...9_000).count { order.arrive($0, of: .v4(UInt32($0 % clients)), now: start) != .full }
        }
        #expect(admitted(each: 100, clients: 1) == 5_001, "half of the places for one address")
        #expect(admitted(each: 100, clients: 100) == 9_000)
        let slow = (admitted(each: 10_000, clients: 1), admitted(each: 10_000, clients: 100))
        #expect(slow.0 > 190 && slow.0 < 230, "two workers carry out 200 in a second")
        #expect(slow.1 > 390 && slow.1 < 430)
    }

    @Test func `a single worker is never asked to make room`() {
        var order = JobOrder(workers: 1, bounds: .init(waiting: 10, running: 1))
        #expect(order.arrive(1, of: .v4(1), now: start) == .begins)
        #expect(order.arrive(2, of: .v4(2), now: start) == .waits)
        #expect(order.crowders(now: time(10_000)).isEmpty)
    }

    /// Runs random jobs to their end, a millisecond at a time.
    @Test(arguments: 0..<100)
    func `every job ends, quick ones soon, and no bound is passed`(_ seed: UInt64) {
        var chance = Chance(seed: seed)
        let workers = 2 + Int.random(in: 0..<7, using: &chance)
        let bounds = JobOrder.Bounds(waiting: 40, running: max(1, workers - 1))
        var order = JobOrder(workers: workers, bounds: bounds)
        var left: [Int: (needs: Int, done: Int, since: Int, isAsked: Bool)] = [:]
        var running: Set<Int> = []
        var (count, ended, longest) = (0, 0, 0)
        func begin(_ number: Int) {
            running.insert(number)
            left[number]?.done = 0
        }
        var isBounded = true
        for now in 0..<60_000 {
            if now < 3000, Int.random(in: 0..<20, using: &chance) == 0 {
                count += 1
                // One in four scans a table; a client of those sends nothing else.
                let isLong = Int.random(in: 0..<4, using: &chance) == 0
                let client = ClientAddress.v4(UInt32(isLong ? 100 : 0) + UInt32.random(in: 0..<20, using: &chance))
                left[count] = (isLong ? Int.random(in: 200..<800, using: &chance) : 2, 0, now, false)
                switch order.arrive(count, of: client, now: time(now)) {
                case .begins: begin(count)
                case .waits: break
                case .full: left[count] = nil
                }
            }
            if now % 20 == 0 { for number in order.crowders(now: time(now)) { left[number]?.isAsked = true } }
            for number in running.sorted() {
                guard var job = left[number] else { continue }
                job.done += 1
                left[number] = job
                guard job.done >= job.needs || job.isAsked else { continue }
                let madeRoom = job.done < job.needs
                running.remove(number)
                order.end(number, madeRoom: madeRoom, now: time(now))
                if madeRoom {
                    left[number]?.isAsked = false
                } else {
                    left[number] = nil
                    ended += 1
                    if job.needs == 2 { longest = max(longest, now - job.since) }
                }
                while let next = order.next(now: time(now)) { begin(next) }
            }
            isBounded = isBounded && running.count == order.runningCount && running.count <= workers
            if now >= 3000, left.isEmpty { break }
        }
        #expect(isBounded)
        #expect(left.isEmpty && order.waitingCount == 0, "\(left.count) of \(count) jobs never ended")
        #expect(longest < 200, "a quick job took \(longest) ms")
    }
}
