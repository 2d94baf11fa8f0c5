// Suggests addresses for a row that the store does not have.

import SynclineCore

/// Rows whose addresses may have been meant.
enum RowsNearby {
    /// In a larger table only the first of its rows are looked at.
    private static let limit = 20_000

    static func addresses(_ table: String, _ id: String, _ reader: StateReader) throws -> [String] {
        let tables = try reader.knownTables()
        guard tables.contains(table) else {
            guard let meant = Suggestion.nearest(to: table, in: tables) else { return [] }
            return [try reader.entry(meant, id) == nil ? meant : "\(meant)/\(id)"]
        }
        let ids = try reader.ids(of: table, limit: limit)
        return Suggestion.nearest(to: id, in: ids).map { ["\(table)/\($0)"] } ?? []
    }
}
