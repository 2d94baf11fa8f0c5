// libmicrohttpd's threads, each a daemon that receives connections from us: the library's own acceptors spin if the
// system has no descriptor left, and do not distinguish clients.

import CLibrary
import CMicroHTTPD
import SynclineGround

final class ConnectionThreads: Sendable {
    /// The addresses of the daemons; empty after they are stopped.
    private let daemons: Mutex<[UInt]>

    /// Nil if they can't be started. They do not retain the server; its owner stops them first.
    init?(_ server: HTTPServer, isSecure: Bool) {
        var started: [OpaquePointer] = []
        for _ in 0..<server.configuration.connectionThreads {
            guard let daemon = DaemonOptions.start(server, isSecure: isSecure) else {
                for daemon in started { MHD_stop_daemon(daemon) }
                return nil
            }
            started.append(daemon)
        }
        daemons = Mutex(started.map { UInt(bitPattern: $0) })
    }

    /// Passes a connection to a thread; closes it if it can't be served.
    func serve(_ connection: OpenConnection, _ address: UnsafePointer<sockaddr>, _ length: socklen_t) {
        daemons.withLock { daemons in
            guard daemons.indices.contains(connection.thread),
                let daemon = OpaquePointer(bitPattern: daemons[connection.thread])
            else { return ListenSocket.close(connection.descriptor) }
            MHD_add_connection(daemon, connection.descriptor, address, length)
        }
    }

    /// Closes all connections. None of them may be suspended.
    func stop() {
        let stopped = daemons.withLock { daemons in
            defer { daemons = [] }
            return daemons
        }
        for daemon in stopped.compactMap({ OpaquePointer(bitPattern: $0) }) { MHD_stop_daemon(daemon) }
    }
}
