// A request while it arrives, and the checks that need only its head: a request that is too large or inconsistent is
// refused before its body is read.

import SynclineTables
import SynclineWire

final class ConnectionRequest {
    /// The target exactly as in the request line.
    let target: String
    var method = ""
    /// `HTTP/1.1`
    var version = ""
    /// The client: the peer, or the client named by a trusted proxy.
    var client = ClientAddress.unknown
    /// The scheme with which the client reached a proxy: `https`.
    var scheme: String?
    /// Whether the request came through a trusted proxy.
    var isForwarded = false
    var headers: [HTTPHeader] = []
    var body: [UInt8] = []
    /// Whether its head has been checked.
    var hasHead = false
    /// Whether it was answered before its body arrived.
    var isAnswered = false
    /// The answer that a worker will produce.
    var waiting: Waiting?
    /// Whether it came again.
    var hasWaited = false
    /// The worker's answer.
    var outcome: HTTPResponse?
    /// What is known about it besides its content, once it was read.
    var context = RequestContext()
    /// The front that answers it.
    var front: StoreFront?
    var status = 0
    /// The request's id in the log and in its answer.
    var id = ""
    /// The code of the error in its answer.
    var code: String?
    var bytesOut = 0
    /// The stream of events that is its answer.
    private var stream: EventStream?
    let start: ContinuousClock.Instant = .present

    init(target: String) {
        self.target = target
    }

    /// Its answer is a stream now. What only its reading needed is given back, because a stream lasts.
    func begin(_ stream: EventStream) {
        self.stream = stream
        headers = []
    }

    /// Counts what its stream sent without the library. Returns the stream.
    func endStream() -> EventStream? {
        bytesOut += stream?.bytesOut ?? 0
        return stream
    }

    /// The path alone: parameters may contain row data.
    var path: String {
        String(decoding: target.utf8.prefix { $0 != UInt8(ascii: "?") }.prefix(500), as: UTF8.self)
    }

    func line(now: Int64, _ time: Duration) -> AccessLine {
        AccessLine(
            time: now, id: id, client: client.text, user: context.user, method: method, path: path, status: status,
            code: code, bytesIn: body.count, bytesOut: bytesOut, microseconds: Int64(time / .microseconds(1)),
            tenant: context.tenant)
    }

    /// The reason to refuse the request after its head, if there is one.
    func refusalOfHead(_ limits: ServerConfiguration.Limits) -> Refusal? {
        if target.utf8.count > limits.urlBytes {
            return Refusal(414, "url-too-long", "The URL is longer than \(limits.urlBytes) bytes")
        }
        let size = headers.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count + 4 }
        if size > limits.headerBytes {
            return Refusal(431, "headers-too-large", "The headers are larger than \(limits.headerBytes) bytes")
        }
        var (hosts, lengths, encodings) = (0, 0, 0)
        var isChunked = true
        var length: String?
        for header in headers {
            guard header.isWellFormed else {
                return Refusal(400, "invalid-header", "The header \(header.name.prefix(80)) is malformed")
            }
            if header.isNamed("Host") {
                hosts += header.value.isEmpty || HTTPRequest.isHost(header.value) ? 1 : 2
            } else if header.isNamed("Content-Length") {
                lengths += 1
                length = header.value
            } else if header.isNamed("Transfer-Encoding") {
                encodings += 1
                // With blanks after it, the HTTP library does not know it, and would wait for the end of the connection.
                isChunked = isChunked && header.value.lowercased() == "chunked"
            }
        }
        let isOld = version == "HTTP/1.0"
        if hosts > 1 || hosts == 0 && !isOld { return Refusal(400, "invalid-host", "A request must name one host") }
        if lengths > 1 || encodings > 0 && (lengths > 0 || isOld) {
            return Refusal(400, "ambiguous-length", "The request states its length in more than one way")
        }
        if encodings > 1 || !isChunked {
            return Refusal(501, "unsupported-encoding", "The only transfer encoding is chunked")
        }
        guard let text = length else { return nil }
        guard let length = Int(text.trimmed), length >= 0 else {
            return Refusal(400, "invalid-length", "The request's length can't be read")
        }
        return length > limits.bodyBytes ? refusalOfBody(limits) : nil
    }

    /// The path and the parameters of a target that is a whole URL, as clients send it to proxies.
    private static func originForm(_ target: String) -> String {
        guard target.utf8.first != UInt8(ascii: "/"), let mark = target.firstRange(of: "://"),
            ["http", "https"].contains(target[..<mark.lowerBound].lowercased())
        else { return target }
        let rest = target[mark.upperBound...].drop { $0 != "/" && $0 != "?" }
        return rest.hasPrefix("/") ? String(rest) : "/" + rest
    }

    /// Whether a body follows.
    var hasBody: Bool { headers.contains("Content-Length") || headers.contains("Transfer-Encoding") }

    /// Applies the headers of trusted proxies. Returns the refusal if the two kinds contradict each other: one of them
    /// comes from the client.
    func believe(_ proxies: TrustedProxies, _ kind: ProxyHeaders) -> Refusal? {
        guard proxies.contains(client) else { return nil }
        let forwarding = Forwarding(headers, proxies, kind)
        if forwarding.contradicts(Forwarding(headers, proxies, kind.other)) {
            return Refusal(400, "ambiguous-proxy", "Forwarded and X-Forwarded-* contradict each other")
        }
        isForwarded = forwarding.client != nil
        client = forwarding.client ?? client
        scheme = forwarding.scheme
        if let host = forwarding.host, let place = headers.firstIndex(where: { $0.isNamed("Host") }) {
            headers[place].value = host
        }
        return nil
    }

    /// The server's URL as seen by the client.
    func url(_ own: String) -> String {
        guard let scheme, let colon = own.firstIndex(of: ":") else { return own }
        return scheme + own[colon...]
    }

    private func refusalOfBody(_ limits: ServerConfiguration.Limits) -> Refusal {
        Refusal(413, "body-too-large", "The body is larger than \(limits.bodyBytes) bytes")
    }

    /// Appends a piece of the body; bytes beyond the limit are not kept.
    func append(_ bytes: UnsafeRawBufferPointer, _ limits: ServerConfiguration.Limits) {
        if body.count <= limits.bodyBytes { body.append(contentsOf: bytes) }
    }

    /// The whole request.
    func read(_ limits: ServerConfiguration.Limits) throws(Refusal) -> HTTPRequest {
        if body.count > limits.bodyBytes { throw refusalOfBody(limits) }
        guard var request = HTTPRequest(method, target: ConnectionRequest.originForm(target)) else {
            throw Refusal(400, "invalid-url", "The URL is not percent-encoded UTF-8")
        }
        request.headers = headers
        // The segments are used more than once during routing.
        request.segments = request.pathSegments
        if !body.isEmpty { request.body = body }
        return request
    }
}
