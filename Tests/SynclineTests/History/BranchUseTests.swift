// Branches as an app uses them: made, changed, landed and dropped.

import Foundation
import SegmentLog
import SynclineCore
import SynclineTesting
import Testing

@testable import Syncline

@Suite struct BranchUseTests {
    /// Runs a body with a store in a directory.
    private func withStore(
        _ schema: SyncSchema? = nil, _ body: (SyncDatabase, SyncConfiguration, String) async throws -> Void
    ) async throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "branch-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        var configuration = SyncConfiguration.test()
        configuration.schema = schema
        let database = try await SyncDatabase.open(at: path, configuration)
        try await database.rows(of: "t").insert(.item("a", ["n": 1]))
        try await database.rows(of: "t").insert(.item("b", ["n": 2]))
        try await body(database, configuration, path)
        try? await database.close()
    }

    private func numbers(_ database: SyncDatabase) async throws -> [String: Value] {
        try await database.rows(of: "t").query(RowQuery(table: "t")).rows.reduce(into: [:]) {
            $0[$1.id] = $1.columns["n"]
        }
    }

    /// Makes a branch that changes `a`, deletes `b` and inserts `c`.
    private func draft(_ database: SyncDatabase, _ name: String = "draft") async throws {
        try await database.makeBranch(name)
        let draft = try await database.openBranch(name)
        try await draft.transaction { transaction in
            try transaction.update("t", .item("a", ["n": 10]))
            try transaction.delete("t", id: "b")
            try transaction.insert("t", .item("c", ["n": 3]))
        }
        try await draft.close()
    }

    @Test func `a branch changes nothing until it is landed, as one event`() async throws {
        try await withStore { database, _, _ in
            let began = database.lastEvent
            try await draft(database)
            #expect(try await database.branches() == [Branch(name: "draft", event: began, isLanded: false)])
            #expect(try await numbers(database) == ["a": 1, "b": 2])
            let plan = try await database.landing(of: "draft")
            #expect(plan.changes.map(\.id) == ["a", "b", "c"] && plan.moved.isEmpty)
            #expect(plan.changes.map { $0.after?["n"] } == [10, nil, 3])
            let event = try #require(try await database.land("draft"))
            #expect(try await numbers(database) == ["a": 10, "c": 3])
            #expect(try await database.branches().isEmpty)
            #expect(try await database.undo() == event)
            #expect(try await numbers(database) == ["a": 1, "b": 2])
        }
    }

    @Test func `rows that moved in the store refuse the landing, until it may replace them`() async throws {
        try await withStore { database, _, _ in
            try await draft(database)
            try await database.rows(of: "t").update(.item("a", ["n": 5]))
            let plan = try await database.landing(of: "draft")
            #expect(plan.moved.map(\.id) == ["a"] && plan.moved.first?.before?["n"] == 5)
            let error = await #expect(throws: SyncError.self) { try await database.land("draft") }
            #expect(error?.code == .branchConflict)
            #expect(try await numbers(database) == ["a": 5, "b": 2])
            try await database.land("draft", over: true)
            #expect(try await numbers(database) == ["a": 10, "c": 3])
        }
    }

    @Test func `a branch begins at any event, and can be dropped`() async throws {
        try await withStore { database, _, _ in
            let began = database.lastEvent
            try await database.rows(of: "t").update(.item("a", ["n": 7]))
            try await database.makeBranch("past", at: began)
            let past = try await database.openBranch("past")
            #expect(try await numbers(past) == ["a": 1, "b": 2])
            await #expect(throws: SyncError.self) { try await past.makeBranch("deeper") }
            await #expect(throws: SyncError.self) { try await past.purge(table: "t") }
            let locked = await #expect(throws: SyncError.self) { try await database.land("past") }
            #expect(locked?.code == .storeLocked)
            try await past.close()
            try await database.dropBranch("past")
            #expect(try await database.branches().isEmpty)
            #expect(try await numbers(database)["a"] == 7)
            for error in [
                await #expect(throws: SyncError.self) { try await database.dropBranch("past") },
                await #expect(throws: SyncError.self) { try await database.openBranch("past") },
                await #expect(throws: SyncError.self) { try await database.landing(of: "past") },
            ] {
                #expect(error?.code == .noStore)
            }
        }
    }

    @Test func `a branch that can't be made leaves nothing`() async throws {
        try await withStore { database, configuration, path in
            try await draft(database)
            let again = await #expect(throws: SyncError.self) { try await database.makeBranch("draft") }
            #expect(again?.code == .storeExists)
            for name in ["", "a/b", "..", "é"] {
                let error = await #expect(throws: SyncError.self) { try await database.makeBranch(name) }
                #expect(error?.code == .invalidConfiguration)
            }
            let widget = try await SyncDatabase.follow(POSIXStorage(directory: path), configuration)
            let refused = await #expect(throws: SyncError.self) { try await widget.makeBranch("other") }
            #expect(refused?.code == .follower)
            try await widget.close()
            #expect(try await database.branches().map(\.name) == ["draft"])
        }
        let memory = try await SyncDatabase.open(MemoryStorage(), .test())
        let error = await #expect(throws: SyncError.self) { try await memory.makeBranch("draft") }
        #expect(error?.code == .invalidConfiguration)
        #expect(try await memory.branches().isEmpty)
    }

    @Test func `a migration waits for the branches, and ends those that could begin before it`() async throws {
        try await withStore(SyncSchema(version: 1)) { database, known, path in
            let began = database.lastEvent
            try await draft(database)
            try await database.close()
            var configuration = known
            configuration.schema = SyncSchema(
                version: 2, migrations: [Migration(to: 2, steps: [.renameColumn(table: "t", from: "n", to: "m")])])
            let refused = await #expect(throws: SyncError.self) { try await SyncDatabase.open(at: path, configuration) }
            #expect(refused?.message.contains("draft") == true)
            let old = try await SyncDatabase.open(at: path, known)
            try await old.land("draft")
            try await old.close()
            let new = try await SyncDatabase.open(at: path, configuration)
            #expect(try await new.rows(of: "t").get(id: "a")?.columns["m"] == 10)
            let late = await #expect(throws: SyncError.self) { try await new.makeBranch("past", at: began) }
            #expect(late?.code == .invalidConfiguration)
            #expect(try await new.branches().isEmpty)
            try await new.close()
        }
    }
}

/// Uses branches of a store in memory, which can't have any.
@MainActor func inMemory(_ body: @MainActor () async throws -> Void) async throws {
    do {
        try await body()
    } catch let error as SyncError where [.invalidConfiguration, .noStore].contains(error.code) {}
}
