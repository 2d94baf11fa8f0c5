// A store and the schemas of the app that opens it: newer, older, the same, wrong; and a process without one.

import SegmentLog
import SynclineCore
import SynclineTesting
import Testing

@testable import Syncline

@Suite struct SchemaStories {
    private static func configuration(_ schema: SyncSchema?) -> SyncConfiguration {
        var configuration = SyncConfiguration.test()
        configuration.schema = schema
        return configuration
    }

    private static let first = SyncSchema(version: 1, tables: [TableSchema("t", localColumns: ["open"])])
    private static let second = SyncSchema(
        version: 2, tables: [TableSchema("t", localColumns: ["isOpen"])],
        migrations: [
            Migration(
                to: 2,
                steps: [
                    .renameColumn(table: "t", from: "text", to: "title"),
                    .renameColumn(table: "t", from: "open", to: "isOpen"), .dropColumn(table: "t", column: "old"),
                ])
        ])

    /// A store of the first version with a row, closed.
    private static func store() async throws -> MemoryStorage {
        let disk = MemoryStorage(granularity: .sector)
        let database = try await SyncDatabase.open(disk, configuration(first))
        try await database.rows(of: "t").insert(
            .item("1", ["text": .string("milk"), "open": .bool(true), "old": .integer(1)]))
        try await database.close()
        return disk
    }

    @Test func `a newer schema migrates the rows in one event`() async throws {
        let disk = try await Self.store()
        var last: UInt64 = 0
        for round in 0..<2 {
            let database = try await SyncDatabase.open(disk, Self.configuration(Self.second))
            #expect(
                try await database.rows(of: "t").get(id: "1")?.columns.dictionary
                    == ["title": .string("milk"), "isOpen": .bool(true)])
            let operation = try #require(try await database.pending().first)
            #expect(try await database.fields(of: operation) == ["title"])
            #expect(database.declaration?.version == 2)
            if round == 1 { #expect(database.lastEvent.rawValue == last, "it is known already") }
            last = database.lastEvent.rawValue
            try await database.close()
        }
        _ = try StateImage.check(disk, "after the migration")
        var kinds: [String] = []
        try EventWalk(disk).forEach { _, event in
            kinds.append(event.cause)
            return true
        }
        #expect(kinds.filter { $0 == "declared" }.count == 2)
    }

    @Test func `an older app is refused, and the store is as it was`() async throws {
        let disk = try await Self.store()
        try await SyncDatabase.open(disk, Self.configuration(Self.second)).close()
        let before = try StateImage.check(disk, "before")
        let error = await #expect(throws: SyncError.self) {
            try await SyncDatabase.open(disk, Self.configuration(Self.first))
        }
        #expect(error?.code == .storeNewer)
        #expect(try StateImage.check(disk, "after") == before)
        let database = try await SyncDatabase.open(disk, Self.configuration(nil))
        #expect(try await database.rows(of: "t").get(id: "1")?.columns["title"] == .string("milk"))
    }

    @Test func `a process without a schema uses the recorded one`() async throws {
        let disk = try await Self.store()
        let database = try await SyncDatabase.open(disk, Self.configuration(nil))
        try await database.rows(of: "t").insert(.item("2", ["open": .bool(false), "text": .string("bread")]))
        let operation = try #require(try await database.pending().last)
        #expect(try await database.fields(of: operation) == ["text"])
        #expect(database.declaration == (try SchemaChange(opening: nil, with: Self.first))?.declaration)
    }

    @Test func `a schema that is wrong opens nothing`() async throws {
        let disk = MemoryStorage(granularity: .sector)
        let error = await #expect(throws: SyncError.self) {
            try await SyncDatabase.open(disk, Self.configuration(SyncSchema(version: 0)))
        }
        #expect(error?.code == .invalidConfiguration)
        #expect(try disk.names(in: "").isEmpty)
    }

    @Test func `a migration that can't be made leaves the store to be opened as before`() async throws {
        let disk = try await Self.store()
        var schema = Self.second
        schema.migrations[0].steps = [.renameColumn(table: "t", from: "text", to: "old")]
        let error = await #expect(throws: SyncError.self) {
            try await SyncDatabase.open(disk, Self.configuration(schema))
        }
        #expect(error?.code == .invalidConfiguration)
        let database = try await SyncDatabase.open(disk, Self.configuration(Self.first))
        #expect(try await database.rows(of: "t").get(id: "1")?.columns["text"] == .string("milk"))
    }

    @Test func `after a kill during a migration, it is complete or has not begun`() async throws {
        for call in 1...12 {
            let disk = try await Self.store()
            disk.arm(FaultPlan(call: call, of: [.write, .sync, .resize, .rename], persists: true))
            _ = try? await SyncDatabase.open(disk, Self.configuration(Self.second))
            disk.disarm()
            let after = disk.processKill()
            let image = try StateImage.check(after, "call \(call)")
            let seen = try await SyncDatabase.open(after, Self.configuration(nil))
            let row = try await seen.rows(of: "t").get(id: "1")?.columns.dictionary
            let isNew = seen.declaration?.version == 2
            #expect(row?.keys.sorted() == (isNew ? ["isOpen", "title"] : ["old", "open", "text"]), "call \(call)")
            #expect(seen.lastEvent.rawValue == image.through)
            try await seen.close()
            let database = try await SyncDatabase.open(after, Self.configuration(Self.second))
            #expect(try await database.rows(of: "t").get(id: "1")?.columns["title"] == .string("milk"))
        }
    }

    @Test func `the past is unchanged, and renamed columns are explained`() async throws {
        let disk = try await Self.store()
        let database = try await SyncDatabase.open(disk, Self.configuration(Self.second))
        let before = try await database.history(at: database.lastEvent - 1)
        #expect(try await before.get("t", id: "1")?.columns["text"] == .string("milk"))
        let blame = try #require(try await database.blame("t", id: "1"))
        // The value is that of the insert, which called its column otherwise.
        let title = try #require(blame.first { $0.field == "title" })
        #expect(title.cause == "local" && title.event < before.event)
    }

    @Test func `a store without a schema records none`() async throws {
        let disk = MemoryStorage(granularity: .sector)
        let database = try await SyncDatabase.open(disk, .test())
        try await database.rows(of: "t").insert(.item("1", ["open": .bool(true)]))
        try await database.close()
        let image = try StateImage.check(disk, "without")
        let settings = image.contents.keys.filter { $0.first == 4 }
            .map { String(decoding: $0.dropFirst(), as: UTF8.self) }
        #expect(settings.sorted() == ["device", "protocol"])
        #expect(database.declaration == nil)
    }

    // MARK: Strict mode

    @Test func `a strict store answers for its own tables only`() async throws {
        let disk = MemoryStorage(granularity: .sector)
        var schema = SyncSchema(version: 1, tables: [TableSchema("t"), TableSchema("list")], isStrict: true)
        let database = try await SyncDatabase.open(disk, Self.configuration(schema))
        try await database.rows(of: "t").insert(.item("1", [:]))
        let before = (database.lastEvent, database.totals)
        func refuses(_ body: () async throws -> Void) async {
            let error = await #expect(throws: SyncError.self) { try await body() }
            #expect(error?.code == .unknownTable)
            #expect(error?.hint == "Declared tables: t, list.")
        }
        let table = database.rows(of: "other")
        await refuses { try await table.insert(.item("1", [:])) }
        await refuses { try await table.insert(id: "1", columns: .empty) }
        await refuses { try await table.update(.item("1", [:])) }
        await refuses { try await table.delete(id: "1") }
        await refuses { _ = try await table.get(id: "1") }
        await refuses { _ = try await table.query(RowQuery(table: "other")) }
        await refuses { _ = try await table.count() }
        await refuses { _ = try await table.observe(RowQuery(table: "other")).first { _ in true } }
        await refuses { try await database.transaction { _ = try $0.insert("other", .item("1", [:])) } }
        await refuses {
            try await database.transaction { transaction in
                try transaction.insert("t", .item("2", [:]))
                try transaction.insert("other", id: "1", columns: .empty)
            }
        }
        await refuses { try await database.transaction { _ = try $0.update("other", .item("1", [:])) } }
        await refuses { try await database.transaction { try $0.delete("other", id: "1") } }
        await refuses { _ = try await database.transaction { try $0.get("other", id: "1") } }
        await refuses { _ = try await database.transaction { try $0.query(RowQuery(table: "other")) } }
        await refuses { try await database.purge(table: "other") }
        await refuses { try await database.declareIndex(table: "other", column: "a") }
        await refuses { try await database.resetCursor(table: "other", queryID: "q") }
        await refuses { _ = try await database.pull("other") }
        await refuses { try await database.resolve(table: "other", id: "1", .takeServer) }
        await refuses {
            var settings = PushSettings()
            settings.tables = ["other"]
            _ = try await database.push(settings)
        }
        await refuses { _ = try await database.present.get("other", id: "1") }
        #expect(database.lastEvent == before.0 && database.totals == before.1)
        try await database.rows(of: "list").insert(.item("1", [:]))
        try await database.close()
        schema.isStrict = false
        let lax = try await SyncDatabase.open(disk, Self.configuration(schema))
        try await lax.rows(of: "other").insert(.item("1", [:]))
    }

    @Test func `a setting can't take the place of the schema`() async throws {
        let database = try await SyncDatabase.open(MemoryStorage(), Self.configuration(Self.first))
        let error = await #expect(throws: SyncError.self) { try await database.set("schema\0", .integer(1)) }
        #expect(error?.code == .invalidConfiguration)
    }
}
