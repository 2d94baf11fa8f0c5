// The code of the page about widgets and extensions: one store, several processes.

import Syncline

enum SharingSnippets {
    static func widget() async throws {
        let folder = "shared"
        // In the app
        var configuration = SyncConfiguration()
        configuration.isShared = true
        let database = try await SyncDatabase.open(at: folder, configuration)
        try await database.rows(of: "todoitem").insert(["id": "a", "text": "milk", "complete": false])

        // In a widget, an extension or an intent
        let widget = try await SyncDatabase.follow(at: folder)
        let open = RowQuery(table: "todoitem", filter: try .init(parsing: "complete eq false"))
        let items = try await widget.rows(of: "todoitem").query(open)

        // Durable here, and merged into the app's store when the app runs
        try await widget.rows(of: "todoitem").update(["id": "a", "complete": true])

        expect(items.rows.map(\.id) == ["a"])
        try await database.refresh()
        expect(try await database.rows(of: "todoitem").get(id: "a")?.columns["complete"] == true)
        try await suspending(database)
        try await widget.close()
        try await database.close()
    }

    static func suspending(_ database: SyncDatabase) async throws {
        // When the app goes to the background
        try await database.suspend()

        // When it comes back
        try await database.resume()
    }
}
