// The code of "Moving from Realm" and "Moving from Amplify DataStore".

import Syncline
import SynclineTesting

extension SyncDatabase {
    /// Inserts the models of another store, once: all of them or none. A row that is there already stays as it is.
    func bringOver<Model: SyncModel>(
        from store: String, into table: SyncTable<Model>, _ models: () async throws -> [Model]
    ) async throws {
        let name = "brought over from \(store): \(table.name)"
        guard try await setting(name) == nil else { return }
        let models = try await models()
        try await transaction { transaction in
            for model in models where try transaction.get(id: model.id, in: table) == nil {
                try transaction.insert(model, in: table)
            }
        }
        try await set(name, true)
    }
}

enum BringingOver {
    static func realm() async throws {
        let database = try await SyncDatabase.open(at: "notes")
        let todos = try database.table(TodoItem.self)

        try await database.bringOver(from: "Realm", into: todos) {
            let realm = try Realm()
            return realm.objects(RealmTodo.self).map { TodoItem(id: $0.id, text: $0.text, complete: $0.isDone) }
        }

        expect(try await todos.all().map(\.text) == ["milk", "bread"])
        expect(try await database.pending().count == 2)
        // Nothing is inserted twice, even if the app ended before the setting was stored.
        try await todos.delete(id: "b")
        try await database.bringOver(from: "Realm", into: todos) { fatalError("read again") }
        try await database.set("brought over from Realm: todoitem", nil)
        try await database.bringOver(from: "Realm", into: todos) {
            [TodoItem(id: "a", text: "old"), TodoItem(id: "c", text: "salt")]
        }
        expect(try await todos.all().map(\.text) == ["milk", "salt"])
        try await database.bringOver(from: "Realm", into: todos) { fatalError("read again") }
    }

    static func amplify() async throws {
        let database = try await SyncDatabase.open(at: "notes")
        let todos = try database.table(TodoItem.self)

        try await database.bringOver(from: "DataStore", into: todos) {
            let old = try await Amplify.DataStore.query(Todo.self)
            return old.map { TodoItem(id: $0.id, text: $0.name, complete: $0.isDone ?? false) }
        }

        expect(try await todos.all().map(\.complete) == [true, false])
    }

    /// Device Sync's rules: a delete wins, then the value that arrives last.
    static let asDeviceSync = ConflictPolicy.custom(name: "as Device Sync") { conflict in
        conflict.server == nil ? .takeServer : .keepMine
    }

    /// Auto Merge's rule for single values: if both sides changed a column, the server's value stays.
    static let autoMerge = ConflictPolicy.custom(name: "auto merge") { conflict in
        guard let base = conflict.base, let mine = conflict.mine, var row = conflict.server else { return .takeServer }
        for column in mine.members where base[column.name] == row[column.name] { row[column.name] = column.value }
        return .row(row)
    }

    /// Two devices change a row, and one deletes another; returns what the server has after the other's sync.
    private static func conflicts(_ policy: ConflictPolicy) async throws -> (rows: [Value], undecided: Int) {
        let server = SimulatedServer()
        let rows: [Value] = ["a", "b"].map { ["id": .string($0), "text": "milk", "note": "", "complete": false] }
        server.setTable("todoitem", rows: rows)
        var configuration = SyncConfiguration()
        configuration.connect(to: SimulatedNetwork(server))
        let database = try await SyncDatabase.open(MemoryStorage(), configuration)
        let table = database.rows(of: "todoitem")
        _ = try await database.pull("todoitem")
        server.upsert([["id": "a", "text": "goat milk", "note": "", "complete": true]], in: "todoitem")
        server.remove(["b"], from: "todoitem")
        try await table.update(["id": "a", "text": "oat milk", "note": "cold"])
        try await table.update(["id": "b", "text": "oat milk"])

        let settings = SyncSettings(tables: ["todoitem"], push: PushSettings(policy: policy))
        let report = try await database.sync(settings)
        expect(report.pulls.allSatisfy { $0.report.reason == nil })
        return (server.rows(of: "todoitem"), try await database.conflicts().count)
    }

    static func policies() async throws {
        let realm = try await conflicts(asDeviceSync)
        expect(realm.rows.map { $0[member: "text"] } == ["oat milk"])
        expect(realm.rows.map { $0[member: "complete"] } == [true])
        let amplify = try await conflicts(autoMerge)
        expect(amplify.rows.map { $0[member: "text"] } == ["goat milk"])
        expect(amplify.rows.map { $0[member: "note"] } == ["cold"])
        expect(realm.undecided == 0 && amplify.undecided == 0)
        let merge = try await conflicts(.merge)
        expect(merge.undecided == 2)
    }
}
