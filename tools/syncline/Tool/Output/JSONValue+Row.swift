// Values and rows as the tool's JSON.

import SynclineCore
import SynclineWire

extension JSONValue {
    init(_ value: SynclineCore.Value) {
        self =
            switch value {
            case .null: .null
            case .bool(let flag): .boolean(flag)
            case .integer(let number): .number(number)
            case .double, .number: .numeral(value.json)
            // Strings that need no escapes, in quotes.
            case .date, .bytes: .string(String(value.json.dropFirst().dropLast()))
            case .string(let text): .string(text)
            case .array(let elements): .array(elements.map { JSONValue($0) })
            case .object(let members): .object(members.map { Member(key: $0.name, value: JSONValue($0.value)) })
            }
    }

    /// A row with its id before its columns.
    init(_ row: StoredRow, selecting columns: [String]? = nil) {
        var members: [Member] = []
        if columns?.contains("id") ?? true { members.append(Member(key: "id", value: .string(row.id))) }
        members += row.columns.members.map { Member(key: $0.name, value: JSONValue($0.value)) }
        self = .object(members)
    }

    init(_ columns: Row) {
        self = .object(columns.members.map { Member(key: $0.name, value: JSONValue($0.value)) })
    }
}

extension ToolError {
    /// The reason why a string is not JSON.
    static func json(_ error: JSONError, line: Int? = nil) -> ToolError {
        ToolError(
            "invalid-item", "the item is not valid JSON: \(error)" + (line.map { " of line \($0)" } ?? ""),
            hint: "Write it as {\"text\":\"milk\"}.")
    }
}

extension Value {
    /// Reads an item from the command line or from a line of input.
    static func item(_ text: some Collection<UInt8>, line: Int? = nil) throws(ToolError) -> Value {
        do throws(JSONError) { return try Value(json: text) } catch { throw .json(error, line: line) }
    }
}
