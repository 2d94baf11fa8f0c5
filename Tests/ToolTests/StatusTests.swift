// `status`: one page about the store, and what its log tells about the last push and the last pull.

import Foundation
import SegmentLog
import Syncline
import Testing

@testable import SynclineCore
@testable import SynclineTool

@Suite struct LastSyncTests {
    private static func at(_ event: UInt64) -> Position { Position(event: event, index: 0) }

    private static func sent(_ id: String) -> Event.Body {
        .sent([SentOperation(table: "t", id: id, operationID: "O" + id, position: at(1), through: at(1))])
    }

    private static func answered(_ id: String, _ outcome: Answer.Outcome) -> Event.Body {
        .answered(Answer(table: "t", id: id, operationID: "O" + id, status: 200, outcome: outcome))
    }

    private static let done = Answer.Outcome.done(PulledRow(id: "a", row: .empty))
    private static let opened = Event.Body.opened(
        Opening(device: "", engineVersion: "0.1.0", projectorVersion: 5, schemaVersion: 0))

    /// Folds events that are a second apart.
    private func fold(_ bodies: [Event.Body], from first: UInt64 = 1) -> LastSyncs {
        var syncs = LastSyncs()
        for (index, body) in bodies.enumerated() {
            syncs.add(Event(time: Int64(index) * 1000, body), number: first + UInt64(index))
        }
        return syncs
    }

    @Test func `a push lasts until each operation has its answer, and a policy decides within it`() throws {
        let syncs = fold(Story.events)
        let push = try #require(syncs.push)
        #expect(
            push.first == 9 && push.last == 15 && push.begin == Date(milliseconds: 8000)
                && push.end == Date(milliseconds: 14_000))
        #expect(push.operations == ["done": 2] && push.outcome == .complete)
        #expect(syncs.pages.map(\.event) == [17] && syncs.pages[0].queryID == "all" && syncs.pages[0].rows == 1)
    }

    @Test func `an operation without an answer shows, until the store is opened again`() throws {
        let lost = try #require(fold([Self.sent("a"), Self.sent("b"), Self.answered("a", .parked)]).push)
        #expect(lost.outcome == .unanswered && lost.unanswered == 1 && lost.operations == ["parked": 1])
        let later = try #require(
            fold([Self.sent("a"), Self.sent("b"), Self.opened, Self.answered("b", Self.done)]).push)
        #expect(later.first == 4 && later.last == 4 && later.begin == nil && later.unanswered == 1)
        #expect(later.json.text.contains(#""seconds":null"#))
    }

    @Test func `another push begins after the last answer`() throws {
        let local = Event.Body.local(LocalTransaction([], isGrouped: false))
        let bodies = [
            Self.sent("a"), Self.answered("a", .parked), local, Self.sent("b"), Self.answered("b", Self.done),
        ]
        let push = try #require(fold(bodies).push)
        #expect(push.first == 4 && push.last == 5 && push.operations == ["done": 1] && push.outcome == .complete)
        #expect(push.text(now: 64_000) == "1 minute ago: 1 done, in 1.000 s (@4..5)")
        // A conflict that a policy gives to the server needs no other request.
        let resolution = Event.Body.resolved(
            Resolution(table: "t", id: "a", choice: .takeServer, change: nil, policy: "server-wins"))
        let conflict = Self.answered("a", .conflict(server: nil, code: "row-gone"))
        let decided = try #require(fold([Self.sent("a"), conflict, resolution]).push)
        #expect(decided.operations == ["decided": 1] && decided.outcome == .complete)
        #expect(fold([Self.sent("a"), conflict]).push?.outcome == .incomplete)
    }

    @Test(arguments: [
        (0, "just now"), (1500, "1 second ago"), (59_999, "59 seconds ago"), (60_000, "1 minute ago"),
        (7_200_000, "2 hours ago"), (260_000_000, "3 days ago"), (-1, "in the future"),
        (.max, "106,751,991,167 days ago"),
    ])
    func `an age is in the largest unit that fits`(age: Int64, text: String) {
        #expect(ago(0, now: age) == text)
        #expect(ago(.max, now: .min) == "in the future")
    }
}

@Suite struct StatusTests {
    @Test func `one page tells the state of a store`() async throws {
        let log = try TestLog.story(hours: -2)
        let status = await Call.tool("status", on: log)
        #expect(status.exit == .done && status.errors.isEmpty, "\(status.errors)")
        #expect(
            status.output == """
                store       <log>
                server      none
                health      1 operation waits for a decision, 1 cursor is ahead of the clock
                outbox      1 to push, 1 in conflict
                last push   1 hour ago: 2 done, in 6 minutes (@9..15)
                last page   1 hour ago: todoitem/all, 1 row (@17)
                cursor      todoitem/all at 2026-05-19T21:30:00.000Z
                schema      none
                events      through @20, written 1 hour ago
                history     from @1, written 2 hours ago
                size        3392 bytes in 2 segments, no checkpoint

                todoitem  4 rows  n, text, updatedAt, version

                  syncline conflicts  list the operations that wait for a decision
                  syncline config backend https://…  set the server to push to and pull from

                """)
    }

    @Test func `the same as JSON, and of an empty store`() async throws {
        let log = try TestLog.story()
        let object = try await Call.tool("status", "--json", on: log).object()
        let push = try #require(object["lastPush"] as? [String: Any])
        #expect(push["outcome"] as? String == "complete" && push["seconds"] as? Double == 360)
        #expect(object["healthy"] as? Bool == false && object["searched"] as? String == "@1")
        #expect((object["cursors"] as? [[String: Any]])?.first?["queryId"] as? String == "all")
        #expect((object["history"] as? [String: Any])?["since"] as? String == "2023-11-14T22:13:20.000Z")

        let folder = try TemporaryFolder()
        _ = await Call.tool("init", "-s", folder.path + "/store")
        let empty = await Call.tool("status", "-s", folder.path + "/store")
        #expect(empty.output.contains("health      good\noutbox      empty\nlast push   no request in the log\n"))
        #expect(await Call.tool("status", "-s", folder.path + "/none").exit == .failed)
    }

    @Test func `damage shows, and what can be read is shown`() async throws {
        let log = try TestLog.story()
        try log.change("00000001-0000000000000001.seg") { data in
            if let place = data.range(of: Data("salt".utf8), options: .backwards) { data[place.lowerBound] ^= 1 }
        }
        let status = await Call.tool("status", on: log)
        #expect(status.exit == .partial)
        #expect(status.output.contains("health      1 place of damage"), "\(status.output)")
        #expect(status.output.contains("  syncline verify  check every frame, and say what to do"))
    }

    @Test func `it writes nothing`() async throws {
        let log = try TestLog.story()
        let before = try folderBytes(log.path)
        #expect(await Call.tool("status", on: log).exit == .done)
        #expect(try folderBytes(log.path) == before)
    }
}
