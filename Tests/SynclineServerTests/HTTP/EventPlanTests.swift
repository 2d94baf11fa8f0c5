// Which listeners hear of which changes, and when.

import SynclineGround
import SynclineWire
import Testing

@testable import SynclineServer
@testable import SynclineTables

@Suite struct EventPlanTests {
    private var plan = EventPlan<Int>()
    private let start = ContinuousClock.Instant.present

    private func news(_ change: Int64, _ tables: Set<String>? = nil, epoch: String = "e") -> ChangeNews {
        ChangeNews(ChangeMark(epoch: epoch, change: change, purged: 0), tables)
    }

    /// Who hears of news, and which tables it names to each; `any` for no names.
    private mutating func told(_ news: ChangeNews) -> [Int: String] {
        var told: [Int: String] = [:]
        for (event, listeners) in plan.take(news) {
            for listener in listeners {
                #expect(told[listener] == nil && event.cursor == news.cursor)
                told[listener] = event.tables?.sorted().joined(separator: ",") ?? "any"
            }
        }
        return told
    }

    @Test mutating func `a listener hears of its own tables, once of each mark`() {
        #expect(plan.add(1, EventInterest(["a", "b"])) == nil && plan.add(2, EventInterest(["c"])) == nil)
        #expect(told(news(5)) == [1: "any", 2: "any"])
        #expect(told(news(6, ["a", "x"])) == [1: "a"])
        #expect(told(news(6, [])) == [:])
        #expect(told(news(7, ["x"])) == [:], "no listener may see it")
        #expect(told(news(8, ["a", "b", "c"])) == [1: "a,b", 2: "c"])
        #expect(told(news(9)) == [1: "any", 2: "any"], "what changed is not known")
        #expect(told(news(3, epoch: "f")) == [1: "any", 2: "any"])
        #expect(told(news(3, epoch: "f")) == [:])
        plan.remove(1)
        #expect(told(news(10, ["a", "c"], epoch: "f")) == [2: "c"] && plan.count == 1)
    }

    @Test mutating func `a caller hears of shared rows while they are his, and when they no longer are`() {
        let bucket = RuleBucket(column: "list")
        func lists(_ names: String...) -> Set<NamedBucket> { Set(names.map { NamedBucket(bucket, ExactString($0)) }) }
        func held(_ names: String..., since change: Int64 = 0) -> CallerBuckets {
            var held = HeldBuckets()
            held.buckets = Set(names.map { NamedBucket(bucket, ExactString($0)) })
            held.changed = change
            return ["a": held]
        }
        func news(_ change: Int64, _ touched: Set<NamedBucket>, changesRights: Bool = false) -> ChangeNews {
            var news = self.news(change, ["a"])
            news.rights = ["a": RightsNews(touched, changesRights: changesRights)]
            return news
        }
        _ = plan.add(1, EventInterest(["a"], subject: "ann"))
        _ = plan.add(2, EventInterest(["a"], subject: "bob"))
        _ = told(self.news(1))
        #expect(plan.questions(news(2, lists("x"))) == ["ann": ["a"], "bob": ["a"]])
        plan.learn(held("x", "y"), of: "ann")
        plan.learn(held("z"), of: "bob")
        #expect(told(news(2, lists("x"))) == [1: "a"])
        #expect(plan.questions(news(3, lists("z"))) == [:])
        #expect(told(news(3, lists("z"))) == [2: "a"])
        #expect(told(news(4, lists("other"))) == [:])
        #expect(plan.questions(news(5, [], changesRights: true)).count == 2)
        plan.learn(held("x"), of: "ann")
        plan.learn(held("z"), of: "bob")
        #expect(told(news(5, [], changesRights: true)) == [1: "a"], "she has lost one")
        #expect(told(news(6, lists("y"))) == [:])
        plan.learn(held("x", since: 7), of: "ann")
        plan.learn(held("z"), of: "bob")
        #expect(told(news(7, [], changesRights: true)) == [1: "a"], "her right began again")
        // What could not be read may be anything.
        plan.learn(held("z"), of: "bob")
        #expect(told(news(8, lists("y"), changesRights: true)) == [1: "a"])
        #expect(plan.questions(news(9, lists("x"))) == ["ann": ["a"]])
        _ = told(self.news(9))
        #expect(plan.questions(news(10, lists("x"))).count == 2)
        plan.remove(1)
        #expect(plan.questions(news(10, lists("x"))) == ["bob": ["a"]])
        // An answer that comes after the last listener has left is not kept.
        _ = plan.add(3, EventInterest(["a"], subject: "bob"))
        plan.remove(2)
        plan.learn(held("z"), of: "bob")
        plan.learn(held("x"), of: "ann")
        _ = told(news(10, lists("x")))
        _ = plan.add(4, EventInterest(["a"], subject: "ann"))
        #expect(plan.questions(news(11, lists("z"))) == ["ann": ["a"]])
    }

    @Test mutating func `a new listener hears the mark at once, and whatever follows it`() {
        _ = plan.add(1, EventInterest(["a"]))
        _ = told(news(5))
        let first = plan.add(2, EventInterest(["b"]))
        #expect(first?.cursor == news(5).cursor && first?.tables == nil)
        #expect(told(news(6, ["b"])) == [2: "b"])
        plan.forget()
        #expect(plan.add(3, EventInterest(["a"])) == nil, "the mark may be old")
        #expect(told(news(7, ["b"])) == [2: "b", 3: "any"])
    }

    @Test mutating func `those that hear the same share the bytes`() {
        for listener in 0..<100 { _ = plan.add(listener, EventInterest(listener % 2 == 0 ? ["a", "b"] : ["a", "c"])) }
        _ = plan.take(news(1))
        let told = plan.take(news(2, ["a"]))
        #expect(told.count == 1 && told.first?.listeners.count == 100)
        #expect(plan.take(news(3, ["a", "c"])).map(\.listeners.count).sorted() == [50, 50])
        for listener in 0..<100 { plan.remove(listener) }
        #expect(plan.count == 0 && plan.take(news(4)).isEmpty)
    }

    @Test mutating func `an idle listener gets a comment, also if others come meanwhile`() {
        _ = plan.add(1, EventInterest(["a"]))
        _ = told(news(1))
        for round in 1..<EventPlan<Int>.quietLimit {
            #expect(plan.endRound().isEmpty)
            _ = plan.add(1 + round, EventInterest(["a"]))
        }
        #expect(plan.endRound() == [1])
        #expect(plan.endRound() == [2])
        #expect(told(news(2, ["a"])).count == EventPlan<Int>.quietLimit)
        #expect(plan.endRound().isEmpty)
    }

    @Test mutating func `a commit is told at once, or after a rest that grows with what the last one cost`() {
        #expect(plan.wake(now: start) == nil, "there are no listeners")
        _ = plan.add(1, EventInterest(["a"]))
        #expect(plan.wake(now: start) == .zero)
        #expect(plan.wake(now: start) == nil, "it will be told with the other")
        plan.begin()
        plan.end(began: start, answered: start + .milliseconds(1), events: 1)
        #expect(plan.wake(now: start + .milliseconds(2)) == .milliseconds(3))
        plan.begin()
        plan.end(began: start, answered: start + .milliseconds(1), events: 5000)
        #expect(plan.wake(now: start + .milliseconds(10)) == .milliseconds(90))
        plan.begin()
        plan.end(began: start, answered: start + .milliseconds(20), events: 0)
        #expect(plan.wake(now: start + .milliseconds(20)) == .milliseconds(60))
        plan.begin()
        #expect(plan.wake(now: start + .seconds(1)) == .zero)
    }

    @Test func `a thousand listeners hear at once, and others in turn`() {
        func waits(_ count: Int, after told: Int) -> [Int] {
            let parts = EventPlan.parts(of: Array(0..<count), after: told)
            #expect(parts.flatMap(\.listeners) == Array(0..<count))
            return parts.filter(\.waits).compactMap(\.listeners.first)
        }
        #expect(waits(3000, after: 0) == [1000, 1500, 2000, 2500])
        #expect(waits(600, after: 950) == [50, 550] && waits(10, after: 1500) == [0] && waits(0, after: 1500).isEmpty)
    }

    @Test func `an event names few tables, and an older client reads it as before`() {
        #expect(
            String(decoding: ChangeEvent("c", nil).message.bytes, as: UTF8.self)
                == "retry: 1000\nevent: change\ndata: c\n\n")
        #expect(
            String(decoding: ChangeEvent("c", ["b", "a"]).message.bytes, as: UTF8.self)
                == "retry: 1000\nevent: change\ntables: a,b\ndata: c\n\n")
        #expect(ChangeEvent("c", Set((0..<200).map { "table-number-\($0)" })).tables == nil)
    }

    @Test func `a slow reader gets one event for all that it missed`() {
        let resumed = Atomic(0)
        let stream = EventStream { resumed.add(1, ordering: .relaxed) }
        func text(_ limit: Int = 1000) -> String {
            guard case .bytes(let bytes) = stream.next(atMost: limit, suspend: {}) else { return "" }
            return String(decoding: bytes, as: UTF8.self)
        }
        #expect(text() == "")
        stream.send(ChangeEvent("1", ["a"]))
        #expect(resumed.load(ordering: .relaxed) == 1)
        let begin = text(10)
        stream.send(ChangeEvent("2", ["b"]))
        stream.remind()
        stream.send(ChangeEvent("3", ["a"]))
        #expect(begin + text() == "retry: 1000\nevent: change\ntables: a\ndata: 1\n\n")
        #expect(text() == "retry: 1000\nevent: change\ntables: a,b\ndata: 3\n\n")
        stream.send(ChangeEvent("4", ["a"]))
        stream.send(ChangeEvent("5", nil))
        stream.send(ChangeEvent("6", ["a"]))
        #expect(text() == "retry: 1000\nevent: change\ndata: 6\n\n" && text() == "")
        stream.remind()
        #expect(text() == ": nothing new\n\n" && resumed.load(ordering: .relaxed) == 2)
        stream.end()
        if case .end = stream.next(atMost: 9, suspend: {}) {} else { Issue.record("it does not end") }
    }

    @Test func `while the library waits, an event goes straight to the socket if it takes it whole`() {
        let answer = Mutex(ListenSocket.Sending.sent)
        let written = Mutex("")
        let resumed = Atomic(0)
        let write: @Sendable ([UInt8]) -> ListenSocket.Sending = { bytes in
            let answer = answer.withLock { $0 }
            if answer == .sent { written.withLock { $0 += String(decoding: bytes, as: UTF8.self) } }
            return answer
        }
        let stream = EventStream(write: write) { resumed.add(1, ordering: .relaxed) }
        func next() -> String? {
            switch stream.next(atMost: 1000, suspend: {}) {
            case .bytes(let bytes): String(decoding: bytes, as: UTF8.self)
            case .wait: ""
            case .end: nil
            }
        }
        func event(_ cursor: String) -> String { "retry: 1000\nevent: change\ndata: \(cursor)\n\n" }
        // The library has not asked for bytes, so the beginning of its answer may not be sent.
        stream.send(ChangeEvent("1", nil))
        #expect(next() == event("1") && next() == "")
        stream.send(ChangeEvent("2", nil))
        stream.remind()
        #expect(written.withLock { $0 } == "23\r\n\(event("2"))\r\nf\r\n: nothing new\n\n\r\n")
        #expect(stream.bytesOut == written.withLock { $0.utf8.count } && resumed.load(ordering: .relaxed) == 0)
        answer.withLock { $0 = .full }
        stream.send(ChangeEvent("3", nil))
        answer.withLock { $0 = .sent }
        stream.send(ChangeEvent("4", nil))
        #expect(resumed.load(ordering: .relaxed) == 1 && next() == event("4") && next() == "")
        answer.withLock { $0 = .broken }
        stream.send(ChangeEvent("5", nil))
        #expect(resumed.load(ordering: .relaxed) == 2 && next() == nil)
    }
}
