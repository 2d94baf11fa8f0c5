// A request while it comes in, and the checks that need no more than its head: what is too large or contradicts itself is
// refused before its body is read.

import SynclineCore
import SynclineWire

/// What a request is found to be.
enum RequestReading {
    case request(HTTPRequest)
    case refused(Refusal)
}

final class ConnectionRequest {
    /// As it stands in the request line.
    let target: String
    var method = ""
    /// The other side.
    var client = ClientAddress.unknown
    var headers: [HTTPHeader] = []
    var body: [UInt8] = []
    /// Whether its head has been looked at.
    var hasHead = false
    /// Whether it was answered before its body had come.
    var isAnswered = false
    /// The answer that a worker is to find.
    var waiting: WaitingAnswer?
    /// What it found.
    var outcome: HTTPResponse?
    var status = 0
    /// How it is called in the log and in its answer.
    var id = ""
    let notes = RequestNotes()
    /// The name of the error it is answered with.
    var code: String?
    var bytesOut = 0
    let start: ContinuousClock.Instant = .now

    init(target: String) {
        self.target = target
    }

    /// The path alone: parameters hold what rows hold.
    var path: String { String(target.prefix { $0 != "?" }.prefix(500)) }

    func line(now: Int64, _ time: Duration) -> AccessLine {
        AccessLine(
            time: now, id: id, client: client.text, user: notes.user, method: method, path: path, status: status,
            code: code, bytesIn: body.count, bytesOut: bytesOut, microseconds: Int64(time / .microseconds(1)))
    }

    /// Why the head alone is enough to refuse the request.
    func refusalOfHead(_ limits: ServerConfiguration.Limits) -> Refusal? {
        if target.utf8.count > limits.urlBytes {
            return Refusal(414, "url-too-long", "The URL is longer than \(limits.urlBytes) bytes")
        }
        let size = headers.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count + 4 }
        if size > limits.headerBytes {
            return Refusal(431, "headers-too-large", "The headers are larger than \(limits.headerBytes) bytes")
        }
        guard let text = headers.value("Content-Length") else { return nil }
        let differs = headers.contains { $0.isNamed("Content-Length") && $0.value != text }
        if differs || headers.contains("Transfer-Encoding") {
            return Refusal(400, "ambiguous-length", "The request gives its length in more than one way")
        }
        guard let length = Int(text.trimmed), length >= 0 else {
            return Refusal(400, "invalid-length", "The request's length can't be read")
        }
        return length > limits.bodyBytes ? refusalOfBody(limits) : nil
    }

    private func refusalOfBody(_ limits: ServerConfiguration.Limits) -> Refusal {
        Refusal(413, "body-too-large", "The body is larger than \(limits.bodyBytes) bytes")
    }

    /// Takes a piece of the body; what is beyond the limit is not kept.
    func append(_ bytes: UnsafeRawBufferPointer, _ limits: ServerConfiguration.Limits) {
        if body.count <= limits.bodyBytes { body.append(contentsOf: bytes) }
    }

    /// The whole request.
    func read(_ limits: ServerConfiguration.Limits) -> RequestReading {
        if body.count > limits.bodyBytes { return .refused(refusalOfBody(limits)) }
        guard var request = HTTPRequest(method, target: target) else {
            return .refused(Refusal(400, "invalid-url", "The URL is not percent-encoded UTF-8"))
        }
        request.headers = headers
        if !body.isEmpty { request.body = body }
        return .request(request)
    }
}
