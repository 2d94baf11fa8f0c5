// Uses each product by its own import together with Foundation, whose names must not collide.

import Foundation
import SegmentLog
import Syncline
import SynclineTesting

struct TodoItem: SyncModel {
    var id: String
    var text: String
    var complete = false
}

let server = SimulatedServer()
var configuration = SyncConfiguration()
configuration.durability = .ordered
configuration.creation = .ifMissing
configuration.memoryLimit = .mebibytes(1)
configuration.connect(to: SimulatedNetwork(server))
let database = try await SyncDatabase.open(MemoryStorage(), configuration)
let todos = try database.table(TodoItem.self)
try await todos.insert(TodoItem(id: "a", text: "milk"))
try await database.rows(of: "list").insert(["id": "b", "tags": ["shop", 1, 2.5, true]])
guard try await database.push().outcome == .complete else { fatalError("the push is not complete") }
let report = try await todos.pull(id: "open") { !$0.complete }
guard report.reason == nil else { fatalError("the pull is not complete") }
let open = try await todos.where { !$0.complete && $0.text.lowercased() != "bread" }.order(by: \.text).get()
try await database.close()

let writer = try LogWriter.open(MemoryStorage())
var batch = RecordBatch()
batch.append(Array("milk".utf8))
print(open.count, server.rows(of: "list").count, try writer.append(batch), Date.distantPast < Date.distantFuture)
