// In what the servers of the two protocols differ from the one that speaks both: the simulated server reads requests as the
// former do, the real one by rules of its own, under which clients of either generation work.

package import SynclineCore

/// How requests are read.
package struct RequestRules: Sendable {
    /// Whether each protocol's quirks are kept: what it does not know, and what it takes for something else.
    package var keepsQuirks: Bool
    /// The largest `$top`; nil for what the protocol's servers allow.
    package var maximalTop: Int?
    /// How deep a filter may nest.
    package var filterDepth: Int
    /// With it, a filter whose parts do not fit each other is a mistake; without, it finds no rows.
    package var typing: FilterTyping?

    /// Reads a filter as the servers of a protocol do.
    func filter(_ text: String, _ spoken: ServerProtocol) throws(FilterError) -> Expression {
        let filter = try Expression(parsing: text, depthLimit: filterDepth, typing: typing)
        return spoken == .zumo2 ? filter.dividingAsDoubles : filter
    }

    /// As the protocol's own servers.
    package static let peers = RequestRules(keepsQuirks: true, maximalTop: nil, filterDepth: .max)

    /// As a server of both.
    package static func both(maximalTop: Int, filterDepth: Int) -> RequestRules {
        RequestRules(keepsQuirks: false, maximalTop: maximalTop, filterDepth: filterDepth)
    }
}
