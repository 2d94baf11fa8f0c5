// A server made of a recording: it answers what was asked then as it was answered then, and nothing else. Which of two
// requests came first does not matter; that a request was made does.

import Synchronization
package import SynclineCore

package final class RecordedTransport: HTTPTransport {
    private struct Content {
        var left: [RecordedExchange]
        var unexpected: [HTTPRequest] = []
    }

    private let content: Mutex<Content>

    package init(_ exchanges: [RecordedExchange]) {
        content = Mutex(Content(left: exchanges))
    }

    package func send(_ request: HTTPRequest) async throws(NetworkFailure) -> HTTPResponse {
        let outcome = content.withLock { content -> RecordedExchange.Outcome? in
            guard let index = content.left.firstIndex(where: { $0.request.asksTheSame(as: request) }) else {
                content.unexpected.append(request)
                return nil
            }
            return content.left.remove(at: index).outcome
        }
        switch outcome {
        case .response(let response)?: return response
        case .failure(let failure)?: throw failure
        case nil: throw .offline("the recording has no answer to \(request.method) \(request.path)")
        }
    }

    /// Requests that were made and are not in the recording.
    package var unexpected: [HTTPRequest] { content.withLock { $0.unexpected } }

    /// Exchanges of the recording that nobody asked for.
    package var left: [RecordedExchange] { content.withLock { $0.left } }
}

extension HTTPRequest {
    /// Whether another request asks for the same: operations are given other ids by another run. What was not recorded
    /// of this one can't be compared.
    fileprivate func asksTheSame(as other: HTTPRequest) -> Bool {
        let known = RecordedExchange(request: other, outcome: .failure(.cancelled)).withoutSecrets.request
        return method == other.method && path == other.path && query == known.query
            && headers.value("If-Match") == other.headers.value("If-Match") && sameBody == known.sameBody
    }

    /// The body, but for the ids of operations that go together.
    private var sameBody: [UInt8] {
        guard let body, path.hasSuffix("/$batch"),
            case .array(let operations)? = (try? Value(json: body))?[member: "operations"]
        else { return self.body ?? [] }
        let plain = operations.map { operation -> Value in
            guard case .object(let members) = operation else { return operation }
            return .object(members.filter { $0.name != "operationId" })
        }
        return Array(Value.array(plain).json.utf8)
    }
}
