// The smallest app that stores, lists and syncs: its size is that of the library.

import Foundation
import Syncline

struct TodoItem: SyncModel {
    var id: String
    var text: String
    var complete = false
}

let database = try await SyncDatabase.open(
    at: CommandLine.arguments[1], SyncConfiguration(backend: "https://example.com"))
let todos = try database.table(TodoItem.self)
try await todos.insert(TodoItem(id: UUID().uuidString, text: "milk"))
for try await open in try todos.where({ !$0.complete }).order(by: \.text).observe() { print(open.count) }
print(try await database.sync(["todoitem"]).reason as Any)
