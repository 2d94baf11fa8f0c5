// Tables that never leave the device: what is done with them like with others, and what never is.

import Foundation
import SegmentLog
import SynclineCore
import SynclineTesting
import SynclineWire
import Testing

@testable import Syncline

@Suite struct LocalTableTests {
    private func rows(_ database: SyncDatabase, _ table: String = "draft") async throws -> [String: [String: Value]] {
        try await database.rows(of: table).query(RowQuery(table: table)).rows.reduce(into: [:]) {
            $0[$1.id] = $1.columns.own.dictionary
        }
    }

    /// A store whose table `draft` is local and has two rows, and whose table `t` has two of the server.
    private func pair(_ server: ServerProtocol = .datasync3) async throws -> SyncPair {
        let pair = try await SyncPair(server, rows: [.item("a", ["n": 1]), .item("b", ["n": 2])])
        try await pair.pull()
        try await pair.database.declareLocal(table: "draft")
        try await pair.database.rows(of: "draft").insert(.item("x", ["n": 10, "text": "private"]))
        try await pair.database.rows(of: "draft").insert(.item("y", ["n": 20]))
        return pair
    }

    private func expect(
        _ code: SyncError.Code, _ location: SourceLocation = #_sourceLocation, _ body: () async throws -> Void
    ) async {
        let error = await #expect(throws: SyncError.self, sourceLocation: location) { try await body() }
        #expect(error?.code == code, sourceLocation: location)
    }

    // MARK: Sync

    @Test(arguments: ServerProtocol.allCases)
    func `its rows are changed like others, and nothing of them is sent`(_ server: ServerProtocol) async throws {
        let pair = try await pair(server)
        pair.server.setTable("draft", rows: [.item("theirs", ["n": 0])])
        try await pair.database.transaction { transaction in
            try transaction.update("draft", .item("x", ["n": 11]))
            try transaction.delete("draft", id: "y")
            try transaction.insert("draft", .item("z", ["n": 30]))
            try transaction.update("t", .item("a", ["n": 3]))
        }
        #expect(try await rows(pair.database) == ["x": ["n": 11, "text": "private"], "z": ["n": 30]])
        #expect(try await pair.database.pending().map(\.table) == ["t"])
        let report = try await pair.database.sync()
        #expect(report.push.outcome == .complete && report.pulls.map(\.table) == ["t"])
        #expect(pair.serverRow("a")?[member: "n"] == 3)
        #expect(pair.server.rows(of: "draft").map { $0[member: "id"] } == ["theirs"])
        #expect(try await rows(pair.database).count == 2)
        #expect(try await pair.database.conflicts().isEmpty)
    }

    @Test func `a push, pull, sync or resync that names it is refused before any request`() async throws {
        let pair = try await pair()
        try await pair.table.update(.item("a", ["n": 3]))
        let requests = pair.network.requestCount
        await expect(.invalidConfiguration) { _ = try await pair.database.pull("draft") }
        await expect(.invalidConfiguration) { _ = try await pair.database.push(PushSettings(tables: ["draft"])) }
        await expect(.invalidConfiguration) { _ = try await pair.database.sync(["t", "draft"]) }
        await expect(.invalidConfiguration) { _ = try await pair.database.resync(["draft"]) }
        await expect(.invalidConfiguration) { _ = try await pair.database.pushPreview(PushSettings(tables: ["draft"])) }
        #expect(pair.network.requestCount == requests)
        #expect(try await pair.database.resync().pulls.map(\.table) == ["t"])
        #expect(try await rows(pair.database).count == 2)
    }

    // MARK: Declaring

    @Test func `a table with rows or cursors is not made local, and nothing of the declaration stays`() async throws {
        let pair = try await pair()
        await expect(.invalidConfiguration) { try await pair.database.declareLocal(table: "t") }
        try await pair.database.rows(of: "new").insert(.item("1", [:]))
        await expect(.invalidConfiguration) { try await pair.database.declareLocal(table: "new") }
        pair.server.setTable("empty", rows: [])
        _ = try await pair.database.pull("empty", PullSettings(queryID: "q"))
        await expect(.invalidConfiguration) { try await pair.database.declareLocal(table: "empty") }
        #expect(try pair.database.localTables() == ["draft"])
        let event = pair.database.lastEvent
        try await pair.database.declareLocal(table: "draft")
        #expect(pair.database.lastEvent == event, "the same again")
    }

    private struct Draft: SyncModel {
        static let isLocal = true
        var id: String
        var n: Int
    }

    /// The same table as another screen knows it.
    private struct ShortDraft: SyncModel {
        static let table = "draft"
        var id: String
    }

    @Test func `a model says that its table is local, before its first row`() async throws {
        let pair = try await SyncPair()
        let drafts = try pair.database.table(Draft.self)
        try await drafts.insert(Draft(id: "a", n: 1))
        try await drafts.update(id: "a") { $0.n += 1 }
        _ = try pair.database.table(ShortDraft.self)
        #expect(try await drafts.where { $0.n == 2 }.get().map(\.id) == ["a"])
        #expect(try pair.database.localTables() == ["draft"])
        #expect(try await pair.database.pending().isEmpty)
        try await pair.table.insert(.item("a", [:]))
        #expect(throws: SyncError.self) { try pair.database.table(Draft.self, named: "t") }
    }

    @Test func `a schema says it, and a migration ends it together with the rows`() async throws {
        let disk = MemoryStorage(granularity: .sector)
        func open(_ schema: SyncSchema) async throws -> SyncDatabase {
            var configuration = SyncConfiguration.test()
            configuration.schema = schema
            return try await SyncDatabase.open(disk, configuration)
        }
        let local = TableSchema("draft", columns: [.column("n", .integer)], isLocal: true)
        var database = try await open(SyncSchema(version: 1, tables: [local], isStrict: true))
        try await database.rows(of: "draft").insert(.item("a", ["n": 1]))
        try await database.close()
        database = try await open(SyncSchema(version: 2, tables: [TableSchema("draft")], isStrict: true))
        #expect(try database.localTables() == ["draft"], "it is not pushed by accident")
        try await database.close()
        var drop = SyncSchema(version: 3, migrations: [Migration(to: 3, steps: [.dropTable("draft")])])
        await expect(.pendingChanges) { _ = try await open(drop) }
        drop.migrations[0].steps = [.dropTable("draft", discardsPending: true)]
        database = try await open(drop)
        #expect(try await rows(database).isEmpty && database.localTables().isEmpty)
        try await database.rows(of: "draft").insert(.item("a", ["n": 1]))
        #expect(try await database.pending().count == 1)
    }

    @Test func `a schema that gives a local table a server's name or local columns is refused`() throws {
        let named = TableSchema("t", columns: [.column("n", onServer: "m")], isLocal: true)
        #expect(throws: SyncError.self) { try SyncSchema(version: 1, tables: [named]).check() }
        let local = TableSchema("t", localColumns: ["n"], isLocal: true)
        #expect(throws: SyncError.self) { try SyncSchema(version: 1, tables: [local]).check() }
    }

    // MARK: What no server has

    @Test func `a purge needs force`() async throws {
        let pair = try await pair()
        await expect(.pendingChanges) { try await pair.database.purge(table: "draft") }
        try await pair.database.purge(table: "draft", filter: try FilterExpression(parsing: "n gt 10"), force: true)
        #expect(try await rows(pair.database).keys.sorted() == ["x"])
    }

    @Test func `its rows survive the loss of all checkpoints after a compaction`() async throws {
        let pair = try await pair()
        try await pair.database.set(retention: .events(1))
        try await pair.database.compact()
        #expect(try LogReader.open(pair.disk, showing: .written).floor > .first)
        try await pair.database.rows(of: "draft").update(.item("x", ["n": 12]))
        let shown = try await rows(pair.database)
        let made = pair.database.totals.made
        try await pair.database.close()
        let damaged = pair.disk
        for through in try Checkpoint.list(damaged) { try damaged.remove(FileName.checkpoint(through: through)) }
        let fresh = MemoryStorage()
        let rescue = try #require(try Rescue.run(from: damaged, to: fresh, now: 0))
        #expect(rescue.leftOut.isEmpty)
        let database = try await pair.open(fresh)
        #expect(try await rows(database) == shown)
        #expect(try database.localTables() == ["draft"])
        #expect(try await database.pending().isEmpty && made == 0)
    }

    // MARK: Time

    @Test func `undo passes it over, and a restoration puts its rows back`() async throws {
        let pair = try await pair()
        let then = try pair.database.present
        try await pair.table.update(.item("a", ["n": 3]))
        try await pair.database.transaction { transaction in
            try transaction.update("t", .item("b", ["n": 4]))
            try transaction.delete("draft", id: "x")
        }
        let mixed = pair.database.lastEvent
        try await pair.database.rows(of: "draft").update(.item("y", ["n": 21]))
        #expect(try await pair.database.undo() == mixed - 1, "no change of a draft, alone or with others")
        await expect(.operationNotFound) { try await pair.database.undo() }
        try await pair.database.restore(try await pair.database.restoration(undoing: mixed))
        #expect(try await rows(pair.database)["x"] == ["n": 10, "text": "private"])
        #expect(try await rows(pair.database, "t")["b"] == ["n": 2])
        try await pair.database.restore(try await then.restoration(of: .table("draft")))
        #expect(try await rows(pair.database) == ["x": ["n": 10, "text": "private"], "y": ["n": 20]])
        #expect(try await then.query(RowQuery(table: "draft")).rows.map(\.id) == ["x", "y"])
        let origins = try #require(try await pair.database.blame("draft", id: "y"))
        #expect(origins.map(\.provenance) == [.transaction(change: 1, of: 1)])
    }

    @Test func `changes of it land with those of a branch`() async throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "local-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let database = try await SyncDatabase.open(at: path, .test())
        try await database.declareLocal(table: "draft")
        try await database.rows(of: "draft").insert(.item("x", ["n": 1]))
        try await database.makeBranch("idea")
        let branch = try await database.openBranch("idea")
        try await branch.transaction { transaction in
            try transaction.update("draft", .item("x", ["n": 2]))
            try transaction.insert("t", .item("a", ["n": 3]))
        }
        try await branch.close()
        #expect(try await rows(database) == ["x": ["n": 1]])
        try await database.land("idea")
        #expect(try await rows(database) == ["x": ["n": 2]])
        #expect(try await database.pending().map(\.table) == ["t"])
        try await database.close()
    }

    // MARK: Other processes

    @Test func `changes of two processes meet without a conflict, and the later one wins`() async throws {
        let disk = MemoryStorage(granularity: .sector)
        let app = try await SyncDatabase.open(disk, .process("app"))
        try await app.declareLocal(table: "draft")
        let drafts = app.rows(of: "draft")
        for id in ["x", "y", "z"] { try await drafts.insert(.item(id, ["n": 1, "text": .string(id)])) }
        try await app.rows(of: "t").insert(.item("a", ["n": 1]))
        let widget = try await SyncDatabase.follow(disk, .process("widget"))
        try await drafts.update(.item("x", ["n": 2, "text": "app"]))
        try await drafts.delete(id: "y")
        try await app.rows(of: "t").update(.item("a", ["n": 2]))
        try await widget.transaction { transaction in
            try transaction.update("draft", .item("x", ["n": 3]))
            try transaction.update("draft", .item("y", ["n": 4]))
            try transaction.delete("draft", id: "z")
            try transaction.insert("draft", .item("w", ["n": 5]))
            try transaction.update("t", .item("a", ["n": 6]))
        }
        #expect(try await rows(widget)["x"] == ["n": 3, "text": "x"])
        try await app.refresh()
        #expect(
            try await rows(app) == [
                "x": ["n": 3, "text": "app"], "y": ["n": 4, "text": "y"], "w": ["n": 5],
            ])
        #expect(try await app.conflicts().map(\.table) == ["t"], "the other table is in conflict as ever")
        try await widget.refresh()
        #expect(try await rows(widget) == rows(app))
        #expect(try Tributaries.all(disk) == [])
    }

    // MARK: Chance

    @Test(arguments: Seeds.some(12))
    func `a random history ends as a dictionary says, after kills and in a fold of the log`(_ seed: UInt64) async throws
    {
        var chance = Chance(seed: seed)
        var pair = try await SyncPair(chance.once(in: 2) ? .zumo2 : .datasync3, rows: Value.rows(5))
        try await pair.database.declareLocal(table: "draft")
        if chance.once(in: 3) { try await pair.database.declareIndex(table: "draft", columns: ["n"]) }
        if chance.once(in: 2) { try await pair.database.set(retention: .events(5)) }
        var known: [String: [String: Value]] = [:]
        for step in 0..<60 {
            let (id, n) = ("d\(chance.below(8))", Value.integer(Int64(step)))
            switch chance.below(14) {
            case 0..<3:
                if (try? await pair.database.rows(of: "draft").insert(.item(id, ["n": n]))) != nil {
                    #expect(known[id] == nil)
                    known[id] = ["n": n]
                }
            case 3..<6:
                try await pair.database.rows(of: "draft").update(.item(id, ["m": n]))
                known[id, default: [:]]["m"] = n
            case 6:
                try await pair.database.rows(of: "draft").delete(id: id)
                known[id] = nil
            case 7, 8:
                try await pair.database.transaction { transaction in
                    try transaction.update("draft", .item(id, ["n": n]))
                    try transaction.update("t", .item("r\(step % 5)", ["n": n]))
                    try transaction.update("draft", .item("d0", ["n": n]))
                }
                known[id, default: [:]]["n"] = n
                known["d0", default: [:]]["n"] = n
            case 9: _ = try? await pair.database.undo()
            case 10: _ = try await pair.database.sync()
            case 11: try await pair.database.compact()
            case 12: try await pair.die()
            default: try await pair.database.checkpoint()
            }
            #expect(try await rows(pair.database) == known, "seed \(seed), step \(step)")
        }
        let ordered = try await pair.database.rows(of: "draft").query(
            RowQuery(table: "draft", order: [RowQuery.Key("n")])
        ).rows.map(\.id)
        #expect(Set(ordered) == Set(known.keys))
        try await pair.database.close()
        let notes = try LogVerification(pair.disk).run().segments.compactMap { segment in
            segment.note.map { (note: $0, file: segment.name) }
        }
        #expect(try StateCheck(pair.disk, notes: notes).run(fromBeginning: true).isEmpty)
    }

    @Test func `in a store that ignores the case of ids an id keeps its first spelling`() async throws {
        var options = SimulatedServer.Options()
        options.ignoresCase = true
        let pair = try await SyncPair(.datasync3, options)
        try await pair.database.declareLocal(table: "draft")
        let drafts = pair.database.rows(of: "draft")
        try await drafts.insert(.item("Ab", ["n": 1]))
        await expect(.rowExists) { try await drafts.insert(.item("aB", ["n": 2])) }
        try await drafts.update(.item("AB", ["n": 3]))
        #expect(try await rows(pair.database) == ["Ab": ["n": 3]])
        try await drafts.delete(id: "ab")
        #expect(try await rows(pair.database).isEmpty)
    }
}
