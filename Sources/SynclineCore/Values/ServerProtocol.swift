// The protocol of a server. It decides the spelling of a filter, and the meaning of a division.

/// A server's sync protocol.
public enum ServerProtocol: String, Hashable, Sendable, CaseIterable {
    /// Azure Mobile Apps 2.0, with OData 3 filters.
    case zumo2
    /// Datasync 3.0, with OData 4 filters.
    case datasync3

    /// Reads the setting of a store; a store without one uses the older protocol.
    package init(setting value: Value?) throws(SyncError) {
        switch value {
        case nil, .null?: self = .zumo2
        case .string(let name)?:
            guard let known = ServerProtocol(rawValue: name) else {
                throw ServerProtocol.refusal("the protocol \"\(name)\" is not known")
            }
            self = known
        default: throw ServerProtocol.refusal("the name of the protocol is not a string")
        }
    }

    private static func refusal(_ message: String) -> SyncError {
        let names = allCases.map(\.rawValue).joined(separator: " or ")
        return SyncError(.invalidConfiguration, message, hint: "Set it to \(names).")
    }
}
