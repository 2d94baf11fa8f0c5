// A transport that reports every exchange to a recorder. What must not be disclosed, such as a token, is masked
// first.

package import SynclineCore
import SynclineGround

/// A request and its result.
package struct RecordedExchange: Hashable, Sendable {
    package enum Outcome: Hashable, Sendable {
        case response(HTTPResponse)
        case failure(NetworkFailure)
    }

    package var request: HTTPRequest
    package var outcome: Outcome

    package init(request: HTTPRequest, outcome: Outcome) {
        self.request = request
        self.outcome = outcome
    }
}

/// Records exchanges. Called from any thread, and must not wait long.
package protocol ExchangeRecorder: Sendable {
    func record(_ exchange: RecordedExchange)
}

package struct RecordingTransport: HTTPTransport {
    private let inner: any HTTPTransport
    private let recorder: any ExchangeRecorder

    package init(_ inner: any HTTPTransport, _ recorder: any ExchangeRecorder) {
        self.inner = inner
        self.recorder = recorder
    }

    package func send(_ request: HTTPRequest) async throws(NetworkFailure) -> HTTPResponse {
        do throws(NetworkFailure) {
            let response = try await inner.send(request)
            recorder.record(RecordedExchange(request: request, outcome: .response(response)).withoutSecrets)
            return response
        } catch {
            recorder.record(RecordedExchange(request: request, outcome: .failure(error)).withoutSecrets)
            throw error
        }
    }

    /// A stream only says when to ask; the requests that follow are recorded.
    package func listen(
        _ request: HTTPRequest, _ hear: @escaping @Sendable ([UInt8]) -> Void
    ) async throws(NetworkFailure) -> HTTPResponse {
        try await inner.listen(request, hear)
    }
}

extension RecordedExchange {
    /// The headers that the machines use. All others may be secret, whatever they are called.
    private static let plainHeaders: Set<String> = [
        "accept", "content-type", "content-length", "date", "etag", "if-match", "if-none-match", "last-modified",
        "retry-after", "x-syncline-capabilities", "x-syncline-operation-id", "zumo-api-version",
    ]
    /// Where a read continues, in the server's numbering of changes.
    private static let plainParameters: Set<String> = ["since", "until"]
    private static let mask = "••••"

    /// The exchange with possible secrets masked: headers that the machines do not use, parameters that no protocol
    /// has, and everything about signing in.
    package var withoutSecrets: RecordedExchange {
        var exchange = self
        let isSigningIn = request.path.hasPrefix("/.auth")
        exchange.request.headers = RecordedExchange.masked(request.headers)
        exchange.request.query = request.query.map { parameter in
            parameter.name.hasPrefix("$") || parameter.name.hasPrefix("__")
                || RecordedExchange.plainParameters.contains(parameter.name)
                ? parameter : HTTPHeader(parameter.name, RecordedExchange.mask)
        }
        if isSigningIn, request.body != nil { exchange.request.body = Array(RecordedExchange.mask.utf8) }
        if case .response(var response) = outcome {
            response.headers = RecordedExchange.masked(response.headers)
            if isSigningIn { response.body = Array(RecordedExchange.mask.utf8) }
            exchange.outcome = .response(response)
        }
        return exchange
    }

    private static func masked(_ headers: [HTTPHeader]) -> [HTTPHeader] {
        headers.map { plainHeaders.contains($0.name.lowercased()) ? $0 : HTTPHeader($0.name, mask) }
    }
}

// MARK: As JSON

extension RecordedExchange {
    package var value: Value {
        var answer: Value
        switch outcome {
        case .response(let response):
            let refusal = response.refusal.map { [Value.Member("refusal", .string($0))] } ?? []
            answer = .object(
                [
                    .init("status", .integer(Int64(response.status))), .init("headers", Self.value(response.headers)),
                    .init("body", .string(Base64.encode(response.body))),
                ] + refusal)
        case .failure(.offline(let reason)): answer = .object([.init("offline", .string(reason))])
        case .failure(.refused(let reason)): answer = .object([.init("refused", .string(reason))])
        case .failure(.cancelled), .failure(.notSent): answer = .object([.init("cancelled", .bool(true))])
        }
        return .object([
            .init(
                "request",
                .object([
                    .init("method", .string(request.method)), .init("path", .string(request.path)),
                    .init("query", Self.value(request.query)), .init("headers", Self.value(request.headers)),
                    .init("body", request.body.map { .string(Base64.encode($0)) } ?? .null),
                ])),
            .init("answer", answer),
        ])
    }

    private static func value(_ headers: [HTTPHeader]) -> Value {
        .array(headers.map { .array([.string($0.name), .string($0.value)]) })
    }

    /// Nil if it is not a recorded exchange.
    package init?(_ value: Value) {
        guard let asked = value[member: "request"], let answer = value[member: "answer"],
            case .string(let method)? = asked[member: "method"],
            case .string(let path)? = asked[member: "path"]
        else { return nil }
        request = HTTPRequest(method, path)
        request.query = Self.headers(asked[member: "query"])
        request.headers = Self.headers(asked[member: "headers"])
        if case .string(let text)? = asked[member: "body"] { request.body = Base64.decode(text) }
        if case .integer(let status)? = answer[member: "status"], case .string(let text)? = answer[member: "body"] {
            var response = HTTPResponse(status: Int(status))
            response.headers = Self.headers(answer[member: "headers"])
            response.body = Base64.decode(text) ?? []
            if case .string(let refusal)? = answer[member: "refusal"] { response.refusal = refusal }
            outcome = .response(response)
        } else if case .string(let reason)? = answer[member: "offline"] {
            outcome = .failure(.offline(reason))
        } else if case .string(let reason)? = answer[member: "refused"] {
            outcome = .failure(.refused(reason))
        } else {
            outcome = .failure(.cancelled)
        }
    }

    private static func headers(_ value: Value?) -> [HTTPHeader] {
        guard case .array(let elements)? = value else { return [] }
        return elements.compactMap { element in
            guard case .array(let pair) = element, pair.count == 2, case .string(let name) = pair[0],
                case .string(let text) = pair[1]
            else { return nil }
            return HTTPHeader(name, text)
        }
    }
}
