// Which local rows a pull may remove though nobody deleted them: those with nothing pending that no other query stands for.

/// What the queries of a table stand for, beside the one that is pulled.
private struct Claims {
    private var others: [Expression?] = []

    init(_ reader: StateReader, besides query: PullQuery) throws(StateError) {
        for cursor in try reader.cursors() where cursor.table == query.table && cursor.queryID != query.queryID {
            let filter = cursor.state.query.isEmpty ? nil : try? Expression(parsing: cursor.state.query)
            others.append(try reader.asServerDivides(filter))
        }
    }

    var isEmpty: Bool { others.isEmpty }

    func contains(_ id: String, _ row: Row) -> Bool { others.contains { row.matches($0, id: id) } }
}

extension Row {
    fileprivate func matches(_ filter: Expression?, id: String) -> Bool {
        guard let filter else { return true }
        return withView { view in Array(id.utf8).withBytes { filter.matches(RowSight(id: $0, row: view)) } }
    }
}

/// Which rows of a table an audit removes: those that match the query, have nothing pending and were not found. One that
/// another query stands for, too, may have left this query's filter only: the server is asked for it.
package struct Audit {
    package private(set) var gone: [String] = []
    /// Those that another query stands for.
    package private(set) var claimed: [String] = []

    package init(_ reader: StateReader, _ query: PullQuery, found: Set<String>) throws(StateError) {
        let ignoresCase = try reader.idComparison == .ignoreCase
        let found = ignoresCase ? Set(found.map { $0.lowercased() }) : found
        let claims = try Claims(reader, besides: query)
        let filter = try reader.asServerDivides(query.filter)
        try reader.forEachEntry(of: query.table) { id, entry throws(StateError) in
            guard let base = entry.base, entry.pending == nil, !found.contains(ignoresCase ? id.lowercased() : id)
            else { return }
            guard base.matches(filter, id: id) else { return }
            if claims.contains(id, base) { claimed.append(id) } else { gone.append(id) }
        }
    }
}

/// What becomes of a page with rows that left the view. Of such a row only the version is known. One that nobody else
/// stands for goes at once; one with pending changes, or in the view of another query, stays, as the server has it now.
package struct Departure {
    /// The rows that must be looked up.
    package private(set) var unclear: [String] = []
    /// The page with what was decided.
    package private(set) var rows: [PulledRow] = []

    package init(
        _ reader: StateReader, _ query: PullQuery, _ page: [ServerRow], lookedUp: [String: ServerRow] = [:]
    ) throws(StateError) {
        let page = try reader.news(of: page, query.table)
        guard page.contains(where: \.hasLeft) else {
            rows = page.map(\.pulled)
            return
        }
        let claims = try Claims(reader, besides: query)
        for row in page {
            guard row.hasLeft else {
                rows.append(row.pulled)
                continue
            }
            guard let entry = try reader.entry(query.table, row.id), let base = entry.base else { continue }
            if entry.pending == nil && claims.isEmpty {
                rows.append(PulledRow(id: row.id, row: nil))
            } else if let now = lookedUp[row.id] {
                let stays = entry.pending != nil || claims.contains(row.id, now.columns)
                rows.append(stays ? now.pulled : PulledRow(id: row.id, row: nil))
            } else if base.isSameState(as: row.columns) {
                if entry.pending == nil, !claims.contains(row.id, base) { rows.append(PulledRow(id: row.id, row: nil)) }
            } else {
                unclear.append(row.id)
            }
        }
    }
}

extension StateReader {
    /// A page without tombstones that are not news.
    fileprivate func news(of page: [ServerRow], _ table: String) throws(StateError) -> [ServerRow] {
        guard page.contains(where: \.isDeleted) else { return page }
        var news: [ServerRow] = []
        for row in page {
            if row.isDeleted, try outlives(row, table) { continue }
            news.append(row)
        }
        return news
    }

    /// Whether a tombstone is older than what the server said of the row in answer to an own write: then it is not news. The
    /// row was brought back, or inserted again, since.
    private func outlives(_ tombstone: ServerRow, _ table: String) throws(StateError) -> Bool {
        guard let deleted = tombstone.moment, let entry = try entry(table, tombstone.id), entry.isAnswered,
            let written = entry.base?["updatedAt"]?.moment
        else { return false }
        return deleted < written
    }
}
