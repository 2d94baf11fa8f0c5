// The system's numbers for a connection that failed.

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

enum Connection {
    /// Codes of POSIX that mean that the other side can't be reached.
    static let failures = Set(
        [
            ENETDOWN, ENETUNREACH, ENETRESET, ECONNABORTED, ECONNRESET, ECONNREFUSED, ENOTCONN, ETIMEDOUT, EHOSTDOWN,
            EHOSTUNREACH, EPIPE, EADDRNOTAVAIL,
        ].map { Int($0) })
}
