// A value that is watched during a replay: a row, a field of it, or a condition.

import SynclineCore

struct Watch {
    let text: String
    private enum Subject {
        case row(table: String, id: String)
        case field(table: String, id: String, String)
        case condition(Condition)
    }
    private let subject: Subject

    /// - Parameter reader: Knows whether a dot belongs to an id or comes before a field.
    init(_ text: String, _ reader: StateReader) throws {
        self.text = text
        if let address = try? RowAddress(text), !text.contains(" "), !text.contains(":") {
            let dot = address.id.lastIndex(of: ".")
            if let dot, try reader.entry(address.table, address.id) == nil {
                subject = .field(
                    table: address.table, id: String(address.id[..<dot]),
                    String(address.id[address.id.index(after: dot)...]))
            } else {
                subject = .row(table: address.table, id: address.id)
            }
        } else {
            do throws(FilterError) {
                subject = .condition(try Condition(parsing: text))
            } catch {
                throw ToolError.usage(
                    "`\(escaped(text))` can't be watched: \(error)",
                    hint: "Write TodoItem/7f3a, TodoItem/7f3a.title or a condition, as in `help bisect`.")
            }
        }
    }

    /// Its present value.
    func value(_ reader: StateReader) throws -> String {
        switch subject {
        case .row(let table, let id): return try reader.row(table, id).map { JSONValue($0).text } ?? "does not exist"
        case .field(let table, let id, let field):
            guard let row = try reader.row(table, id) else { return "does not exist" }
            return row.columns[field].map { JSONValue($0).text } ?? "not set"
        case .condition(let condition):
            let count = try condition.count(in: reader)
            return condition.isOnChanges ? "\(count)" : condition.holds(count) ? "true" : "false"
        }
    }
}
