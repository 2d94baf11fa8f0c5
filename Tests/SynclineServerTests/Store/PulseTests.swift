// When a database is asked whether it answers, and which requests wait for it meanwhile.

import SynclineTables
import Testing

@testable import SynclineServer

@Suite struct PulseTests {
    private let start = ContinuousClock.Instant.now

    @Test func `a database that answers is checked only if there is doubt`() {
        var pulse = Pulse()
        #expect(pulse.step(doubts: false, now: start) == .proceed)
        #expect(pulse.step(doubts: true, now: start) == .probe)
        #expect(pulse.step(doubts: true, now: start) == .proceed, "another task asks it just now")
        pulse.note(answered: true, now: start)
        #expect(pulse.step(doubts: false, now: start) == .proceed)
        #expect(pulse.step(doubts: true, now: start) == .probe)
    }

    @Test func `no request waits for a database that missed two checks, and one task checks it again after a pause`() {
        var pulse = Pulse()
        #expect(pulse.step(doubts: true, now: start) == .probe)
        pulse.note(answered: false, now: start)
        #expect(pulse.step(doubts: false, now: start) == .proceed, "it may have been a hiccup")
        #expect(pulse.hasMissed && !pulse.isSilent)
        #expect(pulse.step(doubts: true, now: start) == .probe)
        pulse.note(answered: false, now: start)
        for doubts in [false, true] {
            #expect(pulse.step(doubts: doubts, now: start + Pulse.pause * 0.99) == .refuse)
        }
        #expect(pulse.step(doubts: false, now: start + Pulse.pause) == .probe)
        #expect(pulse.step(doubts: true, now: start + Pulse.pause * 5) == .refuse, "one is enough")
        pulse.note(answered: false, now: start + Pulse.pause * 2)
        #expect(pulse.step(doubts: false, now: start + Pulse.pause * 2.5) == .refuse)
        #expect(pulse.step(doubts: false, now: start + Pulse.pause * 3) == .probe)
        pulse.note(answered: true, now: start + Pulse.pause * 3)
        #expect(!pulse.isSilent && pulse.step(doubts: false, now: start + Pulse.pause * 3) == .proceed)
    }

    @Test func `a caller that finds no free connection gets an error after a while`() throws {
        final class Thing {}
        let pool = ConnectionPool<Thing>(limit: 1, timeout: .zero) { Thing() }
        _ = try pool.withConnection { (_: Thing) throws(StoreFailure) in
            #expect {
                try pool.withConnection { (_: Thing) throws(StoreFailure) in }
            } throws: { error in
                guard case .busy? = error as? StoreFailure else { return false }
                return true
            }
        }
        try pool.withConnection { (_: Thing) throws(StoreFailure) in }
    }

    @Test func `a connection that was lost while idle is not used again`() throws {
        final class Thing {}
        let pool = ConnectionPool<Thing>(limit: 1) { Thing() }
        func name(_ isGood: (Thing) -> Bool) throws -> ObjectIdentifier {
            try pool.withConnection(isGood: isGood) { thing throws(StoreFailure) in ObjectIdentifier(thing) }
        }
        let first = try name { _ in true }
        #expect(try name { _ in true } == first)
        var isFirstLook = true
        _ = try name { thing in
            defer { isFirstLook = false }
            return !isFirstLook
        }
        #expect(!isFirstLook)
    }
}
