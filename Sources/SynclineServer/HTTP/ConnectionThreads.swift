// libmicrohttpd's threads, each a daemon of its own that is given connections: the library's own acceptors spin where the
// system has no descriptor left, and know no difference between clients.

import CMicroHTTPD
import Synchronization

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

final class ConnectionThreads: Sendable {
    /// The addresses of the daemons; none when they are stopped.
    private let daemons: Mutex<[UInt]>

    /// Nil if they can't be started. They do not keep the server alive, whose owner stops them first.
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

    /// Has a connection served; one that can't be served is closed.
    func serve(_ connection: OpenConnection, _ address: UnsafePointer<sockaddr>, _ length: socklen_t) {
        daemons.withLock { daemons in
            guard daemons.indices.contains(connection.thread),
                let daemon = OpaquePointer(bitPattern: daemons[connection.thread])
            else { return ListenSocket.close(connection.descriptor) }
            MHD_add_connection(daemon, connection.descriptor, address, length)
        }
    }

    /// Closes all connections. None may be suspended.
    func stop() {
        let stopped = daemons.withLock { daemons in
            defer { daemons = [] }
            return daemons
        }
        for daemon in stopped.compactMap({ OpaquePointer(bitPattern: $0) }) { MHD_stop_daemon(daemon) }
    }
}
