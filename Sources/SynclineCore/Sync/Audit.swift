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
    ) throws(SyncError) {
        let ignoresCase = try reader.idComparison == .ignoreCase
        func key(_ id: String) -> ExactString { ExactString(ignoresCase ? id.lowercased() : id) }
        let found = ignoresCase ? Set(found.map { key($0.text) }) : found
        let claims = try Claims(reader, besides: query)
        let (filter, types) = (try reader.resolved(query.filter, in: query.table), try reader.types(of: query.table))
        let uuids = (query.filter?.columns ?? []).map(\.text).filter { types[$0] == .uuid }
        try reader.forEachEntry(of: query.table) { id, entry throws(SyncError) in
            guard let base = entry.base, entry.pending == nil, !found.contains(key(id)) else { return }
            guard base.matches(filter, id: id, types) else { return }
            // A server that keeps UUIDs as strings may have it in a case for which it was not asked.
            let isUnasked = uuids.contains { base.hasMixedCase($0) }
            if hasOthers || isUnasked || claims.contains(id, base) { claimed.append(id) } else { gone.append(id) }
        }
    }
}

extension Row {
    /// Whether a column has a UUID in both cases.
    fileprivate func hasMixedCase(_ column: String) -> Bool {
        guard case .string(let text)? = self[column] else { return false }
        return text != text.uppercased() && text != text.lowercased()
    }
}
