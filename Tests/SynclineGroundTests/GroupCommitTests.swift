// Which member of a group leads, and which members it serves.

import SynclineGround
import Testing

@Suite struct GroupCommitTests {
    @Test func `the first member leads and serves those that joined meanwhile`() {
        var group = GroupCommit<String>()
        let leads = ["a", "b"].map { group.join($0) }
        #expect(leads == [true, false])
        #expect(group.waiting == ["a", "b"])
        let served = group.take()
        #expect(served == ["a", "b"] && group.waiting.isEmpty)
        let another = group.join("c")
        #expect(!another, "the lead stays while the first are served")
    }

    @Test func `the lead is passed on, and ends if no member is waiting`() {
        var group = GroupCommit<String>()
        _ = group.join("a")
        _ = group.take()
        let leads = ["b", "c"].map { group.join($0) }
        let (next, served, last) = (group.passOn(), group.take(), group.passOn())
        #expect(leads == [false, false])
        #expect(next == "b" && served == ["b", "c"] && last == nil)
        let another = group.join("d")
        #expect(another, "no caller led")
    }

    @Test func `a leader that serves one group after another leads until no member is waiting`() {
        var group = GroupCommit<String>()
        _ = group.join("a")
        let first = group.takeOrEnd()
        let leads = group.join("b")
        let (second, none) = (group.takeOrEnd(), group.takeOrEnd())
        #expect(first == ["a"] && !leads && second == ["b"] && none.isEmpty)
        let another = group.join("c")
        #expect(another, "no caller led")
    }
}
