// The differences between servers of the two protocols and the server that supports both. The simulated server reads
// requests like the former. The real one has rules of its own, which work for clients of either generation.

package import SynclineCore

/// How requests are read.
package struct RequestRules: Sendable {
    /// Whether to imitate each protocol's quirks: what it ignores, and what it misinterprets.
    package var keepsQuirks: Bool
    /// The maximum `$top`; nil for the maximum of the protocol's servers.
    package var maximalTop: Int?
    /// The maximum depth of a filter.
    package var filterDepth: Int
    /// If set, a filter with operands of the wrong kind is an error; otherwise it finds no rows.
    package var typing: FilterTyping?

    /// Parses a filter as the servers of a protocol do.
    func filter(_ text: String, _ protocolVersion: ServerProtocol) throws(TableRequestError) -> FilterExpression {
        do throws(FilterError) {
            let filter = try FilterExpression(parsing: text, depthLimit: filterDepth, typing: typing)
            return protocolVersion == .zumo2 ? filter.dividingAsDoubles : filter
        } catch {
            throw TableRequestError(400, "The filter can't be read: \(error)", code: "invalid-filter")
        }
    }

    /// The rules of the protocol's own servers.
    package static let peers = RequestRules(keepsQuirks: true, maximalTop: nil, filterDepth: .max)

    /// The rules of a server for both protocols.
    package static func both(maximalTop: Int, filterDepth: Int) -> RequestRules {
        RequestRules(keepsQuirks: false, maximalTop: maximalTop, filterDepth: filterDepth)
    }
}
