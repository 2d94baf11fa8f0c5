// When a store syncs by itself.

import Testing

@testable import SynclineCore

@Suite struct AutomaticMachineTests {
    private var machine = AutomaticMachine(delay: 10, interval: 100)
    private let failure = SyncError(.offline, "no network")

    private mutating func handle(_ signal: AutomaticMachine.Signal, at now: Int64) -> AutomaticMachine.Action? {
        machine.handle(signal, now: now) { Int64($0) * 1000 }
    }

    @Test mutating func `changes soon after one another make one round`() {
        #expect(handle(.changed, at: 0) == .alarm(at: 10))
        #expect(handle(.changed, at: 5) == nil)
        #expect(handle(.alarm, at: 9) == .alarm(at: 10))
        #expect(handle(.alarm, at: 10) == .run)
    }

    @Test mutating func `a change during a round makes another`() {
        #expect(handle(.requested, at: 0) == .run)
        #expect(handle(.changed, at: 1) == nil)
        #expect(handle(.ended(nil), at: 20) == .alarm(at: 30))
        #expect(handle(.alarm, at: 30) == .run)
        #expect(handle(.ended(nil), at: 40) == .alarm(at: 140))
    }

    @Test mutating func `a request during a round makes another at once, also after further changes`() {
        #expect(handle(.requested, at: 0) == .run)
        #expect(handle(.requested, at: 1) == nil)
        #expect(handle(.changed, at: 2) == nil)
        #expect(handle(.ended(nil), at: 20) == .run)
        #expect(handle(.ended(nil), at: 40) == .alarm(at: 140))
        #expect(handle(.requested, at: 50) == .run)
        #expect(handle(.reconnected, at: 51) == nil)
        #expect(handle(.ended(failure), at: 60) == .run)
        #expect(handle(.ended(failure), at: 70) == .alarm(at: 1070))
    }

    @Test mutating func `announced changes arrive soon, whether or not the app's own changes do`() {
        #expect(handle(.told, at: 0) == .alarm(at: 10))
        #expect(handle(.changed, at: 5) == nil)
        #expect(handle(.alarm, at: 10) == .run, "a change of the app makes it a whole round")
        #expect(handle(.told, at: 11) == nil)
        #expect(handle(.ended(failure), at: 20) == .alarm(at: 1020))
        #expect(handle(.told, at: 30) == nil, "it goes with the next try")
        var machine = AutomaticMachine(delay: nil, interval: nil)
        #expect(machine.handle(.told, now: 3) { _ in 1 } == .alarm(at: 3))
        #expect(machine.handle(.alarm, now: 3) { _ in 1 } == .fetch)
    }

    @Test mutating func `announcements alone are fetched, and whole rounds come at their intervals nevertheless`() {
        #expect(handle(.requested, at: 0) == .run)
        #expect(handle(.ended(nil), at: 0) == .alarm(at: 100))
        for time: Int64 in [20, 50] {
            #expect(handle(.told, at: time) == .alarm(at: time + 10))
            #expect(handle(.alarm, at: time + 10) == .fetch)
            #expect(handle(.ended(nil), at: time + 15) == .alarm(at: 100))
        }
        #expect(handle(.told, at: 95) == nil, "the whole round is sooner")
        #expect(handle(.alarm, at: 100) == .run)
        #expect(handle(.told, at: 105) == nil)
        #expect(handle(.ended(nil), at: 110) == .alarm(at: 120))
        #expect(handle(.alarm, at: 120) == .fetch)
        #expect(handle(.changed, at: 121) == nil)
        #expect(handle(.told, at: 122) == nil)
        #expect(handle(.ended(nil), at: 130) == .alarm(at: 140))
        #expect(handle(.alarm, at: 140) == .run)
        #expect(handle(.ended(nil), at: 150) == .alarm(at: 250))
        #expect(handle(.told, at: 160) == .alarm(at: 170))
        #expect(handle(.alarm, at: 260) == .run, "the device slept")
        #expect(handle(.ended(nil), at: 270) == .alarm(at: 370))
        #expect(handle(.told, at: 300) == .alarm(at: 310))
        #expect(handle(.alarm, at: 310) == .fetch)
        #expect(handle(.ended(failure), at: 320) == .alarm(at: 1320))
        #expect(handle(.alarm, at: 1320) == .run, "after a failure it reads everything")
    }

    @Test mutating func `failures wait longer and longer, until there is a network again`() {
        #expect(handle(.requested, at: 0) == .run)
        #expect(handle(.ended(failure), at: 0) == .alarm(at: 1000))
        #expect(machine.phase == .waiting(until: 1000, failure))
        #expect(handle(.changed, at: 10) == nil)
        #expect(handle(.alarm, at: 1000) == .run)
        #expect(handle(.ended(failure), at: 1000) == .alarm(at: 3000))
        #expect(handle(.reconnected, at: 1500) == .run)
        #expect(handle(.ended(failure), at: 1500) == .alarm(at: 2500))
        #expect(handle(.alarm, at: 2500) == .run)
        #expect(handle(.ended(nil), at: 2500) == .alarm(at: 2600))
        #expect(machine.phase == .idle)
    }

    @Test func `without a delay and an interval, only requested syncs run`() {
        var machine = AutomaticMachine(delay: nil, interval: nil)
        #expect(machine.handle(.changed, now: 0) { _ in 1 } == nil)
        #expect(machine.handle(.requested, now: 0) { _ in 1 } == .run)
        #expect(machine.handle(.changed, now: 0) { _ in 1 } == nil)
        #expect(machine.handle(.ended(nil), now: 0) { _ in 1 } == .alarm(at: nil))
    }
}
