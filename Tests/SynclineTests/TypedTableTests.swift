// Tables of an app's own types: values round-trip, filters are checked, and both kinds of table see the same rows.

import Foundation
import SegmentLog
import Syncline
import SynclineCore
import Testing

private struct TodoItem: SyncModel, Equatable {
    var id: String
    var text: String
    var complete = false
    var priority = 0
    var due: Date?
    var tags: [String]?
    var place: Place?

    struct Place: Codable, Equatable, Sendable {
        var street: String
        var number: Int
    }
}

@Suite struct TypedTableTests {
    private func database() async throws -> SyncDatabase {
        try await SyncDatabase.open(MemoryStorage())
    }

    @Test func `a model comes back as it was stored`() async throws {
        let todos = try await database().table(TodoItem.self)
        let item = TodoItem(
            id: "a", text: "milk", complete: true, priority: -5, due: Date(timeIntervalSince1970: 1_770_000_000.125),
            tags: ["x", "y"], place: .init(street: "Elm", number: 3))
        #expect(try await todos.insert(item) == item)
        #expect(try await todos.get(id: "a") == item)
        #expect(try await todos.get(id: "b") == nil)
    }

    @Test func `a property that becomes nil is cleared by an update`() async throws {
        let database = try await database()
        let todos = try database.table(TodoItem.self)
        var item = TodoItem(id: "a", text: "milk", tags: ["x"])
        try await todos.insert(item)
        item.tags = nil
        try await todos.overwrite(item)
        #expect(try await todos.get(id: "a")?.tags == nil)
        #expect(try await database.rows(of: "todoitem").get(id: "a")?.columns["tags"] == .null)
    }

    @Test func `Swift filters find the rows that they describe`() async throws {
        let todos = try await database().table(TodoItem.self)
        for number in 0..<10 {
            try await todos.insert(
                TodoItem(id: "\(number)", text: "item \(number)", complete: number % 2 == 0, priority: number))
        }
        #expect(try await todos.where { !$0.complete && $0.priority > 5 }.get().map(\.id) == ["7", "9"])
        #expect(try await todos.where { $0.complete || $0.text == "item 3" }.count() == 6)
        #expect(
            try await todos.where { $0.text.hasSuffix("4") }.order(by: \.priority, .descending).get().map(\.id)
                == ["4"])
        #expect(try await todos.order(by: \.priority, .descending).limit(2).get().map(\.id) == ["9", "8"])
        #expect(try await todos.where { $0.priority.isOne(of: [1, 2, 77]) }.count() == 2)
    }

    @Test func `a filter over a column the model does not have is an error`() async throws {
        let todos = try await database().table(TodoItem.self)
        let error = await #expect(throws: SyncError.self) {
            try await todos.where { $0.named("complte") == true }.get()
        }
        #expect(error?.code == .unsupportedPredicate)
        #expect(error?.message == "TodoItem has no column \"complte\"")
    }

    @Test func `a row that does not fit the model says which column`() async throws {
        let database = try await database()
        try await database.rows(of: "todoitem").insert(
            .object([.init("id", .string("a")), .init("text", .integer(5))]))
        let error = await #expect(throws: SyncError.self) { try await database.table(TodoItem.self).get(id: "a") }
        #expect(error?.code == .invalidItem)
        #expect(error?.message.hasPrefix("text: ") == true)
    }

    @Test func `a transaction over models is all or nothing`() async throws {
        let database = try await database()
        let todos = try database.table(TodoItem.self)
        try await database.transaction { transaction in
            try transaction.insert(TodoItem(id: "a", text: "one"), in: todos)
            try transaction.insert(TodoItem(id: "b", text: "two"), in: todos)
        }
        await #expect(throws: SyncError.self) {
            try await database.transaction { transaction in
                try transaction.delete("todoitem", id: "a")
                try transaction.insert(TodoItem(id: "b", text: "again"), in: todos)
            }
        }
        #expect(try await todos.all().map(\.text) == ["one", "two"])
    }

    @Test func `the past can be queried, compared and explained`() async throws {
        let database = try await database()
        let todos = try database.table(TodoItem.self)
        var item = TodoItem(id: "a", text: "milk")
        try await todos.insert(item)
        let before = database.lastEvent
        item.text = "bread"
        try await todos.overwrite(item)
        #expect(try await database.history(at: before).get("todoitem", id: "a")?.columns["text"] == .string("milk"))
        let differences = try await database.differences(from: before)
        #expect(differences.map(\.id) == ["a"])
        #expect(differences[0].fields.map(\.name) == ["text"])
        let origins = try #require(try await database.blame("todoitem", id: "a"))
        #expect(origins.first { $0.field == "text" }?.event == before + 1)
        #expect(origins.first { $0.field == "complete" }?.event == before)
    }
}
