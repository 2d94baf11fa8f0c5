// Causes that lie in the schema, the clock or the rights, or in another device.

import Foundation
import Syncline
import SynclineCore
import SynclineTesting

extension Incident {
    private static func open(
        _ asking: Asking, _ version: UInt32, _ columns: [String], _ steps: [Migration.Step] = [],
        tables: [String] = ["t"]
    ) async throws {
        var configuration = SyncConfiguration()
        configuration.schema = SyncSchema(
            version: version, tables: tables.map { TableSchema($0, columns: columns.map { .column($0) }) },
            migrations: version > 1 ? [Migration(to: version, steps: steps)] : [])
        try await SyncDatabase.open(at: asking.log.path, configuration).close()
    }

    static let histories = [
        Incident("a migration forgot a column", "row", ["row": "t/a.title"], says: "but no migration, pull or change") {
            await $0.begin()
            try await open($0, 1, ["text", "n"])
            try await open($0, 2, ["title", "n"])
        },
        Incident("a migration dropped a column", "row", ["row": "t/a.n"], says: "t.n dropped") {
            await $0.begin()
            try await open($0, 1, ["text", "n"])
            try await open($0, 2, ["text"], [.dropColumn(table: "t", column: "n")])
        },
        Incident("a migration changed values", "row", ["row": "t/a.n"], says: "the migration to schema 2 set it") {
            await $0.begin()
            try await open($0, 1, ["text", "n"])
            try await open($0, 2, ["text", "n"], [.transform(table: "t", column: "n") { _ in 42 }])
        },
        Incident("a migration dropped a table", "row", ["row": "t/a"], says: "the migration of the schema removed it") {
            await $0.begin()
            try await open($0, 1, ["text", "n"])
            try await open($0, 2, ["text"], [.dropTable("t")], tables: ["other"])
        },
        Incident("the clock was ahead", "status", says: "written in the future") {
            try $0.log.tell(Story.events, hours: 24 * 365 * 10)
        },
        Incident("the server's clock was ahead", "status", says: "cursor is ahead of the clock") {
            try $0.log.tell(Story.events)
        },
        Incident("rights taken away", "row", ["row": "todoitem/c"], says: "the right to it was lost") {
            let page = PulledPage(
                table: "todoitem", queryID: "all",
                rows: [PulledRow(id: "c", row: nil, hasLeft: true, isByRight: true)], cursor: nil)
            try $0.log.tell(Array(Story.events.prefix(10)) + [.page(page)])
        },
        Incident("a string in the past only", "search", ["text": "bread"], says: "\"event\":\"@4\"") {
            try $0.log.tell(Story.events)
        },
        Incident("the row was another then", "row", ["row": "todoitem/b", "at": "@4"], says: "text is \"bread\"") {
            try $0.log.tell(Story.events)
        },
        Incident("which event it was", "event", ["event": "@12"], says: "the row was changed") {
            try $0.log.tell(Story.events)
        },
        Incident("who ran the push", "log", ["kind": "answer"], says: "todoitem/a: 412, conflict") {
            try $0.log.tell(Story.events)
        },
    ]
}
