// The target of the user's words in the box of the page: an event, a moment, a row, or an operation of the outbox.

import SegmentLog
import SynclineCore

extension StudioData {
    /// `{"event":41}`, or `{"table","id"}` with or without an event.
    func find(_ text: String, at moment: UInt64?) throws -> JSONValue {
        let text = Substring(text).trimmingSpaces()
        if text.hasPrefix("~") { return try findOperation(text, at: moment) }
        if !text.hasPrefix("@"), text.contains("/") { return try findRow(RowAddress(text)) }
        do {
            return ["event": .number(try event(of: text))]
        } catch {
            guard !text.hasPrefix("@"), let found = try findID(text) else { throw error }
            return found
        }
    }

    private func event(of text: String) throws -> UInt64 {
        try Moment(text, states.storage, now: SystemClock().now().rawValue).event
    }

    private func findOperation(_ text: String, at moment: UInt64?) throws -> JSONValue {
        try states.read(at: moment) { state in
            let plan = try PushPlan(state.reader).operations
            guard let number = Int(text.dropFirst()), plan.indices.contains(number - 1) else {
                throw ToolError.usage("there is no operation `\(escaped(text))` as of @\(state.through)")
            }
            return ["table": .string(plan[number - 1].table), "id": .string(plan[number - 1].id)]
        }
    }

    private func findRow(_ address: RowAddress) throws -> JSONValue {
        let event = try address.moment.map { try self.event(of: $0) }
        let found: JSONValue = ["table": .string(address.table), "id": .string(address.id)]
        let members: KeyValuePairs<String, JSONValue?> = ["event": event.map { .number($0) }]
        let ids = try idComparison()
        let row = StudioRow(table: address.table, id: address.id)
        return try states.read(at: nil) { state in
            if try state.reader.entry(address.table, address.id) != nil { return found.adding(members) }
            if try !events.numbers(of: row, ids).isEmpty { return found.adding(members) }
            let near = try RowsNearby.addresses(address.table, address.id, state.reader)
            throw ToolError.usage(
                "the history has no row \(escaped("\(address.table)/\(address.id)"))",
                hint: near.first.map { "Did you mean `\($0)`?" })
        }
    }

    /// A row that is named by its id alone.
    private func findID(_ id: String) throws -> JSONValue? {
        try states.read(at: nil) { state in
            for table in try state.reader.tables() where try state.reader.entry(table, id) != nil {
                return ["table": .string(table), "id": .string(id)]
            }
            return nil
        }
    }

    func idComparison() throws -> IDComparison {
        try states.read(at: nil) { state in try state.reader.idComparison }
    }
}
