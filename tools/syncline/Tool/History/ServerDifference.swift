// The side that made a difference between a store and its server: this app, the server, both, or the query.

import SynclineCore
import SynclineGround

/// Why a row differs from the server's.
enum DifferenceCause: String, CaseIterable {
    /// The row has changes here that are not pushed, and the server's row is the one that they were made on.
    case own
    /// The server's row is not the one that the last pull brought.
    case server
    /// Both.
    case both
    /// The server has the row, and no query that this store pulls matches it.
    case outside

    var text: String {
        switch self {
        case .own: "changed here, not pushed"
        case .server: "changed on the server, not pulled"
        case .both: "changed here and on the server"
        case .outside: "outside the queries"
        }
    }
}

/// Finds the causes. Pure: it reads states.
struct DifferenceCauses {
    private let store: StateReader
    private let types: TypeCatalog
    /// The filters of each table's queries; nil for a query of all rows.
    private let filters: [ExactString: [FilterExpression?]]

    /// - Parameter store: The store's state, not the server's.
    init(_ store: StateReader) throws {
        self.store = store
        types = try store.types
        var filters: [ExactString: [FilterExpression?]] = [:]
        for cursor in try store.cursors() {
            let query = cursor.state.query
            filters[ExactString(cursor.table), default: []].append(
                query.isEmpty ? nil : try FilterExpression(parsing: query))
        }
        self.filters = filters
    }

    /// - Parameter row: The server's row without system columns; nil if it has none.
    func cause(of difference: RowDifference, server row: Row?) throws -> DifferenceCause {
        let (table, id) = (difference.table, difference.id)
        let entry = try store.entry(table, id)
        let base = entry?.base?.own
        let moved = RowDifference(table: table, id: id, before: base, after: row, types[table])
        if entry?.pending != nil { return moved.isEmpty ? .own : .both }
        if base == nil, let row, let filters = filters[ExactString(table)], !filters.isEmpty {
            let work = FilterWork(types[table])
            let isWanted = filters.contains { $0?.matches(IdentifiedRow(id: id, row: row), work) ?? true }
            if !isWanted { return .outside }
        }
        return .server
    }
}

private struct IdentifiedRow: FilterSubject {
    let id: String
    let row: Row

    func value(ofColumn name: String) -> Value { name == "id" ? .string(id) : row[name] ?? .null }
}
