// Where an incremental pull goes on, kept for each query of a table.

/// Where an incremental pull continues.
public struct CursorState: Hashable, Sendable {
    /// The newest time seen, as the server wrote it.
    public var position: String
    /// The canonical form of the query; another query with the same id is refused.
    public var query: String
    /// If one time spans several pages, the id after which it continues.
    public var drain: String?
    /// When it last changed, in milliseconds since 1970.
    public var updated: Int64

    /// A place in a query.
    public init(position: String, query: String, drain: String? = nil, updated: Int64) {
        self.position = position
        self.query = query
        self.drain = drain
        self.updated = updated
    }
}
