// A follower's change that meets something that the follower had not seen: it merges, or is a conflict, or waits, and is never
// lost or made in part.

import SegmentLog
import SynclineCore
import SynclineTesting
import Testing

@testable import Syncline

@Suite struct UnseenChangeTests {
    private let disk = MemoryStorage(granularity: .sector)

    private func open(_ schema: SyncSchema? = nil) async throws -> SyncDatabase {
        var configuration = SyncConfiguration.process("app")
        configuration.schema = schema
        return try await SyncDatabase.open(disk, configuration)
    }

    private func follow(_ name: String = "widget") async throws -> SyncDatabase {
        try await SyncDatabase.follow(disk, .process(name))
    }

    /// A page of a pull; nil for a tombstone.
    private func pull(_ app: SyncDatabase, _ id: String, _ members: [String: Value]?) async throws {
        let row = members.map { members in Row(members.sorted { $0.key < $1.key }.map { .init($0.key, $0.value) }) }
        let page = PulledPage(table: "t", queryID: nil, rows: [PulledRow(id: id, row: row)], cursor: nil)
        try await app.perform { engine throws(SyncError) in _ = try engine.record(page: page) }
    }

    private func row(_ database: SyncDatabase, _ id: String = "a") async throws -> [String: Value]? {
        try await database.rows(of: "t").get(id: id)?.columns.own.dictionary
    }

    /// The log folds to the state that is there.
    private func check(_ app: SyncDatabase) async throws {
        let folded = try StateLoader(disk).load(usingCheckpoints: false)
        let (digest, totals) = (folded.store.digest.sealNote, folded.totals)
        try await app.perform { engine throws(SyncError) in
            #expect(engine.projector.store.digest.sealNote == digest)
            #expect(engine.projector.totals == totals)
        }
    }

    @Test func `a pulled edit of the same column is a conflict, and one of another column merges`() async throws {
        let app = try await open()
        try await pull(app, "a", ["n": 1, "m": 1, "version": "v1"])
        try await pull(app, "b", ["n": 1, "m": 1, "version": "v1"])
        let widget = try await follow()
        try await widget.rows(of: "t").update(.item("a", ["n": 2]))
        try await widget.rows(of: "t").update(.item("b", ["n": 2]))
        try await pull(app, "a", ["n": 3, "m": 1, "version": "v2"])
        try await pull(app, "b", ["n": 1, "m": 3, "version": "v2"])
        try await app.refresh()
        #expect(try await row(app, "b") == ["n": 2, "m": 3])
        let conflict = try #require(try await app.conflicts().first)
        #expect(try await app.conflicts().count == 1)
        #expect(conflict.id == "a" && conflict.kind == .update && conflict.reason == .changed)
        #expect(conflict.base?["n"] == 1 && conflict.mine?["n"] == 2 && conflict.server?["n"] == 3)
        try await check(app)
        try await app.resolve(table: "t", id: "a", .takeServer)
        #expect(try await row(app) == ["n": 3, "m": 1])
        #expect(try await app.pending().map(\.id) == ["b"])
    }

    @Test(arguments: [ConflictDecision.keepMine, .takeServer])
    func `an edit of a row that was deleted elsewhere is a conflict`(decision: ConflictDecision) async throws {
        let app = try await open()
        try await pull(app, "a", ["n": 1, "m": 1, "version": "v1"])
        let widget = try await follow()
        try await widget.rows(of: "t").update(.item("a", ["n": 2]))
        try await pull(app, "a", nil)
        try await app.refresh()
        let conflict = try #require(try await app.conflicts().first)
        #expect(conflict.reason == .gone && conflict.mine?["n"] == 2 && conflict.server == nil)
        #expect(try await row(app) == ["n": 2, "m": 1])
        try await app.resolve(table: "t", id: "a", decision)
        #expect(try await row(app) == (decision == .keepMine ? ["n": 2, "m": 1] : nil))
        #expect(try await app.pending().map(\.kind) == (decision == .keepMine ? [.insert] : []))
        try await check(app)
    }

    @Test func `a transaction is taken in whole, or as conflicts of its rows`() async throws {
        let app = try await open()
        for id in ["a", "b"] { try await pull(app, id, ["n": 1, "version": "v1"]) }
        let widget = try await follow()
        try await widget.transaction { transaction in
            try transaction.update("t", .item("a", ["n": 2]))
            try transaction.update("t", .item("b", ["n": 0]))
            try transaction.insert("t", .item("new", ["n": 7]))
            try transaction.update("t", .item("new", ["m": 8]))
        }
        try await pull(app, "a", ["n": 5, "version": "v2"])
        try await app.refresh()
        #expect(Set(try await app.conflicts().map(\.id)) == ["a", "b", "new"])
        #expect(try await row(app, "new") == ["n": 7, "m": 8])
        #expect(try await app.pending().allSatisfy { $0.state == .conflict })
        try await check(app)
        try await app.resolve(table: "t", id: "b", .takeServer)
        try await app.resolve(table: "t", id: "new", .takeServer)
        try await app.resolve(table: "t", id: "a", .keepMine)
        #expect(try await app.pending().map(\.id) == ["a"])
        #expect(try await row(app, "new") == nil)
        try await check(app)
    }

    struct Meeting: CustomTestStringConvertible {
        let testDescription: String
        let base: Bool
        let app: @Sendable (RowTable) async throws -> Void
        let widget: @Sendable (RowTable) async throws -> Void
        let appSide: [String: Value]?
        let widgetSide: [String: Value]?
    }

    static let meetings: [Meeting] = [true, false].flatMap { base in
        [
            Meeting(
                testDescription: "two updates of a column, with a base: \(base)", base: base,
                app: { try await $0.update(.item("a", ["n": 2, "k": 4])) },
                widget: { try await $0.update(.item("a", ["n": 3, "m": 9])) },
                appSide: ["n": 2, "m": 1, "k": 4], widgetSide: ["n": 3, "m": 9, "k": 4]),
            Meeting(
                testDescription: "the app deletes, with a base: \(base)", base: base,
                app: { try await $0.delete(id: "a") }, widget: { try await $0.update(.item("a", ["n": 3])) },
                appSide: nil, widgetSide: ["n": 3, "m": 1]),
            Meeting(
                testDescription: "the widget deletes, with a base: \(base)", base: base,
                app: { try await $0.update(.item("a", ["n": 2])) }, widget: { try await $0.delete(id: "a") },
                appSide: ["n": 2, "m": 1], widgetSide: nil),
        ]
    }

    @Test(arguments: meetings, [ConflictDecision.takeServer, .keepMine])
    func `two processes that change a row in different ways are in conflict`(
        meeting: Meeting, decision: ConflictDecision
    ) async throws {
        let app = try await open()
        if meeting.base {
            try await pull(app, "a", ["n": 1, "m": 1, "version": "v1"])
        } else {
            try await app.rows(of: "t").insert(.item("a", ["n": 1, "m": 1]))
        }
        let widget = try await follow()
        try await meeting.widget(widget.rows(of: "t"))
        try await meeting.app(app.rows(of: "t"))
        try await app.refresh()
        #expect(try await app.conflicts().map(\.id) == ["a"])
        #expect(try await row(app) == meeting.widgetSide)
        #expect(
            try await app.conflicts().first?.server.map { Set($0.own.columns) } == meeting.appSide.map { Set($0.keys) })
        await #expect(throws: SyncError.self) { try await app.resolve(table: "t", id: "a", .merge) }
        try await check(app)
        try await app.resolve(table: "t", id: "a", decision)
        let side = decision == .keepMine ? meeting.widgetSide : meeting.appSide
        #expect(try await row(app) == side)
        let kinds: [OperationKind] =
            side == nil ? (meeting.base ? [.delete] : []) : [meeting.base ? .update : .insert]
        #expect(try await app.pending().map(\.kind) == kinds)
        #expect(try await app.conflicts().isEmpty)
        try await check(app)
    }

    @Test func `the server's edit of the app's column is a conflict of its own when the first is decided`() async throws
    {
        let app = try await open()
        try await pull(app, "a", ["n": 1, "m": 1, "version": "v1"])
        let widget = try await follow()
        try await widget.rows(of: "t").update(.item("a", ["n": 3]))
        try await app.rows(of: "t").update(.item("a", ["n": 2]))
        try await app.refresh()
        try await pull(app, "a", ["n": 5, "m": 1, "version": "v2"])
        try await app.resolve(table: "t", id: "a", .takeServer)
        let conflict = try #require(try await app.conflicts().first)
        #expect(conflict.mine?["n"] == 2 && conflict.server?["n"] == 5 && conflict.base?["n"] == 1)
        try await check(app)
        // The same with a tombstone.
        try await pull(app, "b", ["n": 1, "version": "v1"])
        try await widget.refresh()
        try await widget.rows(of: "t").update(.item("b", ["n": 3]))
        try await app.rows(of: "t").update(.item("b", ["n": 2]))
        try await app.refresh()
        try await pull(app, "b", nil)
        try await app.resolve(table: "t", id: "b", .takeServer)
        #expect(try await app.conflicts().first { $0.id == "b" }?.reason == .gone)
        try await check(app)
    }

    @Test func `what meets a frozen operation waits, is listed and can be dropped`() async throws {
        let app = try await open()
        try await pull(app, "a", ["n": 1, "version": "v1"])
        let (widget, other) = (try await follow("one"), try await follow("two"))
        try await widget.rows(of: "t").update(.item("a", ["n": 2]))
        try await other.rows(of: "t").update(.item("a", ["n": 3]))
        try await pull(app, "a", ["n": 4, "version": "v2"])
        let error = await #expect(throws: SyncError.self) { try await app.refresh() }
        #expect(error?.code == .pendingChanges)
        let waiting = try await app.waitingChanges()
        #expect(waiting.count == 1 && waiting[0].columns["n"] != nil && waiting[0].id == "a")
        #expect(try await app.conflicts().count == 1)
        try await app.resolve(table: "t", id: "a", .takeServer)
        // It is taken in by itself when the conflict is decided.
        #expect(try await app.waitingChanges().isEmpty)
        #expect(try await app.conflicts().count == 1)
        try await widget.rows(of: "t").update(.item("a", ["n": 6]))
        await #expect(throws: SyncError.self) { try await app.refresh() }
        let left = try #require(try await app.waitingChanges().first)
        try await app.dropWaiting(left.commit)
        try await app.refresh()
        #expect(try await app.waitingChanges().isEmpty)
        await #expect(throws: SyncError.self) { try await app.dropWaiting(left.commit) }
    }

    // MARK: Migrations

    private static let before = SyncSchema(version: 1, tables: [TableSchema("t")])
    private static let after = SyncSchema(
        version: 2, tables: [TableSchema("t", columns: [ColumnSchema("count", onServer: "n")])],
        migrations: [
            Migration(
                to: 2,
                steps: [
                    .renameColumn(table: "t", from: "n", to: "count"),
                    .transform(table: "t", column: "state") { $0 == "open" ? "OPEN" : $0 },
                    .dropColumn(table: "t", column: "old"), .dropTable("gone", discardsPending: true),
                ])
        ])

    @Test(arguments: [false, true])
    func `what waits is taken in under the schema that it was made with`(isLate: Bool) async throws {
        let app = try await open(Self.before)
        try await pull(app, "a", ["n": 1, "state": "shut", "old": 1, "version": "v1"])
        let widget = try await follow()
        if isLate {
            try await app.close()
            try await open(Self.after).close()
        }
        try await widget.rows(of: "t").update(.item("a", ["n": 2, "state": "open"]))
        try await widget.rows(of: "t").update(.item("a", ["old": 3]))
        try await widget.rows(of: "t").insert(.item("new", ["n": 5]))
        if !isLate { try await app.close() }
        let later = try await open(Self.after)
        #expect(try await row(later) == ["count": 2, "state": "OPEN"])
        #expect(try await row(later, "new") == ["count": 5])
        #expect(try await later.conflicts().isEmpty)
        #expect(try await later.waitingChanges().isEmpty)
        try await check(later)
    }

    @Test func `a change of a table that was dropped meanwhile waits, and only the app knows the migrations`()
        async throws
    {
        let app = try await open(Self.before)
        let widget = try await follow()
        try await app.close()
        try await open(Self.after).close()
        try await widget.rows(of: "gone").insert(.item("x", [:]))
        let tool = try await open()
        #expect(try await tool.waitingChanges().map(\.table) == ["gone"])
        try await tool.close()
        let later = try await open(Self.after)
        #expect(try await later.waitingChanges().map(\.table) == ["gone"])
    }
}
