// Which protocol a server speaks: it says how a filter is written, and what its division means.

/// The protocol a server speaks.
public enum ServerProtocol: String, Hashable, Sendable, CaseIterable {
    /// Azure Mobile Apps 2.0; filters like OData 3.
    case zumo2
    /// Datasync 3.0; filters like OData 4.
    case datasync3
}
