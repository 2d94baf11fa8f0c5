// Names of tables, rows and columns that are misspelt.

import Syncline
import SynclineGround

extension Context {
    /// Refuses a table that the store does not have if it has one with nearly that name. Any other name may be that of a table
    /// whose rows are still to come, of which only a word is said.
    func check(table: String, _ reader: StateReader) throws {
        if try !reader.check(named: table) { narration.warn("the store has no table \(table)") }
    }

    /// Says which columns of a query no row ever had. Rows that have them may still come, so it is not an error.
    func check(columnsOf query: RowQuery, _ reader: StateReader) throws {
        let used = (query.filter?.columns ?? []).union(
            (query.order.compactMap { $0.column.split(separator: "/").first.map(String.init) }
                + (query.select ?? [])).exact)
        for (column, meant) in try Context.unknown(used, reader) {
            narration.warn("no row ever had a column \(column)")
            if let meant { narration.hint("Did you mean `\(meant)`?") }
        }
    }

    /// Refuses a filter with a column that no row ever had: it would not select the rows that were meant.
    func check(columnsOf filter: FilterExpression, _ reader: StateReader) throws {
        guard let (column, meant) = try Context.unknown(filter.columns, reader).first else { return }
        throw ToolError(
            "invalid-query", "no row ever had a column \(escaped(column))",
            hint: meant.map { "Did you mean `\(escaped($0))`?" })
    }

    /// The columns that no row ever had, each with the one that may have been meant.
    private static func unknown(_ columns: Set<ExactString>, _ reader: StateReader) throws -> [(String, meant: String?)]
    {
        let known = try reader.knownColumns()
        if try reader.knownTables().isEmpty { return [] }
        return columns.subtracting(known).sorted().map {
            ($0.text, Suggestion.nearest(to: $0.text, in: known.sorted().map(\.text)))
        }
    }

    /// Suggests the row that may have been meant.
    func hint(missing row: (table: String, id: String), at moment: String?, _ arguments: Arguments) async throws {
        guard output.form == .human else { return }
        let reader = try await view(arguments, at: moment).reader
        let meant = try RowsNearby.addresses(row.table, row.id, reader).first
        if let meant { narration.hint("Did you mean `\(meant)`?") }
    }
}
