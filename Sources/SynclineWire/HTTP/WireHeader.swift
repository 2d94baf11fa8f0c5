// The names of headers that have a meaning of their own between a store and a server.

/// The names of headers used in both directions.
package enum WireHeader {
    package static let version = "ZUMO-API-VERSION"
    package static let operationID = "X-Syncline-Operation-Id"
    /// A server's capabilities beyond the protocol: words such as `changes`, separated by commas.
    package static let capabilities = "X-Syncline-Capabilities"
    /// The identity of the server's database: if it changes, everything known is outdated.
    package static let epoch = "X-Syncline-Epoch"
    /// The latest change that its sender may have seen. A server with replicas sends it, and wants it back.
    package static let mark = "X-Syncline-Mark"
    /// Headers that an app can't set, because the protocol or the connection sets them.
    static let reserved = [
        "If-Match", "If-None-Match", operationID, version, mark, "Accept", "Content-Type", "Content-Length",
        "Transfer-Encoding", "Accept-Encoding", "Connection", "Expect",
    ]
}
