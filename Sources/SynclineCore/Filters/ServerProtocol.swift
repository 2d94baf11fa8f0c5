// Which protocol a server speaks: it says how a filter is written, and what its division means.

/// A server's sync protocol.
public enum ServerProtocol: String, Hashable, Sendable, CaseIterable {
    /// Azure Mobile Apps 2.0, with OData 3 filters.
    case zumo2
    /// Datasync 3.0, with OData 4 filters.
    case datasync3
}
