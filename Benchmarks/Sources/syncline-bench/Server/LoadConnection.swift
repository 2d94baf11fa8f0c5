// A minimal client of HTTP/1.1, so that the measurements are about the server: one connection that is kept, requests as
// bytes that are ready, answers of a known length.

import Glibc

struct LoadAnswer {
    var status = 0
    /// Where the body lies in the connection's buffer.
    var body: Range<Int> = 0..<0
}

final class LoadConnection {
    let descriptor: Int32
    private(set) var buffer = [UInt8](repeating: 0, count: 1 << 16)
    /// How much of an answer is in the buffer, and where its body lies once its head is whole.
    private var filled = 0
    private var answer: LoadAnswer?

    /// Connects to 127.0.0.1.
    init(port: UInt16) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { throw systemFailure("Making a socket") }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        let code = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bare in
                connect(descriptor, bare, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard code == 0 else { throw systemFailure("Connecting to the server") }
        var one: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
    }

    deinit { close(descriptor) }

    /// The bytes of a request.
    static func request(_ method: String, _ target: String, body: [UInt8] = []) -> [UInt8] {
        var head = "\(method) \(target) HTTP/1.1\r\nHost: 127.0.0.1\r\nZUMO-API-VERSION: 3.0.0\r\n"
        if !body.isEmpty { head += "Content-Type: application/json\r\nContent-Length: \(body.count)\r\n" }
        return Array((head + "\r\n").utf8) + body
    }

    /// Sends a request and reads the whole answer, which stays in the buffer until the next.
    func exchange(_ request: [UInt8]) throws -> LoadAnswer {
        try send(request)
        while true {
            if let answer = try receive() { return answer }
        }
    }

    /// Reads what has arrived of an answer, and waits until something arrives; nil while it is incomplete.
    func receive() throws -> LoadAnswer? {
        filled += try read(at: filled)
        if answer == nil {
            let end = headEnd(filled)
            guard end > 0 else { return nil }
            guard let length = contentLength(end) else { throw BenchError("An answer gives no length") }
            answer = LoadAnswer(status: number(at: 9, end) ?? 0, body: end..<end + length)
        }
        guard let whole = answer, filled >= whole.body.upperBound else { return nil }
        (filled, answer) = (0, nil)
        return whole
    }

    func send(_ bytes: [UInt8]) throws {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes { bytes in
                Glibc.send(
                    descriptor, bytes.baseAddress.map { $0 + sent }, bytes.count - sent, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { throw systemFailure("Sending a request") }
            sent += count
        }
    }

    private func read(at place: Int) throws -> Int {
        if place == buffer.count { buffer += [UInt8](repeating: 0, count: buffer.count) }
        let count = buffer.withUnsafeMutableBytes { bytes in
            recv(descriptor, bytes.baseAddress.map { $0 + place }, bytes.count - place, 0)
        }
        guard count > 0 else { throw systemFailure("Reading an answer") }
        return count
    }

    /// Where the body begins; zero while the head is not whole.
    private func headEnd(_ filled: Int) -> Int {
        guard filled >= 4 else { return 0 }
        for place in 3..<filled where buffer[place] == 0x0a && buffer[place - 2] == 0x0a { return place + 1 }
        return 0
    }

    private func contentLength(_ end: Int) -> Int? {
        let name = Array("\ncontent-length:".utf8)
        for place in 0..<max(0, end - name.count) where buffer[place] == 0x0a {
            let isIt = name.indices.allSatisfy {
                buffer[place + $0] | ($0 == 0 ? 0 : 0x20) == name[$0] | ($0 == 0 ? 0 : 0x20)
            }
            if isIt { return number(at: place + name.count, end) }
        }
        return nil
    }

    private func number(at place: Int, _ end: Int) -> Int? {
        var place = place
        while place < end, buffer[place] == 0x20 { place += 1 }
        var value: Int?
        while place < end, buffer[place] &- 0x30 < 10 {
            value = (value ?? 0) * 10 + Int(buffer[place] - 0x30)
            place += 1
        }
        return value
    }
}
