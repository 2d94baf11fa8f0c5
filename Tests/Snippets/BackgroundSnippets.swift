// The code of "Background sync".

import Syncline
import SynclineTesting

enum BackgroundSnippets {
    @MainActor
    static func sync() async throws {
        let server = SimulatedServer()
        server.setTable("todoitem", rows: [])
        let (entered, entries) = AsyncStream.makeStream(of: Void.self)
        // The request of a fault `.delay` waits until the task that sends it is cancelled.
        let network = SimulatedNetwork(server) { _ in
            entries.yield()
            let (never, _) = AsyncStream.makeStream(of: Void.self)
            for await _ in never {}
        }
        var configuration = SyncConfiguration()
        configuration.connect(to: network)
        let use = StoreUse(try await SyncDatabase.open(MemoryStorage(), configuration))
        let todos = try use.database.table(TodoItem.self)
        try await use.setForeground(true).value
        try await todos.insert(TodoItem(id: "a", text: "milk"))
        try await use.setForeground(false).value

        // In the background: the store is resumed, synced and suspended.
        expect(await use.syncInBackground(["todoitem"]))
        expect(server.rows(of: "todoitem").count == 1)
        expect(await isSuspended(todos))

        // The app comes to the foreground during a background sync, and keeps the store.
        use.setForeground(true)
        expect(await use.syncInBackground(["todoitem"]))
        try await todos.insert(TodoItem(id: "b", text: "bread"))
        try await use.setForeground(false).value

        // The system's time is over: the task is cancelled, and nothing is lost.
        network.script([.delay])
        let task = Task { await use.syncInBackground(["todoitem"]) }
        for await _ in entered { break }
        task.cancel()
        let isComplete = await task.value
        expect(!isComplete)
        expect(await isSuspended(todos))
        expect(try await use.database.pending().map(\.id) == ["b"])
        expect(await use.syncInBackground(["todoitem"]))
        expect(server.rows(of: "todoitem").count == 2)
    }

    private static func isSuspended(_ todos: SyncTable<TodoItem>) async -> Bool {
        do {
            try await todos.insert(TodoItem(text: "not stored"))
            return false
        } catch {
            return error.code == .suspended
        }
    }
}
