// The list of events of `studio`: what is folded, what a filter leaves, and where an event stands.

import Foundation
import SegmentLog
import Syncline
import SynclineCore
import Testing

@testable import SynclineTool

@Suite struct StudioLinesTests {
    @Test func `an open page keeps no history, and knows what was removed beneath it`() async throws {
        let log = try TestLog(empty: ())
        let database = try await SyncDatabase.open(at: log.path)
        try await database.set(retention: .events(5))
        func write(_ count: Int) async throws {
            for _ in 0..<count { try await database.rows(of: "notes").insert(["text": "x"]) }
        }
        try await write(20)
        let page = try StudioPageCall(log)
        try page.summary()
        // A past moment, and the list of a row's events.
        #expect(try page.object("event", ["n": "6"])["event"] as? [String: Any] != nil)
        let lines = try page.object("lines", ["fold": "off", "top": "500"])
        let last = try #require(lines["count"] as? Int)
        let leases = (try? FileManager.default.contentsOfDirectory(atPath: log.path + "/leases")) ?? []
        #expect(leases.isEmpty, "\(leases)")
        var floor: UInt64 = 1
        for _ in 0..<6 where floor <= 6 {
            try await write(3)
            try await database.compact()
            floor = try LogInspection(POSIXStorage(directory: log.path)).catalog().floor.rawValue
        }
        try #require(floor > 6)
        let summary = try page.summary()
        #expect(summary["first"] as? UInt64 == floor && summary["last"] as? Int ?? 0 > last)
        let rest = try page.object("lines", ["fold": "off", "top": "500"])
        let numbers = (rest["lines"] as? [[String: Any]] ?? []).compactMap { $0["n"] as? UInt64 }
        #expect(numbers.first == floor && numbers.count == rest["count"] as? Int)
        #expect(!(rest["lines"] as? [[String: Any]] ?? []).contains { $0["kind"] as? String == "lost" })
        // A moment that was removed is none; those after it are whole.
        #expect(try page.object("event", ["n": "6"])["event"] is NSNull)
        let next = try page.object("event", ["n": "\(floor + 1)"])
        #expect(next["whole"] as? Bool == true && next["n"] as? UInt64 == floor + 1, "\(next)")
        try await database.close()
    }

    private var index: StudioIndex {
        var index = StudioIndex()
        for (place, body) in Story.events.enumerated() {
            index.add(UInt64(place + 1), Event(time: Int64(place) * 1000, body))
        }
        return index
    }

    private func numbers(_ filter: StudioFilter) -> [UInt64] { index.lines(filter, ofRow: nil).map(\.first) }

    @Test func `a push is one line, which opens`() {
        var filter = StudioFilter()
        let lines = index.lines(filter, ofRow: nil)
        #expect(lines.map(\.first) == [1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 17, 18, 19, 20])
        let push = lines[8]
        #expect(push == StudioLine(first: 9, last: 15, role: .folded(isOpen: false)))
        #expect(index.words(push.first...push.last) == ("push", "2 done, 1 conflict"))
        #expect(lines.place(of: 12) == 8 && lines.place(of: 16) == 9)
        filter.open = [9]
        let open = index.lines(filter, ofRow: nil)
        #expect(open.count == lines.count + 7 && open.place(of: 12) == 12 && open.place(of: 16) == 16)
        filter.folds = false
        #expect(numbers(filter) == Array(1...20))
    }

    @Test func `filters combine`() {
        #expect(numbers(StudioFilter(kinds: ["local"])) == [5, 6, 7, 16, 18, 19])
        #expect(numbers(StudioFilter(outcome: "problem")) == [12])
        #expect(numbers(StudioFilter(outcome: "done", folds: false)) == [10, 15])
        #expect(numbers(StudioFilter(kinds: ["answer"], table: "todoitem", folds: false)) == [10, 12, 15])
        #expect(numbers(StudioFilter(table: "other")).isEmpty)
    }

    @Test func `what can't be read is one line at its place`() {
        var index = StudioIndex()
        for (place, body) in Story.events.enumerated() where !(4...6).contains(place) {
            index.add(UInt64(place + 1), Event(time: Int64(place) * 1000, body))
        }
        #expect(index.gaps == [5...7])
        let lines = index.lines(StudioFilter(), ofRow: nil)
        #expect(lines.contains(StudioLine(first: 5, last: 7, role: .folded(isOpen: false))))
        #expect(index.words(5...7) == ("lost", "3 events can’t be read"))
    }

    @Test func `every event is in one bar, over time and over numbers`() {
        for byTime in [true, false] {
            let (first, last) = byTime ? (index.times[0], index.times[19]) : (1, 20)
            for count in [1, 7, 20, 300] {
                let found = StudioBuckets(index, from: Int64(first), through: Int64(last), count: count, byTime: byTime)
                let sum = found.buckets.reduce(0) { $0 + $1.counts.reduce(0, +) }
                #expect(sum == 20 && found.buckets.map(\.problems).reduce(0, +) == 1)
            }
        }
        #expect(index.event(at: 4500) == 5 && index.event(at: -1) == 0 && index.event(at: .max) == 20)
    }
}
