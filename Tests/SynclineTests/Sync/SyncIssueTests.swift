// What needs a person: each kind comes, says what it is, and goes by each thing that can be done; the live list is the list.

import Foundation
import SegmentLog
import SynclineCore
import SynclineGround
import SynclineTesting
import Testing

@testable import Syncline

@Suite(.timeLimit(.minutes(10))) struct SyncIssueTests {
    /// The only issue.
    private func issue(_ store: IssueStore) async throws -> SyncIssue {
        let issues = try await store.database.issues()
        #expect(issues.count == 1)
        return try #require(issues.first)
    }

    /// The values of each row in the columns in which they differ.
    private func lines(_ issue: SyncIssue) -> [String: [Value?]] {
        Dictionary(uniqueKeysWithValues: issue.lines.map { ($0.column, [$0.base, $0.mine, $0.server]) })
    }

    private func value(_ store: IssueStore, _ id: String) async throws -> Value? {
        try await store.table.get(id: id)?.columns["n"]
    }

    @Test(arguments: [(ConflictDecision.keepMine, Value(2)), (.takeServer, 3), (.row(Row([.init("n", 5)])), 5)])
    func `a conflict shows three rows, and each decision ends it`(decision: ConflictDecision, left: Value) async throws
    {
        let store = try await IssueStore(rows: [.item("a", ["n": 1])])
        try await store.pull()
        try await store.conflict("a")
        let issue = try await issue(store)
        #expect(issue.kind == .conflict && issue.address == "t/a")
        #expect(issue.reason == "The row was changed here and on the server.")
        #expect(lines(issue) == ["n": [1, 2, 3]])
        #expect(issue.actions == [.decide(.keepMine), .decide(.takeServer)])
        await #expect { try await store.database.resolve(issue, .retry) } throws: {
            ($0 as? SyncError)?.code == .operationNotFound
        }
        try await store.database.resolve(issue, .decide(decision))
        #expect(try await store.database.issues().isEmpty)
        #expect(try await value(store, "a") == left)
        #expect(try await store.push().outcome == .complete)
        await #expect { try await store.database.resolve(issue, .decide(.takeServer)) } throws: {
            ($0 as? SyncError)?.code == .operationNotFound
        }
    }

    @Test func `a conflict whose sides can be combined says so, and a deleted row has its own sentence`() async throws {
        let store = try await IssueStore(rows: [.item("a", ["n": 1, "m": 1]), .item("b", ["n": 1])])
        try await store.pull()
        try await store.table.update(.item("a", ["n": 2]))
        store.server.upsert([.item("a", ["n": 1, "m": 4])], in: "t")
        try await store.table.update(.item("b", ["n": 2]))
        store.server.remove(["b"], from: "t")
        try await store.push()
        let issues = try await store.database.issues()
        #expect(issues.map(\.actions.first) == [.decide(.merge), .decide(.keepMine)])
        #expect(issues.last?.reason == "The row was changed here and deleted on the server.")
        for issue in issues { try await store.database.resolve(issue, try #require(issue.actions.first)) }
        #expect(try await store.push().outcome == .complete)
        #expect(try await value(store, "a") == 2)
    }

    @Test func `a decision about rows that have changed meanwhile is refused`() async throws {
        let store = try await IssueStore(rows: [.item("a", ["n": 1])])
        try await store.pull()
        try await store.conflict("a")
        let shown = try await issue(store)
        store.server.upsert([.item("a", ["n": 4])], in: "t")
        try await store.pull()
        let event = store.database.lastEvent
        await #expect { try await store.database.resolve(shown, .decide(.takeServer)) } throws: {
            ($0 as? SyncError)?.code == .staleItem
        }
        #expect(store.database.lastEvent == event)
        // A later change by the app stays on top of each decision.
        let newest = try await issue(store)
        try await store.table.update(.item("a", ["m": 7]))
        try await store.database.resolve(newest, .decide(.takeServer))
        #expect(try await value(store, "a") == 4)
        #expect(try await store.table.get(id: "a")?.columns["m"] == 7)
    }

    @Test(arguments: [SyncIssue.Action.retry, .discard])
    func `a refused operation has the server's words, and is sent again or dropped`(action: SyncIssue.Action)
        async throws
    {
        let store = try await IssueStore()
        try await store.table.insert(.item("a", ["n": 1]))
        store.refuse(403)
        try await store.push()
        let issue = try await issue(store)
        #expect(issue.kind == .refused && issue.reason == "The server refused the change.")
        #expect(issue.detail?.hasPrefix("403: ") == true && issue.detail?.contains("not on Sundays") == true)
        #expect(lines(issue) == ["n": [nil, 1, nil]])
        #expect(issue.actions == [.retry, .discard])
        try await store.database.resolve(issue, action)
        #expect(try await store.database.issues().isEmpty)
        #expect(try await store.push().outcome == .complete)
        #expect(store.server.rows(of: "t").count == (action == .retry ? 1 : 0))
    }

    @Test(arguments: [SyncIssue.Action.retry, .discard])
    func `a held row is released or dropped`(action: SyncIssue.Action) async throws {
        let store = try await IssueStore(rows: [.item("a", ["n": 1])])
        try await store.pull()
        try await store.table.update(.item("a", ["n": 2]))
        try await store.database.hold(table: "t", id: "a")
        let issue = try await issue(store)
        #expect(issue.kind == .held && issue.actions == [.retry, .discard])
        #expect(lines(issue) == ["n": [1, 2, nil]])
        if action == .discard {
            try await store.table.update(.item("a", ["n": 3]))
            await #expect { try await store.database.resolve(issue, .discard) } throws: {
                ($0 as? SyncError)?.code == .staleItem
            }
        }
        try await store.database.resolve(try await self.issue(store), action)
        #expect(try await store.database.issues().isEmpty)
        #expect(try await value(store, "a") == (action == .retry ? 2 : 1))
    }

    @Test func `what the server may have got is not dropped without a push`() async throws {
        let store = try await IssueStore(rows: [.item("a", ["n": 1])])
        try await store.pull()
        try await store.table.update(.item("a", ["n": 2]))
        store.refuse(500)
        try await store.push()
        try await store.database.hold(table: "t", id: "a")
        #expect(try await issue(store).actions == [.retry])
    }

    @Test func `an unreadable row is listed until it can be read`() async throws {
        let store = try await IssueStore(rows: [.item("a", ["n": 1])])
        try await store.pull()
        store.putUnreadable("a")
        try await store.pull()
        let issue = try await issue(store)
        #expect(issue.kind == .unreadable && issue.address == "t/a" && issue.base?["n"] == 1)
        #expect(issue.detail?.isEmpty == false && issue.actions == [.retry])
        try await store.database.resolve(issue, .retry)
        #expect(try await store.database.issues().count == 1)
        store.server.upsert([.item("a", ["n": 2, "text": "flat"])], in: "t")
        try await store.database.resolve(issue, .retry)
        #expect(try await store.database.issues().isEmpty)
        #expect(try await value(store, "a") == 2)
    }

    @Test(arguments: [SyncIssue.Action.retry, .discard])
    func `a change of another process that can't be taken in is tried again or dropped`(action: SyncIssue.Action)
        async throws
    {
        let store = try await IssueStore(rows: [.item("a", ["n": 1])])
        try await store.pull()
        let widget = try await store.follow()
        try await store.conflict("a")
        try await widget.rows(of: "t").update(.item("a", ["n": 7]))
        try await widget.rows(of: "t").insert(.item("b", ["n": 8]))
        await #expect(throws: SyncError.self) { try await store.database.refresh() }
        let issues = try await store.database.issues()
        #expect(issues.map(\.kind) == [.conflict, .waiting, .waiting])
        #expect(issues.map(\.address) == ["t/a", "t/a", "t/b"])
        #expect(lines(issues[1]) == ["n": [nil, 7, nil]])
        #expect(issues[2].detail == "an earlier change of its process waits")
        if action == .discard {
            try await store.database.resolve(issues[1], .discard)
            #expect(try await store.database.issues().map(\.kind) == [.conflict])
            #expect(try await value(store, "b") == 8)
        } else {
            await #expect(throws: SyncError.self) { try await store.database.resolve(issues[1], .retry) }
            try await store.database.resolve(issues[0], .decide(.takeServer))
            // It was tried again when the conflict was decided, and is in conflict itself.
            let left = try await store.database.issues()
            #expect(left.map(\.kind) == [.conflict])
            #expect(left.first.map(lines) == ["n": [1, 7, 3]])
        }
        try await widget.refresh()
        #expect(try await widget.issues() == store.database.issues())
    }

    @Test func `the list follows what no row shows`() async throws {
        let store = try await IssueStore(rows: [.item("a", ["n": 1])])
        try await store.pull()
        var lists = store.database.observeIssues().makeAsyncIterator()
        #expect(try await lists.next() == [])
        try await store.table.update(.item("a", ["n": 2]))
        try await store.database.hold(table: "t", id: "a")
        #expect(try await lists.next()?.map(\.kind) == [.held])
        try await store.database.release(table: "t", id: "a")
        #expect(try await lists.next() == [])
        store.putUnreadable("b")
        try await store.pull()
        #expect(try await lists.next()?.map(\.kind) == [.unreadable])
        try await store.database.purge(table: "t", force: true)
        #expect(try await lists.next() == [])
        try await store.database.close()
        #expect(try await lists.next() == nil)
        await #expect { _ = try await store.database.issues() } throws: { ($0 as? SyncError)?.code == .closed }
    }

    @Test(arguments: 0..<20) func `the live list is the list at every moment`(seed: UInt64) async throws {
        let store = try await IssueStore(rows: ["a", "b", "c", "d"].map { .item($0, ["n": 0, "m": 0]) })
        var chance = Chance(seed: seed)
        let database = store.database
        try await store.pull()
        let widget = try await store.follow()
        let (issues, health) = (database.observeIssues().begin(), database.observeHealth().begin())
        var (list, counts): ([SyncIssue]?, SyncHealth?)
        for step in 0..<40 {
            let id = chance.pick(["a", "b", "c", "d"])
            let item = Value.item(id, [chance.pick(["n", "m"]): .integer(Int64(chance.below(9)))])
            switch chance.below(14) {
            case 0...2: _ = try? await store.table.update(item)
            case 3: _ = try? await store.table.insert(item)
            case 4: _ = try? await store.table.delete(id: id)
            case 5: store.server.upsert([item], in: "t")
            case 6: chance.once(in: 3) ? store.putUnreadable(id) : store.server.remove([id], from: "t")
            case 7: try await store.pull()
            case 8:
                if chance.once(in: 2) { store.refuse(chance.pick([400, 500, 412])) }
                try await store.push()
            case 9: try? await database.hold(table: "t", id: id)
            case 10:
                try? await widget.refresh()
                _ = try? await widget.rows(of: "t").update(item)
            case 11: try? await database.refresh()
            default:
                guard let issue = try await database.issues().randomElement(using: &chance) else { continue }
                let action = chance.once(in: 4) ? .decide(.row(Row([.init("n", 1)]))) : chance.pick(issue.actions)
                try? await database.resolve(issue, action)
            }
            database.writer.observers.wait()
            if let newest = issues.take() { list = try newest.get() }
            if let newest = health.take() { counts = try newest.get() }
            let expected = try await database.issues()
            #expect(list == expected, "seed \(seed), step \(step)")
            #expect(Set(expected.map(\.id)).count == expected.count)
            #expect(try await counts == database.health(), "seed \(seed), step \(step)")
            #expect(counts?.pending == Int(database.totals.pending))
        }
        try await widget.close()
        try await database.close()
    }

    @Test func `the numbers count each kind, and the moments are those of the last success`() async throws {
        let clock = ManualEnvironment()
        let store = try await IssueStore(rows: [.item("a", ["n": 1]), .item("b", ["n": 1])], environment: clock)
        let database = store.database
        #expect(try await database.health() == SyncHealth())
        try await store.pull()
        let began = clock.now()
        #expect(try await database.health().lastPulls == ["t": began])
        clock.advance(by: .seconds(60))
        try await store.conflict("a")
        try await store.table.insert(.item("c", ["n": 1]))
        store.refuse(400)
        try await store.push()
        try await store.table.update(.item("b", ["n": 2]))
        try await database.hold(table: "t", id: "b")
        store.putUnreadable("d")
        clock.advance(by: .seconds(60))
        try await store.pull()
        let health = try await database.health()
        #expect((health.conflicts, health.refused, health.held, health.unreadable, health.waiting) == (1, 1, 1, 1, 0))
        #expect(health.pending == 3)
        #expect(health.lastPush == began.addingTimeInterval(60))
        #expect(health.lastPulls == ["t": began.addingTimeInterval(120)])
        clock.advance(by: .seconds(60))
        store.server.setTable("t", rows: [])
        #expect(try await store.pull().reason == nil)
        #expect(try await database.health().lastPulls == ["t": began.addingTimeInterval(180)])
    }
}
