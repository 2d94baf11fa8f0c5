// A server on a local socket that sends exactly what a test wants, byte by byte. Each connection has a thread, so
// that nothing here waits for anything but the client.

#if os(Linux)
    import Glibc
    import SynclineGround

    /// One client's connection.
    struct SocketConnection: Sendable {
        fileprivate let descriptor: Int32

        /// The next request's head and body; nil when the client has closed the connection.
        func readRequest() -> String? {
            var bytes: [UInt8] = []
            while true {
                if let head = SocketConnection.endOfHead(bytes) {
                    let text = String(decoding: bytes[..<head], as: UTF8.self).lowercased()
                    let length = text.split(separator: "\r\n").first { $0.hasPrefix("content-length:") }
                        .flatMap { Int($0.dropFirst(15).filter { $0 != " " }) }
                    if bytes.count >= head + (length ?? 0) { return String(decoding: bytes, as: UTF8.self) }
                }
                guard let more = read() else { return nil }
                bytes += more
            }
        }

        private static func endOfHead(_ bytes: [UInt8]) -> Int? {
            guard bytes.count >= 4 else { return nil }
            return (4...bytes.count).first { bytes[($0 - 4)..<$0].elementsEqual([13, 10, 13, 10]) }
        }

        /// Returns the next bytes; nil if there are no more.
        func read() -> [UInt8]? {
            var buffer = [UInt8](repeating: 0, count: 65536)
            let count = recv(descriptor, &buffer, buffer.count, 0)
            return count > 0 ? Array(buffer[..<count]) : nil
        }

        /// Returns false if the client does not read it.
        @discardableResult
        func write(_ text: String) -> Bool { write(Array(text.utf8)) }

        @discardableResult
        func write(_ bytes: [UInt8]) -> Bool {
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes {
                    Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                }
                if count <= 0 { return false }
                rest = rest.dropFirst(count)
            }
            return true
        }

        /// A response that closes the connection, or keeps it.
        func answer(_ body: String, status: String = "200 OK", headers: String = "") {
            write("HTTP/1.1 \(status)\r\n\(headers)Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
        }
    }

    final class SocketServer: Sendable {
        let port: UInt16
        private let listener: Int32
        private let open = Mutex<Set<Int32>>([])
        private let connections = Atomic<Int>(0)
        private let serve: @Sendable (SocketConnection) -> Void

        /// The number of connections made.
        var connectionCount: Int { connections.load(ordering: .acquiring) }
        var url: String { "http://127.0.0.1:\(port)" }

        /// The connection is closed when `serve` returns.
        init(_ serve: @escaping @Sendable (SocketConnection) -> Void) {
            self.serve = serve
            listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = inet_addr("127.0.0.1")
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let listener = listener
            let isBound = withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                    bind(listener, address, length) == 0 && listen(listener, 64) == 0
                        && getsockname(listener, address, &length) == 0
                }
            }
            precondition(isBound, "no port of this machine is free")
            port = UInt16(bigEndian: address.sin_port)
            startThread { [self] in accept() }
        }

        private func accept() {
            while true {
                let descriptor = Glibc.accept(listener, nil, nil)
                if descriptor < 0 {
                    if errno == EINTR || errno == ECONNABORTED { continue }
                    close(listener)
                    return
                }
                var yes: Int32 = 1
                setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
                connections.add(1, ordering: .acquiringAndReleasing)
                open.withLock { _ = $0.insert(descriptor) }
                startThread { [self] in
                    serve(SocketConnection(descriptor: descriptor))
                    open.withLock { _ = $0.remove(descriptor) }
                    close(descriptor)
                }
            }
        }

        /// Ends every connection. Only the thread that accepts closes the listener: if it were closed here, the thread
        /// could accept the connections of another server, whose listener has been given the same number.
        func stop() {
            shutdown(listener, Int32(SHUT_RDWR))
            open.withLock { open in
                for descriptor in open { shutdown(descriptor, Int32(SHUT_RDWR)) }
            }
        }
    }

    private final class Work: Sendable {
        let body: @Sendable () -> Void

        init(_ body: @escaping @Sendable () -> Void) {
            self.body = body
        }
    }

    private func startThread(_ body: @escaping @Sendable () -> Void) {
        var thread = pthread_t()
        let work = Unmanaged.passRetained(Work(body))
        pthread_create(&thread, nil, runWork, work.toOpaque())
        pthread_detach(thread)
    }

    private func runWork(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
        context.map { Unmanaged<Work>.fromOpaque($0).takeRetainedValue().body() }
        return nil
    }
#endif
