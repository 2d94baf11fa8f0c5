// Rows put back over a migration: columns have other names, other types or other defaults, or are gone.

import SegmentLog
import SynclineCore
import SynclineTesting
import Testing

@testable import Syncline

@Suite struct RestorationSchemaTests {
    private func open(_ disk: MemoryStorage, _ schema: SyncSchema?) async throws -> SyncDatabase {
        var configuration = SyncConfiguration.test()
        configuration.schema = schema
        return try await SyncDatabase.open(disk, configuration)
    }

    private static let first = SyncSchema(version: 1, tables: [TableSchema("t", localColumns: ["open"])])

    /// A store of the first version with two rows; one of them was deleted and one changed since the event.
    private func store() async throws -> (disk: MemoryStorage, then: EventNumber, before: EventNumber) {
        let disk = MemoryStorage(granularity: .sector)
        let database = try await open(disk, Self.first)
        let table = database.rows(of: "t")
        for id in ["a", "b"] {
            try await table.insert(.item(id, ["text": "milk", "old": 1, "state": "open", "open": true]))
        }
        let then = database.lastEvent
        try await database.transaction { transaction in
            try transaction.update("t", .item("a", ["text": "bread", "state": "done", "open": false]))
            try transaction.delete("t", id: "b")
        }
        let event = database.lastEvent
        try await database.close()
        return (disk, then, event)
    }

    private func second(_ steps: [Migration.Step], _ table: TableSchema = TableSchema("t", localColumns: ["isOpen"]))
        -> SyncSchema
    {
        SyncSchema(version: 2, tables: [table], migrations: [Migration(to: 2, steps: steps)])
    }

    @Test func `renamed and converted columns return under their new names, and dropped ones do not`() async throws {
        let (disk, then, event) = try await store()
        let database = try await open(
            disk,
            second([
                .renameColumn(table: "t", from: "text", to: "title"),
                .renameColumn(table: "t", from: "open", to: "isOpen"), .dropColumn(table: "t", column: "old"),
                .transform(table: "t", column: "state") { $0 == "open" ? 0 : 1 },
            ]))
        let past = try await database.history(at: then)
        let expected: [String: Value] = ["title": "milk", "state": 0, "isOpen": true]
        let query = RowQuery(table: "t", filter: try FilterExpression(parsing: "title eq 'milk'"))
        for plan in [
            try await past.restoration(of: .table("t")), try await past.restoration(of: .rows(query)),
            try await database.restoration(undoing: event),
        ] {
            #expect(plan.changes.map(\.id).sorted() == ["a", "b"])
            try await database.restore(plan)
            for row in try await database.rows(of: "t").query(RowQuery(table: "t")).rows {
                #expect(row.columns.own.dictionary == expected, "\(row.id)")
            }
            try await database.undo()
        }
        let old = try await past.restoration(of: .table("t"))
        try await database.close()
        let third = SyncSchema(
            version: 3, tables: [TableSchema("t", localColumns: ["isOpen"])],
            migrations: [Migration(to: 3, steps: [.renameColumn(table: "t", from: "title", to: "name")])])
        let later = try await open(disk, third)
        let error = await #expect(throws: SyncError.self) { try await later.restore(old) }
        #expect(error?.code == .staleItem)
        try await later.restore(try await later.history(at: then).restoration(of: .table("t")))
        #expect(try await later.rows(of: "t").get(id: "b")?.columns["name"] == "milk")
    }

    @Test func `a migration itself has nothing that could be taken back`() async throws {
        let (disk, _, _) = try await store()
        let database = try await open(
            disk,
            second(
                [
                    .renameColumn(table: "t", from: "text", to: "title"),
                    .renameColumn(table: "t", from: "open", to: "isOpen"),
                ]
            ))
        for event in 1...database.lastEvent.rawValue {
            guard case .declared = try await self.body(event, disk) else { continue }
            #expect(try await database.restoration(undoing: EventNumber(rawValue: event)).changes.isEmpty)
        }
    }

    private func body(_ event: UInt64, _ disk: MemoryStorage) async throws -> Event.Body? {
        var body: Event.Body?
        try EventWalk(disk).forEach(from: event) { _, event in
            body = event.body
            return false
        }
        return body
    }

    @Test func `a value that does not fit its column's type any more is named, and nothing is stored`() async throws {
        let (disk, then, _) = try await store()
        let database = try await open(disk, Self.first)
        try await database.rows(of: "t").update(.item("a", ["state": 1]))
        try await database.declareColumns(table: "t", ["state": .integer])
        let last = database.lastEvent
        let past = try await database.history(at: then)
        for rows in [RestorationScope.table("t"), .row("t", id: "b")] {
            let error = await #expect(throws: SyncError.self) { try await past.restoration(of: rows) }
            #expect(error?.code == .invalidItem && error?.message.contains("state") == true)
            #expect(error?.address?.hasPrefix("t/") == true)
        }
        #expect(database.lastEvent == last)
    }

    @Test func `a column that the row lacked shows its default, which is not sent`() async throws {
        let (disk, then, _) = try await store()
        let database = try await open(
            disk,
            second(
                [.addColumn(table: "t", column: "kind", default: "plain")],
                TableSchema("t", columns: [.column("kind", default: "plain")], localColumns: ["open"])))
        let table = database.rows(of: "t")
        #expect(try await table.get(id: "a")?.columns["kind"] == "plain")
        let past = try await database.history(at: then)
        #expect(
            try await past.restoration(of: .row("t", id: "a")).changes[0].fields.map(\.name).contains("kind") == false)
        try await table.update(.item("a", ["kind": "special"]))
        let plan = try await past.restoration(of: .table("t"))
        #expect(plan.changes.allSatisfy { $0.after?["kind"] == "plain" })
        try await database.restore(plan)
        for id in ["a", "b"] { #expect(try await table.get(id: id)?.columns["kind"] == "plain", "\(id)") }
        let inserted = try #require(try await database.pending().first { $0.id == "b" })
        #expect(try await !database.fields(of: inserted).contains("kind"))
    }

    @Test func `a table that the schema dropped is not made again`() async throws {
        let (disk, then, _) = try await store()
        let database = try await open(
            disk,
            SyncSchema(version: 2, migrations: [Migration(to: 2, steps: [.dropTable("t", discardsPending: true)])]))
        let past = try await database.history(at: then)
        let error = await #expect(throws: SyncError.self) { try await past.restoration(of: .table("t")) }
        #expect(error?.code == .unknownTable)
    }
}
