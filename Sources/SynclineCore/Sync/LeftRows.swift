// Handles rows that left the view of a query: they exist, but no longer match its filter.

package import SynclineGround

/// Handles a page with rows that left the view, of which only the version is known. A row that no other query covers
/// is removed; one with pending changes, or in another query's view, stays, with the server's current content.
package struct LeftRows {
    /// The rows that must be looked up.
    package private(set) var unclear: [String] = []
    /// The page with the decisions.
    package private(set) var rows: [PulledRow] = []

    package init(
        _ reader: StateReader, _ query: PullQuery, _ page: [ServerRow], lookedUp: [ExactString: ServerRow] = [:]
    ) throws(SyncError) {
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
            guard let entry = try reader.entry(query.table, row.id) else { continue }
            if row.isByRight {
                // No query shows it any more. The server would answer about it as about a row that never existed.
                rows.append(PulledRow(id: row.id, row: nil, hasLeft: true, isByRight: true))
                continue
            }
            guard let base = entry.base else { continue }
            if entry.pending == nil && claims.isEmpty {
                rows.append(PulledRow(id: row.id, row: nil, hasLeft: true))
            } else if let now = lookedUp[ExactString(row.id)] {
                // Whether it belongs to another query can't be known, so it stays.
                if now.fault != nil { continue }
                let stays = entry.pending != nil || claims.contains(row.id, now.columns)
                rows.append(stays ? now.pulled : PulledRow(id: row.id, row: nil, hasLeft: !now.isDeleted))
            } else if base.isSameState(as: row.columns) {
                if entry.pending == nil, !claims.contains(row.id, base) {
                    rows.append(PulledRow(id: row.id, row: nil, hasLeft: true))
                }
            } else {
                unclear.append(row.id)
            }
        }
    }
}

extension StateReader {
    /// Returns the page without outdated tombstones.
    fileprivate func news(of page: [ServerRow], _ table: String) throws(SyncError) -> [ServerRow] {
        guard page.contains(where: \.isDeleted) else { return page }
        var news: [ServerRow] = []
        for row in page {
            if row.isDeleted, try outlives(row, table) { continue }
            news.append(row)
        }
        return news
    }

    /// Returns whether a tombstone is older than the server's response to an own write of the row: then the row was
    /// restored or inserted again since.
    private func outlives(_ tombstone: ServerRow, _ table: String) throws(SyncError) -> Bool {
        guard let deleted = tombstone.moment, let entry = try entry(table, tombstone.id), entry.isAnswered,
            let written = entry.base?["updatedAt"]?.moment
        else { return false }
        return deleted < written
    }
}
