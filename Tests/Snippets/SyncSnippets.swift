// The code of "Watching sync".

import Foundation
import Syncline
import SynclineTesting

enum SyncSnippets {
    static func watch() async throws {
        let server = SimulatedServer()
        server.setTable("list", rows: [])
        server.setTable("todoitem", rows: [["id": "a", "text": "milk", "complete": false]])
        var configuration = SyncConfiguration()
        configuration.connect(to: SimulatedNetwork(server))
        let database = try await SyncDatabase.open(MemoryStorage(), configuration)
        let todos = try database.table(TodoItem.self)

        var settings = SyncSettings(tables: ["list"])
        let open = PullSettings(queryID: "open", filter: try .init(parsing: "complete eq false"))
        settings.pulls?.append((table: "todoitem", settings: open))
        try database.startAutomaticSync(AutomaticSyncSettings(sync: settings))

        try await todos.insert(TodoItem(text: "bread"))
        try await database.caughtUp(including: ["todoitem"])
        expect(try await todos.all().count == 2)
        expect(server.rows(of: "todoitem").count == 2)

        let health = try await database.health()
        print(health.pending, health.conflicts, health.refused, health.held, health.unreadable)
        if let last = health.lastPush { print("sent", last) }

        expect(health.pending == 0 && health.lastPulls["todoitem"] != nil)
        try await database.close()
    }

    static func issues(_ database: SyncDatabase) async throws {
        for try await issues in database.observeIssues() {
            for issue in issues { print(issue.address ?? "", issue.reason, issue.actions.map(\.title)) }
        }
    }

    static func telemetry(_ database: SyncDatabase, send: (Data) async throws -> Void) async throws {
        for try await health in database.observeHealth() {
            try await send(JSONEncoder().encode(health))
        }
    }
}
