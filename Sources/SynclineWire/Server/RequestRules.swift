// In what the servers of the two protocols differ from the one that speaks both: the simulated server reads requests as the
// former do, the real one by rules of its own, under which clients of either generation work.

/// How requests are read.
package struct RequestRules: Hashable, Sendable {
    /// Whether each protocol's quirks are kept: what it does not know, and what it takes for something else.
    package var keepsQuirks: Bool
    /// The largest `$top`; nil for what the protocol's servers allow.
    package var maximalTop: Int?
    /// How deep a filter may nest.
    package var filterDepth: Int

    /// As the protocol's own servers.
    package static let peers = RequestRules(keepsQuirks: true, maximalTop: nil, filterDepth: .max)

    /// As a server of both.
    package static func both(maximalTop: Int, filterDepth: Int) -> RequestRules {
        RequestRules(keepsQuirks: false, maximalTop: maximalTop, filterDepth: filterDepth)
    }
}
