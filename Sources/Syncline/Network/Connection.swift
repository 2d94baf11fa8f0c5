// The system's error codes for a failed connection.

import CLibrary

enum Connection {
    /// POSIX error codes that mean that the server can't be reached.
    static let failures = Set(
        [
            ENETDOWN, ENETUNREACH, ENETRESET, ECONNABORTED, ECONNRESET, ECONNREFUSED, ENOTCONN, ETIMEDOUT, EHOSTDOWN,
            EHOSTUNREACH, EPIPE, EADDRNOTAVAIL,
        ].map { Int($0) })
}
