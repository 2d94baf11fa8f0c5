// Code that the compiler must refuse: each line with "refused", perhaps with a part of the message that it must give.
// `tools/consumer` checks that it refuses these lines and no others.

import Foundation
import Syncline

enum Colour: String, Codable, CaseIterable {
    case red, blue
}

struct Part: SyncModel {
    var id: UUID
    var text: String
    var price: Double
    var done: Bool
    var due: Date?
    var colour: Colour
}

func conditions(_ parts: SyncTable<Part>, _ other: Filter<Part>) async throws {
    _ = parts.where { $0.text > "5" && $0.price > 5 && $0.done && $0.due == nil && $0.colour == .red }
    _ = parts.where { $0.text > 5 }  // refused: 'ColumnExpression<Part, String>' and 'Int'
    _ = parts.where { $0.txet == "x" }  // refused: has no dynamic member 'txet'
    _ = parts.where { $0.price == "5" }  // refused: 'String' to expected argument type 'ColumnExpression<Part, Double>'
    _ = parts.where { $0.price > $0.text }  // refused: 'ColumnExpression<Part, String>' to expected
    _ = parts.where { $0.text }  // refused: to closure result type 'ColumnExpression<Part, Bool>'
    _ = parts.where { $0.done == "yes" }  // refused: 'String' to expected argument type
    _ = parts.where { $0.colour == .green }  // refused: reference to member 'green'
    _ = parts.where { $0.colour < .red }  // refused: requires that 'Colour' conform to 'Comparable'
    _ = parts.where { $0.due == "2026-01-01" }  // refused: 'String' to expected argument type
    _ = parts.where { $0.text.hashValue == 1 }  // refused: 'hashValue' is unavailable: a condition compares values
    _ = parts.where { $0.colour.rawValue == "red" }  // refused: 'rawValue' is unavailable: a condition
    _ = parts.order(by: \.text)
    _ = parts.order(by: \.txet)  // refused: 'Part' has no member 'txet'
    _ = try await parts.get(id: UUID())
    _ = try await parts.get(id: "a")  // refused: 'String' to expected argument type 'UUID'
    _ = parts.where(other)
    _ = parts.where(Filter<TodoItem> { $0.complete })  // refused: 'ColumnExpression<Part, Bool>'
}

func tables(_ database: SyncDatabase, _ part: Part) async throws {
    _ = try await database.table(Part.self).where { $0.txet == "x" }.get()  // refused: has no dynamic member 'txet'
    _ = try await database.table(Part.self).order(by: \.txet).get()  // refused: 'Part' has no member 'txet'
    let parts = try database.table(Part.self)
    try await parts.overwrite(part)
    try await parts.save(part)  // refused: requires that 'Part' conform to 'VersionedModel'
    try await parts.where { $0.done }.update { $0.price = "5" }  // refused: 'String' to type 'Double'
    try parts.where { $0.done }.delete()  // refused: not marked with 'await'
    _ = try parts.count()  // refused: not marked with 'await'
    _ = parts.limit("5")  // refused: 'String' to expected argument type 'Int'
    try await parts.insert(TodoItem(id: "a"))  // refused: requires that 'TodoItem' conform
    try await database.rows(of: "part").where { $0.done }.get()  // refused: 'RowTable' has no member 'where'
}

struct TodoItem: SyncModel {
    var id: String
    var complete = false
}
