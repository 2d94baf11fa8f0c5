// Matches of a search as the page shows them.

extension RowSearch {
    /// A match as the page shows it. Of the parts of its string, every second one is what was found.
    static func json(id: String, column: String?, _ parts: [String]) -> JSONValue {
        ["id": .string(id), "column": .optional(column), "parts": .array(parts.map(JSONValue.string))]
    }
}

extension RowSearch.Match {
    var json: JSONValue { RowSearch.json(id: id, column: column, parts) }
}
