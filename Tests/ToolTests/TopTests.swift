// `top`: what the newest events say of a store, as a sample; a store that is looked at keeps its files.

import Foundation
import SegmentLog
import Syncline
import SynclineCore
import Testing

@testable import SynclineTool

@Suite struct TopTests {
    /// The story, whose events are a second apart.
    private static let story: StoreActivity = {
        var activity = StoreActivity()
        for (index, body) in Story.events.enumerated() {
            activity.add(Event(time: Int64(index) * 1000, body), number: UInt64(index + 1))
        }
        return activity
    }()

    @Test func `events are counted in the seconds before now`() {
        var activity = StoreActivity()
        let opened = Event.Body.opened(Opening(device: "", engineVersion: "", projectorVersion: 5, schemaVersion: 0))
        for (number, time) in [0, 500, 49_999, 50_000, 50_001, 59_000, 59_999, 60_500].enumerated() {
            activity.add(Event(time: Int64(time), opened), number: UInt64(number + 1))
        }
        #expect(activity.count(inLast: 10, now: 59_999) == 4 && activity.rate(now: 59_999) == 0.4)
        #expect(activity.count(inLast: 60, now: 59_999) == 7 && activity.count(inLast: 60, now: 60_000) == 6)
        #expect(activity.rate(now: 200_000) == 0 && activity.last == 8)
        // A clock that was set back, and a long life.
        for second in 0..<1000 { activity.add(Event(time: Int64(second) * 1000 - 500_000, opened), number: 9) }
        #expect(activity.count(inLast: 10, now: 499_000) == 10 && activity.newest.count == StoreActivity.kept)
    }

    @Test func `a sample has the last push, the last page, failures and the newest events`() {
        let (activity, now) = (Self.story, Int64(Story.events.count) * 1000)
        let json = activity.json(of: "/s", now: now).text
        #expect(
            json.contains(#""event":"@\#(Story.events.count)""#) && json.contains(#""eventsPerSecond":0.9"#), "\(json)")
        #expect(activity.newest.map(\.number) == (0..<10).map { UInt64(Story.events.count - $0) })
        #expect(!activity.failures.isEmpty && activity.syncs.push != nil && activity.syncs.pages.count == 1)
        let style = TextStyle(isForPeople: true, hasColour: false, width: 60)
        let lines = activity.lines(of: "/s", style, now: now, height: 100)
        #expect(lines.allSatisfy { $0.count <= 60 }, "\(lines)")
        for word in ["last push", "last page", "failures", "newest events"] {
            #expect(lines.contains { $0.hasPrefix(word) }, "\(word) in \(lines)")
        }
        #expect(activity.lines(of: "/s", style, now: now, height: 5).count == 5)
    }

    @Test func `hostile values do not reach the terminal`() {
        var activity = StoreActivity()
        let change = LocalChange(kind: .insert, table: "t\u{1b}[2J", id: "a\u{202e}\n", columns: .empty)
        activity.add(Event(time: 0, .local(LocalTransaction([change], isGrouped: false))), number: 1)
        let style = TextStyle(isForPeople: true, hasColour: false, width: nil)
        let text = activity.lines(of: "/\u{1b}]0;x\u{7}", style, now: 0, height: 50).joined()
        #expect(!text.unicodeScalars.contains { $0.value < 32 || $0.value == 0x202e }, "\(text.debugDescription)")
    }

    @Test func `it writes a line for each sample, and leaves the store as it is`() async throws {
        let log = try TestLog.story()
        let before = try log.bytes
        for form in [[], ["--json"]] {
            let call = await Call.tool(words: ["top", "--count", "1"] + form, on: log)
            #expect(call.exit == .done && call.output.split(separator: "\n").count == 1, "\(call.output)\(call.errors)")
            let sample = try call.object()
            #expect(sample["event"] as? String == "@\(Story.events.count)")
            #expect((sample["outbox"] as? [String: Any])?["conflict"] as? Int == 1, "\(sample)")
        }
        #expect(try log.bytes == before)
        #expect(await Call.tool("top", "--count", "0", on: log).exit == .usage)
        #expect(await Call.tool("top", "-n", "1", "-s", "/nowhere").exit != .done)
    }

    @Test func `damage hides only what it damages`() async throws {
        let log = try TestLog.story()
        try log.flip("oat milk", in: TestLog.firstSegment)
        let sample = try await Call.tool("top", "-n", "1", on: log).object()
        #expect(sample["event"] as? String == "@\(Story.events.count)", "\(sample)")
        #expect((sample["newest"] as? [Any])?.isEmpty == false)
    }

    @Test func `at a terminal it fills the screen, and gives it back`() async throws {
        let interrupt = Interrupt()
        let log = try TestLog.story()
        let call = await Call.tool(words: ["top", "-n", "1"], on: log, isTerminal: true, interrupt: interrupt)
        #expect(call.output.hasPrefix("\u{1b}[?1049h") && call.output.hasSuffix("\u{1b}[?1049l"), "\(call.output)")
        #expect(call.output.contains("newest events"))
        interrupt.set()
        #expect(await Call.tool(words: ["top"], on: log, interrupt: interrupt).exit == .done)
    }
}
