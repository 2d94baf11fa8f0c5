// When callers that wait for automatic sync are caught up.

import Testing

@testable import SynclineCore

@Suite struct CatchUpTests {
    private var machine = CatchUp()
    private var last: UInt64 = 10
    private var oldest: UInt64?

    private var outbox: OutboxEdge { OutboxEdge(through: last, oldest: oldest) }

    private mutating func call(_ caller: Int, _ tables: [String]? = nil) -> Bool {
        machine.add(caller, through: last, tables: tables, outbox)
    }

    private mutating func take(_ step: SyncStep) -> [Int: CatchUp.Outcome] {
        Dictionary(uniqueKeysWithValues: machine.take(step, outbox).map { ($0.caller, $0.outcome) })
    }

    private mutating func end(_ reason: SyncError? = nil) -> [Int: CatchUp.Outcome] {
        Dictionary(uniqueKeysWithValues: machine.endRound(reason, outbox).map { ($0.caller, $0.outcome) })
    }

    /// Runs steps after which all callers still wait, in the order of a round.
    private mutating func begin(_ tables: [String]) {
        #expect(take(.push) == [:])
        #expect(take(.pushed(nil)) == [:])
        #expect(take(.pulls(tables)) == [:])
    }

    @Test mutating func `a caller without tables waits for a round that began after the call`() {
        #expect(take(.push) == [:])
        #expect(call(1))
        #expect(take(.pushed(nil)) == [:])
        #expect(take(.pulls([])) == [:])
        #expect(end() == [:])
        begin([])
        #expect(end() == [1: .caughtUp])
        #expect(end() == [:])
    }

    @Test mutating func `a table is pulled when the last pull of it ends, if the first began after the call`() {
        begin(["t", "u", "t"])
        #expect(take(.pull(table: "t")) == [:])
        #expect(call(1, ["t"]))
        #expect(call(2, ["u"]))
        #expect(take(.pulled(table: "t", isComplete: true)) == [:])
        #expect(take(.pull(table: "u")) == [:])
        #expect(take(.pulled(table: "u", isComplete: true)) == [2: .caughtUp])
        #expect(take(.pull(table: "t")) == [:])
        #expect(take(.pulled(table: "t", isComplete: true)) == [:])
        #expect(end() == [:])
        begin(["t"])
        #expect(take(.pull(table: "t")) == [:])
        #expect(take(.pulled(table: "t", isComplete: true)) == [1: .caughtUp])
    }

    @Test mutating func `a change that a push leaves is reported, and one that was made later is not waited for`() {
        oldest = 5
        #expect(call(1))
        #expect(call(2, []))
        last = 12
        #expect(take(.push) == [:])
        oldest = 11
        #expect(take(.pushed(nil)) == [2: .caughtUp])
        #expect(call(3))
        #expect(end() == [1: .caughtUp])
        #expect(take(.push) == [:])
        #expect(take(.pushed(nil)) == [3: .left(through: 12)])
    }

    @Test mutating func `a missing network is waited out, and another reason is reported`() {
        let (offline, refused) = (SyncError(.offline, ""), SyncError(.unauthorized, ""))
        #expect(take(.push) == [:])
        #expect(call(1))
        #expect(end(refused) == [:], "that round began before the call")
        #expect(take(.push) == [:])
        #expect(take(.pushed(offline)) == [:])
        #expect(end(offline) == [:])
        #expect(take(.push) == [:])
        #expect(end(refused) == [1: .stopped(refused)])
    }

    @Test mutating func `a table that a whole round did not pull is reported`() {
        #expect(call(1, ["t", "u"]))
        begin(["t"])
        #expect(take(.pull(table: "t")) == [:])
        #expect(take(.pulled(table: "t", isComplete: true)) == [:])
        #expect(end() == [1: .notPulled(table: "u")])
    }

    @Test
    mutating func `an incomplete pull does not count, and without tables and changes there is nothing to wait for`() {
        #expect(!call(1, []))
        #expect(call(2, ["t"]))
        begin(["t", "t"])
        #expect(take(.pull(table: "t")) == [:])
        #expect(take(.pulled(table: "t", isComplete: false)) == [:])
        #expect(take(.pull(table: "t")) == [:])
        #expect(take(.pulled(table: "t", isComplete: true)) == [:])
        machine.remove(2)
        #expect(end(SyncError(.serverError, "")) == [:])
    }
}
