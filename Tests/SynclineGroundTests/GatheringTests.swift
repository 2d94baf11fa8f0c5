// Who must lead a gathering, and whom it serves.

import SynclineGround
import Testing

@Suite struct GatheringTests {
    @Test func `the first leads, and serves those who came meanwhile`() {
        var gathering = Gathering<String>()
        let leads = ["a", "b"].map { gathering.join($0) }
        #expect(leads == [true, false])
        #expect(gathering.waiting == ["a", "b"])
        let served = gathering.take()
        #expect(served == ["a", "b"] && gathering.waiting.isEmpty)
        let another = gathering.join("c")
        #expect(!another, "the lead stays while the first are served")
    }

    @Test func `the lead is passed on, and ends with nobody to take it`() {
        var gathering = Gathering<String>()
        _ = gathering.join("a")
        _ = gathering.take()
        let leads = ["b", "c"].map { gathering.join($0) }
        let (next, served, last) = (gathering.passOn(), gathering.take(), gathering.passOn())
        #expect(leads == [false, false])
        #expect(next == "b" && served == ["b", "c"] && last == nil)
        let another = gathering.join("d")
        #expect(another, "nobody led")
    }

    @Test func `who serves group after group leads until nobody waits`() {
        var gathering = Gathering<String>()
        _ = gathering.join("a")
        let first = gathering.takeOrEnd()
        let leads = gathering.join("b")
        let (second, none) = (gathering.takeOrEnd(), gathering.takeOrEnd())
        #expect(first == ["a"] && !leads && second == ["b"] && none.isEmpty)
        let another = gathering.join("c")
        #expect(another, "nobody led")
    }
}
