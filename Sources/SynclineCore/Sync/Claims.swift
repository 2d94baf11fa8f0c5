// Decides which local rows a pull may remove although they were not deleted: those without pending changes that no
// other query covers.

import SynclineGround

/// What the other queries of a table cover.
struct Claims {
    private var others: [FilterExpression?] = []
    private let types: TableTypes

    init(_ reader: StateReader, besides query: PullQuery) throws(SyncError) {
        types = try reader.types(of: query.table)
        for cursor in try reader.cursors() where cursor.table == query.table && cursor.queryID != query.queryID {
            let filter = cursor.state.query.isEmpty ? nil : try? FilterExpression(parsing: cursor.state.query)
            others.append(try reader.resolved(filter, in: query.table))
        }
    }

    var isEmpty: Bool { others.isEmpty }

    func contains(_ id: String, _ row: Row) -> Bool { others.contains { row.matches($0, id: id, types) } }
}

extension Row {
    func matches(_ filter: FilterExpression?, id: String, _ types: TableTypes) -> Bool {
        guard let filter else { return true }
        let work = FilterWork(types)
        return withView { view in Array(id.utf8).withBytes { filter.matches(EncodedRowView(id: $0, row: view), work) } }
    }
}
