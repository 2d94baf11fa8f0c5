// Conditions that the compiler must refuse: each line that ends with "refused". `tools/consumer` checks that it refuses
// these lines and no others.

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
    _ = parts.where { $0.text > 5 }  // refused
    _ = parts.where { $0.txet == "x" }  // refused
    _ = parts.where { $0.price == "5" }  // refused
    _ = parts.where { $0.price > $0.text }  // refused
    _ = parts.where { $0.text }  // refused
    _ = parts.where { $0.done == "yes" }  // refused
    _ = parts.where { $0.colour == .green }  // refused
    _ = parts.where { $0.colour < .red }  // refused
    _ = parts.where { $0.due == "2026-01-01" }  // refused
    _ = parts.order(by: \.text)
    _ = parts.order(by: \.txet)  // refused
    _ = try await parts.get(id: UUID())
    _ = try await parts.get(id: "a")  // refused
    _ = parts.where(other)
    _ = parts.where(Filter<TodoItem> { $0.complete })  // refused
}

struct TodoItem: SyncModel {
    var id: String
    var complete = false
}
