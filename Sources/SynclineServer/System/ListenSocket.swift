// The listening socket. It is created here rather than by the HTTP library, so that an address that is invalid or in
// use is reported in a clear line, and a free port can be read back.

import CLibrary

struct ListenSocket {
    let descriptor: Int32
    /// The authority under which clients reach it: `127.0.0.1:8080`.
    let authority: String

    /// Opens a socket at `127.0.0.1:8080`, `[::1]:8080` or `localhost:0`.
    init(_ address: String) throws(StartFailure) {
        guard let colon = address.lastIndex(of: ":"), let port = UInt16(address[address.index(after: colon)...]) else {
            throw StartFailure("'\(address)' is not an address to listen on", hint: "Write 127.0.0.1:8080")
        }
        let host = String(address[..<colon]).filter { $0 != "[" && $0 != "]" }
        var hints = addrinfo()
        hints.ai_socktype = ListenSocket.stream
        hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV
        var found: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host.isEmpty ? nil : host, String(port), &hints, &found) == 0, let found else {
            throw StartFailure("there is no address \(host) to listen on")
        }
        defer { freeaddrinfo(found) }
        descriptor = socket(found.pointee.ai_family, found.pointee.ai_socktype, 0)
        guard descriptor >= 0 else { throw StartFailure("a socket could not be created: \(ListenSocket.reason)") }
        var one: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<Int32>.size))
        let isBound = bind(descriptor, found.pointee.ai_addr, found.pointee.ai_addrlen) == 0
        guard isBound, listen(descriptor, 1024) == 0 else {
            let error = errno
            let reason = ListenSocket.reason
            ListenSocket.close(descriptor)
            throw StartFailure(
                "can't listen on \(address): \(reason)",
                hint: error == EADDRINUSE ? "Another program uses the port; choose another one with --listen" : nil)
        }
        authority = "\(host.contains(":") ? "[\(host)]" : host):\(ListenSocket.port(of: descriptor))"
    }

    func close() { ListenSocket.close(descriptor) }

    /// Ends a connection that another thread serves, which then closes it.
    static func end(_ descriptor: Int32) { shutdown(descriptor, Int32(SHUT_RDWR)) }

    /// The end of an attempt to send at once.
    enum Sending {
        case sent
        /// The connection takes nothing now.
        case full
        /// The connection is lost, or took only a part.
        case broken
    }

    /// Sends bytes if a connection takes all of them at once.
    static func sendAtOnce(_ bytes: [UInt8], _ descriptor: Int32) -> Sending {
        #if canImport(Darwin)
            let flags = Int32(MSG_DONTWAIT)
        #else
            let flags = Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL)
        #endif
        let count = send(descriptor, bytes, bytes.count, flags)
        if count == bytes.count { return .sent }
        return count < 0 && [EAGAIN, EWOULDBLOCK, EINTR].contains(errno) ? .full : .broken
    }

    static func close(_ descriptor: Int32) {
        #if canImport(Darwin)
            _ = Darwin.close(descriptor)
        #else
            _ = Glibc.close(descriptor)
        #endif
    }

    private static var reason: String { String(cString: strerror(errno)) }

    private static var stream: Int32 {
        #if canImport(Darwin)
            SOCK_STREAM
        #else
            Int32(SOCK_STREAM.rawValue)
        #endif
    }

    private static func port(of descriptor: Int32) -> UInt16 {
        var address = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return withUnsafeMutableBytes(of: &address) { bytes in
            guard let start = bytes.baseAddress else { return 0 }
            getsockname(descriptor, start.assumingMemoryBound(to: sockaddr.self), &length)
            // The port follows the family in both address families.
            return UInt16(bytes[2]) << 8 | UInt16(bytes[3])
        }
    }
}
