// The connection to a server, together with the protocol that it was opened for.

import SynclineCore

/// The connection to the server in use.
struct ServerLink: Sendable {
    var channel: ServerChannel
    var server: ServerProtocol
}
