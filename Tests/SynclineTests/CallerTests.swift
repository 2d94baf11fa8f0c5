// No async function touches the disk, sends a request or decodes a row on the actor that calls it, here the main actor.
// The disk, the network and the model note where they are used. `docs/interface` lists the functions.

import Foundation
import SegmentLog
import SynclineTesting
import Testing

@testable import Syncline

private let watch = CallWatch()

private struct Note: SyncModel {
    static let named = Relation(\Note.text, to: Note.self)

    var id: String
    var text: String
    var number: Int

    init(id: String, text: String, number: Int) {
        (self.id, self.text, self.number) = (id, text, number)
    }

    private enum CodingKeys: CodingKey {
        case id, text, number
    }

    init(from decoder: any Decoder) throws {
        watch.note("decode")
        let container = try decoder.container(keyedBy: CodingKeys.self)
        id = try container.decode(String.self, forKey: .id)
        text = try container.decode(String.self, forKey: .text)
        number = try container.decode(Int.self, forKey: .number)
    }
}

private struct Stamped: VersionedModel {
    static let table = "note"

    var id: String
    var text: String
    var number: Int
    var version: String?
}

@MainActor private struct Step {
    let name: String
    let run: @MainActor (SyncDatabase) async throws -> Void

    init(_ name: String, _ run: @escaping @MainActor (SyncDatabase) async throws -> Void) {
        (self.name, self.run) = (name, run)
    }
}

@Suite(.serialized, .timeLimit(.minutes(10))) @MainActor struct CallerTests {
    private let storage = MemoryStorage()

    private func configuration(_ server: SimulatedServer) -> SyncConfiguration {
        var configuration = SyncConfiguration()
        configuration.transport = WatchedNetwork(inner: SimulatedNetwork(server), watch: watch)
        return configuration
    }

    /// Makes a store whose rows are in a checkpoint, so that reading them needs the disk. It has a conflict about n1
    /// and pending changes of n2 and n9.
    private func prepare(_ server: SimulatedServer) async throws {
        let database = try await SyncDatabase.open(storage, configuration(server))
        let notes = try database.table(Note.self)
        try await database.transaction { transaction in
            for number in 0..<500 {
                let text = String(repeating: "x", count: 100)
                try transaction.insert(Note(id: "n\(number)", text: text, number: number), in: notes)
            }
        }
        _ = try await database.push()
        try await notes.update(id: "n1") { $0.text = "mine" }
        server.upsert([.item("n1", ["text": "theirs", "number": 1])], in: "note")
        _ = try await database.push()
        try await notes.update(id: "n2") { $0.text = "pending" }
        try await notes.update(id: "n9") { $0.text = "held" }
        try await database.hold(table: "note", id: "n9")
        try await database.checkpoint()
        try await database.close()
    }

    /// Runs each step on a store of its own.
    ///
    /// - Parameter mustWork: Whether each step has to use the disk, the network or the decoder.
    private func check(_ steps: [Step], mustWork: Bool = false) async throws {
        // Columns are found once in a process, from made-up values.
        _ = Filter<Note> { $0.number > 0 }
        let server = SimulatedServer()
        try await prepare(server)
        for step in steps {
            watch.take()
            let disk = WatchedStorage(inner: storage.copy(), watch: watch)
            let database = try await SyncDatabase.open(disk, configuration(server))
            #expect(watch.take().onMain == [], "open before \(step.name)")
            try await step.run(database)
            let seen = watch.take()
            #expect(seen.onMain == [], "\(step.name)")
            if mustWork { #expect(seen.calls > 0, "\(step.name)") }
            try? await database.close()
            #expect(watch.take().onMain == [], "close after \(step.name)")
        }
    }

    /// Runs a body with a folder of its own.
    private static func inFolder(_ body: (String) async throws -> Void) async throws {
        let folder = NSTemporaryDirectory() + "syncline-caller-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try await body(folder)
    }

    private static var databaseSteps: [Step] {
        [
            Step("access(to:id:)") { _ = try await $0.access(to: "note", id: "n7") },
            Step("backend()") { _ = try await $0.backend() },
            Step("absence(_:id:)") { _ = try await $0.absence("note", id: "none") },
            Step("blame(_:id:)") { _ = try await $0.blame("note", id: "n7") },
            Step("branches()") { _ = try await $0.branches() },
            Step("makeBranch(_:at:)") { database in try await inMemory { try await database.makeBranch("draft") } },
            Step("openBranch(_:)") { database in try await inMemory { _ = try await database.openBranch("draft") } },
            Step("landing(of:)") { database in try await inMemory { _ = try await database.landing(of: "draft") } },
            Step("land(_:over:)") { database in try await inMemory { try await database.land("draft") } },
            Step("export(_:as:to:)") { database in
                try await inFolder { _ = try await database.export(["note"], as: .csv, to: $0 + "/notes.csv") }
            },
            Step("importRows(into:from:as:)") { database in
                try await inFolder { folder in
                    try Data("id,text\nnew,x\n".utf8).write(to: URL(filePath: folder + "/new.csv"))
                    #expect(try await database.importRows(into: "note", from: folder + "/new.csv", as: .csv) == 1)
                }
            },
            Step("dropBranch(_:)") { database in try await inMemory { try await database.dropBranch("draft") } },
            Step("caughtUp(including:)") { database in
                try database.startAutomaticSync(AutomaticSyncSettings(tables: ["note"]))
                do throws(SyncError) {
                    try await database.caughtUp()
                } catch {
                    if error.code != .pushIncomplete { throw error }
                }
            },
            Step("checkpoint()") { database in
                try await database.rows(of: "note").delete(id: "n8")
                try await database.checkpoint()
            },
            Step("close()") { try await $0.close() },
            Step("compact()") { try await $0.compact() },
            Step("conflicts()") { database in
                let found = try await database.conflicts().count
                #expect(found == 1)
            },
            Step("cursors()") { _ = try await $0.cursors() },
            Step("declareColumns(table:_:)") { try await $0.declareColumns(table: "note", ["due": .date]) },
            Step("declareIndex(table:column:)") { try await $0.declareIndex(table: "note", column: "number") },
            Step("declareIndex(table:columns:including:)") { database in
                try await database.declareIndex(table: "note", columns: ["number"], including: ["text"])
            },
            Step("declareLocal(table:)") { try await $0.declareLocal(table: "draft") },
            Step("differences(from:to:)") { _ = try await $0.differences(from: 1) },
            Step("discard(table:id:force:)") { try await $0.discard(table: "note", id: "n2") },
            Step("dropIndex(table:column:)") { try await $0.dropIndex(table: "note", column: "number") },
            Step("dropIndex(table:columns:)") { try await $0.dropIndex(table: "note", columns: ["number"]) },
            Step("erase(force:)") { try await $0.erase(force: true) },
            Step("erase(_:force:)") { _ in
                let disk = WatchedStorage(inner: MemoryStorage(), watch: watch)
                try await SyncDatabase.open(disk).close()
                try await SyncDatabase.erase(disk)
            },
            Step("event(at:)") { _ = try await $0.event(at: .distantFuture) },
            Step("fields(of:)") { database in
                for operation in try await database.pending() { _ = try await database.fields(of: operation) }
            },
            Step("follow(_:_:)") { _ in
                let disk = WatchedStorage(inner: MemoryStorage(), watch: watch)
                try await SyncDatabase.open(disk).close()
                let follower = try await SyncDatabase.follow(disk)
                try await follower.rows(of: "note").insert(["id": "n20"])
                try await follower.refresh()
                try await follower.close()
            },
            Step("health()") { database in
                let found = try await database.health()
                #expect(found.conflicts == 1 && found.held == 1 && found.pending == 3)
            },
            Step("issues()") { database in
                let found = try await database.issues().map(\.kind)
                #expect(found == [.conflict, .held])
            },
            Step("resolve(_:_:)") { database in
                for issue in try await database.issues() where issue.kind == .held {
                    try await database.resolve(issue, .retry)
                }
            },
            Step("heldRows()") { database in
                let found = try await database.heldRows().count
                #expect(found == 1)
            },
            Step("history(at:)") { _ = try await $0.history(at: 2) },
            Step("hold(table:id:)") { try await $0.hold(table: "note", id: "n2") },
            Step("open(_:_:)") { _ in
                try await SyncDatabase.open(WatchedStorage(inner: MemoryStorage(), watch: watch)).close()
            },
            Step("unreadableRows()") { _ = try await $0.unreadableRows() },
            Step("waitingChanges()") { database in
                let found = try await database.waitingChanges().count
                #expect(found == 0)
            },
            Step("dropWaiting(_:)") { database in
                do throws(SyncError) {
                    try await database.dropWaiting("0000000000000001-0000000000000001")
                } catch {
                    if error.code != .operationNotFound { throw error }
                }
            },
            Step("pending()") { database in
                let found = try await database.pending().count
                #expect(found == 3)
            },
            Step("pull(_:_:progress:)") { database in
                let found = try await database.pull("note").reason
                #expect(found == nil)
            },
            Step("purge(table:filter:force:)") { try await $0.purge(table: "note", force: true) },
            Step("push(_:progress:)") { _ = try await $0.push() },
            Step("pushPreview(_:)") { _ = try await $0.pushPreview() },
            Step("redo()") { database in
                try await database.undo()
                try await database.redo()
            },
            Step("refresh()") { try await $0.refresh() },
            Step("release(table:id:)") { try await $0.release(table: "note", id: "n9") },
            Step("resetCursor(table:queryID:)") { try await $0.resetCursor(table: "note", queryID: "all") },
            Step("resolve(table:id:_:)") { try await $0.resolve(table: "note", id: "n1", .takeServer) },
            Step("resume()") { database in
                try await database.suspend()
                try await database.resume()
            },
            Step("resync(_:retries:progress:)") { _ = try await $0.resync() },
            Step("restoration(undoing:)") { _ = try await $0.restoration(undoing: $0.lastEvent) },
            Step("restore(_:)") { try await $0.restore(try await $0.restoration(undoing: 3)) },
            Step("retention()") { _ = try await $0.retention() },
            Step("set(_:_:)") { try await $0.set("colour", "red") },
            Step("set(retention:)") { try await $0.set(retention: .everything) },
            Step("setting(_:)") { _ = try await $0.setting("colour") },
            Step("status()") { database in
                let found = try await database.status().tables.map(\.name)
                #expect(found == ["note"])
            },
            Step("suspend()") { try await $0.suspend() },
            Step("sync(_:progress:)") { database in
                let found = try await database.sync(["note"]).reason?.code
                #expect([nil, .pushIncomplete].contains(found))
            },
            Step("tables()") { database in
                let found = try await database.tables()
                #expect(found == ["note"])
            },
            Step("transaction(_:durability:_:)") { _ = try await $0.transaction { try $0.get("note", id: "n6") } },
            Step("undo()") { try await $0.undo() },
            Step("undoSteps(limit:)") { _ = try await $0.undoSteps() },
            Step("canRedo()") { _ = try await $0.canRedo() },
            Step("canUndo()") { database in
                let found = try await database.canUndo()
                #expect(found)
            },
        ]
    }

    private static var tableSteps: [Step] {
        [
            Step("SyncTable.all()") { database in
                let found = try await database.table(Note.self).all().count
                #expect(found == 500)
            },
            Step("SyncTable.conflicts()") { database in
                let found = try await database.table(Note.self).conflicts().count
                #expect(found == 1)
            },
            Step("SyncTable.count()") { _ = try await $0.table(Note.self).count() },
            Step("SyncTable.declareIndex(_:)") { try await $0.table(Note.self).declareIndex(\.number, \.text) },
            Step("SyncTable.delete(_:)") { try await $0.table(Note.self).delete(Note(id: "n5", text: "", number: 5)) },
            Step("SyncTable.delete(id:)") { try await $0.table(Note.self).delete(id: "n5") },
            Step("SyncTable.get(id:)") { database in
                let found = try await database.table(Note.self).get(id: "n7")?.number
                #expect(found == 7)
            },
            Step("SyncTable.insert(_:)") { try await $0.table(Note.self).insert(Note(id: "new", text: "", number: 0)) },
            Step("SyncTable.pull(id:_:)") { try await $0.table(Note.self).pull(id: "some") { $0.number > 3 } },
            Step("SyncTable.pull(id:where:settings:progress:)") { try await $0.table(Note.self).pull(id: "all") },
            Step("SyncTable.push(policy:progress:)") { _ = try await $0.table(Note.self).push() },
            Step("SyncTable.resolve(_:_:)") { database in
                let notes = try database.table(Note.self)
                for conflict in try await notes.conflicts() { try await notes.resolve(conflict, .keepMine) }
            },
            Step("SyncTable.resolve(_:with:)") { database in
                let notes = try database.table(Note.self)
                let chosen = Note(id: "n1", text: "both", number: 1)
                for conflict in try await notes.conflicts() { try await notes.resolve(conflict, with: chosen) }
            },
            Step("SyncTable.delete(ids:)") { try await $0.table(Note.self).delete(ids: ["n5", "n6"]) },
            Step("SyncTable.overwrite(_:)") {
                try await $0.table(Note.self).overwrite(Note(id: "n3", text: "y", number: 3))
            },
            Step("SyncTable.update(_:)") { database in
                let notes = try database.table(Stamped.self)
                try await notes.update(try #require(try await notes.get(id: "n7")))
            },
            Step("SyncTable.save(_:)") { try await $0.table(Stamped.self).save(Stamped(id: "s", text: "", number: 0)) },
            Step("SyncTable.update(_:from:)") { database in
                let note = Note(id: "n3", text: "y", number: 3)
                try await database.table(Note.self).update(note, from: Note(id: "n3", text: "z", number: 3))
            },
            Step("SyncTable.update(id:_:)") { try await $0.table(Note.self).update(id: "n4") { $0.text = "y" } },
            Step("SyncQuery.update(_:)") { try await $0.table(Note.self).query.limit(3).update { $0.text = "z" } },
            Step("SyncQuery.delete()") { try await $0.table(Note.self).where { $0.number == 8 }.delete() },
            Step("SyncQuery.count()") { database in
                let found = try await database.table(Note.self).where { $0.number > 400 }.count()
                #expect(found == 99)
            },
            Step("SyncQuery.first()") { database in
                let found = try await database.table(Note.self).order(by: \.number).first()?.id
                #expect(found == "n0")
            },
            Step("SyncQuery.explain()") { _ = try await $0.table(Note.self).order(by: \.text).explain() },
            Step("SyncQuery.explainCount()") { _ = try await $0.table(Note.self).query.explainCount() },
            Step("SyncQuery.page()") { _ = try await $0.table(Note.self).order(by: \.text).page() },
            Step("SyncQuery.page(after:)") { database in
                let list = try database.table(Note.self).order(by: \.text)
                let next = try await list.page(after: list.page())
                #expect(next?.models.count == 100)
            },
            Step("SyncQuery.get()") {
                _ = try await $0.table(Note.self).where { $0.number > 400 }.order(by: \.text).get()
            },
            Step("StoreSnapshot.get(_:id:)") { database in
                let found = try await database.history(at: database.lastEvent).get("note", id: "n7")
                #expect(found != nil)
            },
            Step("StoreSnapshot.query(_:)") { _ = try await $0.present.query(RowQuery(table: "note", top: 3)) },
            Step("StoreSnapshot.compute(_:)") { _ = try await $0.present.compute(RowAggregate(table: "note")) },
            Step("StoreSnapshot.export(_:as:to:)") { database in
                try await inFolder { _ = try await database.present.export(["note"], as: .csv, to: $0 + "/past.csv") }
            },
            Step("StoreSnapshot.pending()") { _ = try await $0.present.pending() },
            Step("StoreSnapshot.differences(to:)") { database in
                let found = try await database.history(at: 3).differences(to: database.present).count
                #expect(found > 400)
            },
            Step("StoreSnapshot.restoration(of:)") { _ = try await $0.history(at: 3).restoration(of: .table("note")) },
            Step("SnapshotTable.restoration()") { _ = try await $0.history(at: 3).table(Note.self).restoration() },
            Step("SnapshotTable.get()") { database in
                let found = try await database.history(at: database.lastEvent).table(Note.self).get().count
                #expect(found == 500)
            },
            Step("SnapshotTable.get(id:)") { database in
                let found = try await database.history(at: database.lastEvent).table(Note.self).get(id: "n7")
                #expect(found != nil)
            },
            Step("ModelSource.compute(_:)") { database in
                let (count, last) = try await database.table(Note.self).compute(.count, .max(\.number))
                #expect(count == 500 && last == 499)
            },
            Step("ModelSource.explain(computing:)") { database in
                let plan = try await database.table(Note.self).explain(computing: .max(\.number))
                #expect(plan.rowsRead == 500)
            },
            Step("GroupedQuery.explain(computing:)") { database in
                _ = try await database.table(Note.self).grouped(by: \.text).explain(computing: .count)
            },
            Step("GroupedQuery.compute(_:)") { database in
                let found = try await database.table(Note.self).grouped(by: \.text).compute(.sum(\.number)).count
                #expect(found == 4)
            },
            Step("RelatedQuery.get()") { database in
                let found = try await database.table(Note.self).with(Note.named).get().count
                #expect(found == 500)
            },
            Step("RelatedQuery.page()") { _ = try await $0.table(Note.self).with(Note.named).page() },
            Step("RelatedQuery.page(after:)") { database in
                let list = try database.table(Note.self).with(Note.named)
                let next = try await list.page(after: list.page())
                #expect(next?.elements.count == 100)
            },
            Step("RowTable.compute(_:)") { _ = try await $0.rows(of: "note").compute(RowAggregate(table: "note")) },
            Step("RowTable.count(_:)") { _ = try await $0.rows(of: "note").count() },
            Step("RowTable.delete(id:)") { try await $0.rows(of: "note").delete(id: "n5") },
            Step("RowTable.explain(_:)") {
                _ = try await $0.rows(of: "note").explain(RowQuery(table: "note", top: 3))
            },
            Step("RowTable.explainCount(_:)") { _ = try await $0.rows(of: "note").explainCount() },
            Step("RowTable.get(id:)") { _ = try await $0.rows(of: "note").get(id: "n7") },
            Step("RowTable.insert(_:)") { try await $0.rows(of: "note").insert(.item("new", [:])) },
            Step("RowTable.insert(id:columns:durability:)") { database in
                try await database.rows(of: "note").insert(id: "new", columns: .empty)
            },
            Step("RowTable.query(_:)") { _ = try await $0.rows(of: "note").query(RowQuery(table: "note", top: 3)) },
            Step("RowTable.update(_:)") { try await $0.rows(of: "note").update(.item("n3", ["text": "y"])) },
            Step("RowTable.update(_:from:)") { database in
                let table = database.rows(of: "note")
                guard let row = try await table.get(id: "n3") else { return }
                try await table.update(row, from: row)
            },
            Step("RowTable.update(id:_:)") { try await $0.rows(of: "note").update(id: "n3") { $0["text"] = "y" } },
        ]
    }

    private static var onlineSteps: [Step] {
        [
            Step("OnlineModels.get()") { _ = try await $0.backend().table(Note.self).where { $0.number > 3 }.get() },
            Step("OnlineModels.get(id:)") { database in
                let found = try await database.backend().table(Note.self).get(id: "n7")
                #expect(found != nil)
            },
            Step("OnlineModels.page()") { _ = try await $0.backend().table(Note.self).page() },
            Step("OnlineModels.page(after:)") { database in
                let notes = try await database.backend().table(Note.self)
                _ = try await notes.page(after: try await notes.page())
            },
            Step("OnlineModels.insert(_:)") { database in
                try await database.backend().table(Note.self).insert(Note(id: SyncID.make(), text: "", number: 0))
            },
            Step("OnlineModels.update(_:)") { database in
                try await database.backend().table(Note.self).update(Note(id: "n3", text: "y", number: 3))
            },
            Step("OnlineModels.delete(_:)") { database in
                try await database.backend().table(Note.self).delete(Note(id: "n5", text: "", number: 5))
            },
        ]
    }

    private static var sequenceSteps: [Step] {
        [
            Step("LiveResults") { database in
                for try await notes in try database.table(Note.self).order(by: \.number).observe() {
                    #expect(notes.count == 500)
                    break
                }
            },
            Step("LiveResults.outcomes") { database in
                for await _ in try database.table(Note.self).query.observe().outcomes { break }
            },
            Step("LiveResults.differences") { database in
                for try await _ in database.rows(of: "note").observe(RowQuery(table: "note")).differences { break }
            },
            Step("RelatedQuery.observe()") { database in
                for try await page in try database.table(Note.self).with(all: Note.named).observe() {
                    #expect(page.count == 500)
                    break
                }
            },
            Step("LiveQuery") { database in
                let live = try LiveQuery(database.table(Note.self).order(by: \.number))
                while !live.isLoaded { await Task.yield() }
                #expect(live.models.count == 500)
            },
            Step("SyncTable.observeConflicts()") { database in
                for try await conflicts in try database.table(Note.self).observeConflicts() {
                    #expect(conflicts.count == 1)
                    break
                }
            },
            Step("SyncDatabase.observeIssues()") { database in
                for try await issues in database.observeIssues() {
                    #expect(issues.count == 2)
                    break
                }
            },
            Step("SyncDatabase.observeHealth()") { database in
                for try await health in database.observeHealth() {
                    #expect(health.conflicts == 1)
                    break
                }
            },
            Step("AutomaticSync") { database in
                let sync = try database.startAutomaticSync(AutomaticSyncSettings(tables: ["note"]))
                for await status in sync.statuses() where status.lastRound != nil { break }
                await sync.stop()
            },
        ]
    }

    @Test func `no function of a store works on the main actor that calls it`() async throws {
        try await check(Self.databaseSteps)
        let named = Set(Self.databaseSteps.map { "SyncDatabase." + $0.name })
        // These take a path; each calls the function that takes a storage.
        let forwarding: Set = [
            "SyncDatabase.open(at:_:)", "SyncDatabase.erase(at:force:)", "SyncDatabase.follow(at:_:)",
        ]
        #expect(try AsyncInterface.functions(of: ["SyncDatabase"]) == named.union(forwarding))
    }

    @Test func `no function of a table or query works on the main actor that calls it`() async throws {
        try await check(Self.tableSteps)
        let types = [
            "SyncTable", "SyncQuery", "ModelSource", "GroupedQuery", "RelatedQuery", "StoreSnapshot", "SnapshotTable",
            "RowTable",
        ]
        #expect(try AsyncInterface.functions(of: types) == Set(Self.tableSteps.map(\.name)))
    }

    @Test func `no function of a server's table of models works on the main actor that calls it`() async throws {
        try await check(Self.onlineSteps)
        #expect(try AsyncInterface.functions(of: ["OnlineModels"]) == Set(Self.onlineSteps.map(\.name)))
    }

    @Test func `no sequence works on the main actor that waits for its next element`() async throws {
        try await check(Self.sequenceSteps, mustWork: true)
    }

    @Test func `every function of a closed store throws closed`() async throws {
        let server = SimulatedServer()
        try await prepare(server)
        // They do not read the store that they are called on.
        let others: Set = ["backend()", "erase(force:)", "erase(_:force:)", "follow(_:_:)", "open(_:_:)"]
        for step in Self.databaseSteps + Self.tableSteps where !others.contains(step.name) {
            let database = try await SyncDatabase.open(storage.copy(), configuration(server))
            try await database.close()
            let error = await #expect(throws: SyncError.self, "\(step.name)") { try await step.run(database) }
            #expect(error?.code == .closed, "\(step.name)")
        }
    }

    @Test func `the watch sees what happens on the main actor`() {
        watch.take()
        _ = try? WatchedStorage(inner: storage, watch: watch).names(in: "")
        #expect(watch.take().onMain == ["names"])
    }
}
