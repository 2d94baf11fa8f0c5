// Where an incremental pull goes on, kept for each query of a table.

/// Where an incremental pull goes on.
public struct CursorState: Hashable, Sendable {
    /// The server's own text of the newest moment seen.
    public var position: String
    /// The query in canonical form: the same id with another query is refused.
    public var query: String
    /// Where a moment that spans pages goes on, by id.
    public var drain: String?
    /// When it was last moved, in milliseconds since 1970.
    public var updated: Int64

    /// A place in a query.
    public init(position: String, query: String, drain: String? = nil, updated: Int64) {
        self.position = position
        self.query = query
        self.drain = drain
        self.updated = updated
    }
}
