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
        #expect(handle(.alarm, at: 10) == .run)
        #expect(handle(.told, at: 11) == nil)
        #expect(handle(.ended(failure), at: 20) == .alarm(at: 1020))
        #expect(handle(.told, at: 30) == nil, "it goes with the next try")
        var machine = AutomaticMachine(delay: nil, interval: nil)
        #expect(machine.handle(.told, now: 3) { _ in 1 } == .alarm(at: 3))
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
