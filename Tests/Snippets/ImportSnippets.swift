// The code of the guides about moving from other clients. It needs their files, so it is compiled and not run.

import Foundation
import Syncline
import SynclineSQL

enum ImportSnippets {
    static func msclient(modelPath: String) async throws {
        let configuration = SyncConfiguration(backend: "https://example.com")
        if !FileManager.default.fileExists(atPath: "notes") {
            let old = ForeignStore(
                at: modelPath, from: .msclient,
                tables: [
                    ForeignTable(
                        "TodoItem",
                        columns: [ForeignColumn("text"), ForeignColumn("complete", .bool), ForeignColumn("dueAt")])
                ])
            let report = try await old.makeStore(at: "notes", configuration)
            for left in report.left { print(left.table, left.ids, left.reason) }
        }
        let database = try await SyncDatabase.open(at: "notes", configuration)
        try await database.close()
    }

    static func datasync(path: String) async throws {
        let configuration = SyncConfiguration(serverProtocol: .datasync3, backend: "https://example.com")
        let old = ForeignStore(
            at: path, from: .datasync,
            tables: [
                ForeignTable(
                    "TodoItems", as: "todoitem",
                    columns: [ForeignColumn("title", .string), ForeignColumn("isComplete", .bool)]),
                ForeignTable("Settings", isSkipped: true),
            ])
        let report = try await old.makeStore(at: "notes", configuration)
        if report.left.isEmpty { try FileManager.default.removeItem(atPath: path) }
    }
}
