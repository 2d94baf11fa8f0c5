// Stands in for Realm and Amplify DataStore, as far as the guides use them, with two objects each.

final class Realm {
    init() throws {}

    func objects(_ type: RealmTodo.Type) -> [RealmTodo] {
        [RealmTodo("a", "milk", true), RealmTodo("b", "bread", false)]
    }
}

/// An object of the app that used Realm: like all of them a class, and not `Sendable`.
final class RealmTodo {
    let id: String
    let text: String
    let isDone: Bool

    init(_ id: String, _ text: String, _ isDone: Bool) {
        (self.id, self.text, self.isDone) = (id, text, isDone)
    }
}

enum Amplify {
    static let DataStore = DataStoreCategory()

    struct DataStoreCategory {
        func query(_ type: Todo.Type) async throws -> [Todo] {
            [Todo(id: "a", name: "milk", isDone: true), Todo(id: "b", name: "bread", isDone: nil)]
        }
    }
}

/// A model that was generated from a GraphQL schema.
struct Todo: Codable {
    let id: String
    var name: String
    var isDone: Bool?
}
