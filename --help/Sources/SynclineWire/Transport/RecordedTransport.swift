// A server made from a recording: it responds to recorded requests as recorded, and to no others. The order of
// requests does not matter, only that they were made.

package import SynclineCore
import SynclineGround

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
        case nil: throw .offline("the recording has no response to \(request.method) \(request.path)")
        }
    }

    /// Requests that were made but are not in the recording.
    package var unexpected: [HTTPRequest] { content.withLock { $0.unexpected } }

    /// Recorded exchanges that were not requested.
    package var left: [RecordedExchange] { content.withLock { $0.left } }
}

extension HTTPRequest {
    /// Returns whether another request asks for the same: operations have other ids in another run. Parts that were
    /// not recorded are not compared.
    fileprivate func asksTheSame(as other: HTTPRequest) -> Bool {
        let known = RecordedExchange(request: other, outcome: .failure(.cancelled)).withoutSecrets.request
        return method == other.method && path == other.path && query == known.query
            && headers.value("If-Match") == other.headers.value("If-Match") && sameBody == known.sameBody
    }

    /// The body without the ids of batched operations.
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
