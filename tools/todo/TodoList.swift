// All of the app but its screen: a list that works without a network and syncs when it is asked to.

import Syncline

struct TodoList: Sendable {
    let database: SyncDatabase
    let items: SyncTable<TodoItem>

    init(at path: String, server: String) async throws {
        var configuration = SyncConfiguration()
        configuration.backend = server
        database = try await SyncDatabase.open(at: path, configuration)
        items = try database.table(TodoItem.self)
    }

    /// The list, now and after every change, local or pulled.
    func everyChange() throws -> LiveResults<[TodoItem], SyncError> {
        try items.order(by: \.complete).order(by: \.text).observe()
    }

    func add(_ text: String) async throws {
        try await items.insert(TodoItem(text: text))
    }

    func setComplete(_ item: TodoItem) async throws {
        try await items.update(id: item.id) { $0.complete = true }
    }

    func rename(_ item: TodoItem, to text: String) async throws {
        try await items.update(id: item.id) { $0.text = text }
    }

    /// Sends what was changed here, then fetches what was changed elsewhere. Returns the error that stopped it, or nil.
    func refresh(progress: @escaping @Sendable (SyncProgress) -> Void) async throws -> SyncError? {
        let pushed = try await database.push(progress: progress)
        if case .stopped(let error) = pushed.outcome { return error }
        return try await items.pull(id: "all", progress: progress).reason
    }
}
