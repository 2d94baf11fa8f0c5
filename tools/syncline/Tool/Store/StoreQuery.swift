// The query that the options of a command ask for.

import SynclineCore

/// A query from the options of a command.
enum StoreQuery {
    static func filter(_ arguments: Arguments) throws(ToolError) -> FilterExpression? {
        try arguments.value("filter").map { text throws(ToolError) in try filter(text) }
    }

    static func filter(_ text: String) throws(ToolError) -> FilterExpression {
        do throws(FilterError) { return try FilterExpression(parsing: text) } catch { throw invalid(error, "filter") }
    }

    static func order(_ text: String) throws(ToolError) -> [RowQuery.Key] {
        do throws(FilterError) { return try RowQuery.Key.list(parsing: text) } catch { throw invalid(error, "order") }
    }

    static func query(_ arguments: Arguments) throws(ToolError) -> RowQuery {
        var query = try window(arguments)
        query.select = arguments.value("select").map { text in
            text.split(separator: ",").map { $0.trimmingSpaces() }
        }
        query.countsAll = arguments.flag("count")
        return query
    }

    /// The filter, the order and the number of rows.
    static func window(_ arguments: Arguments) throws(ToolError) -> RowQuery {
        var query = RowQuery(table: arguments.operands[0], filter: try filter(arguments))
        if let text = arguments.value("orderby") { query.order = try order(text) }
        query.top = try arguments.number("top", in: 0...UInt64(Int32.max)).map { Int($0) }
        query.skip = Int(try arguments.number("skip", in: 0...UInt64(Int32.max)) ?? 0)
        return query
    }

    private static func invalid(_ error: FilterError, _ what: String) -> ToolError {
        ToolError("invalid-query", "the \(what) can't be read: \(error)", hint: "See `syncline help query`.")
    }
}

extension Substring {
    func trimmingSpaces() -> String {
        String(drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }
}
