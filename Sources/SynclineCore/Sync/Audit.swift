// Decides which local rows are removed because the server no longer has them, although no tombstone was sent.

package import SynclineGround

/// Decides which rows an audit removes: those that match the query, have nothing pending and were not found. For a
/// row that another query covers too, which may only have left this query's filter, the server is asked.
package struct Audit {
    package private(set) var gone: [String] = []
    /// Those for which the server is asked.
    package private(set) var claimed: [String] = []

    /// - Parameter hasOthers: Whether the server also has rows whose ids could not be read: any of those not found may
    ///   be one of them.
    package init(
        _ reader: StateReader, _ query: PullQuery, found: Set<ExactString>, hasOthers: Bool = false
    ) throws(StateError) {
        let ignoresCase = try reader.idComparison == .ignoreCase
        func key(_ id: String) -> ExactString { ExactString(ignoresCase ? id.lowercased() : id) }
        let found = ignoresCase ? Set(found.map { key($0.text) }) : found
        let claims = try Claims(reader, besides: query)
        let filter = try reader.asServerDivides(query.filter)
        try reader.forEachEntry(of: query.table) { id, entry throws(StateError) in
            guard let base = entry.base, entry.pending == nil, !found.contains(key(id)) else { return }
            guard base.matches(filter, id: id) else { return }
            if hasOthers || claims.contains(id, base) { claimed.append(id) } else { gone.append(id) }
        }
    }
}
