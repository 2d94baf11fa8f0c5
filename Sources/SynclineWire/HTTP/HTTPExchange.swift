// A request and an answer as HTTP has them, and the door they go through. Redirects are never followed: they are answers
// like any other.

package import SynclineCore

package struct HTTPHeader: Hashable, Sendable {
    package var name: String
    package var value: String

    package init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}

package struct HTTPRequest: Hashable, Sendable {
    package var method: String
    /// The path below the backend's URL, decoded: `/tables/todoitem/a b`.
    package var path: String
    /// The path's segments, where one of them holds a slash of its own; else the path tells.
    package var segments: [String]?
    /// The parameters, decoded, in order.
    package var query: [HTTPHeader] = []
    package var headers: [HTTPHeader] = []
    package var body: [UInt8]?

    package init(_ method: String, _ path: String) {
        self.method = method
        self.path = path
    }
}

package struct HTTPResponse: Hashable, Sendable {
    package var status: Int
    package var headers: [HTTPHeader] = []
    package var body: [UInt8] = []
    /// The name of the error in the body, where a server of this project made it.
    package var code: String?

    package init(status: Int) {
        self.status = status
    }
}

/// Brings requests to a server and answers back.
package protocol HTTPTransport: Sendable {
    func send(_ request: HTTPRequest) async throws(NetworkFailure) -> HTTPResponse
    /// Hands on an answer's body piece by piece, as it comes, for as long as it lasts. The answer is given without it.
    func listen(
        _ request: HTTPRequest, _ hear: @escaping @Sendable ([UInt8]) -> Void
    ) async throws(NetworkFailure) -> HTTPResponse
}

extension HTTPTransport {
    /// Not every transport hears what does not end.
    package func listen(
        _ request: HTTPRequest, _ hear: @escaping @Sendable ([UInt8]) -> Void
    ) async throws(NetworkFailure) -> HTTPResponse {
        throw .refused("streams are not heard here")
    }
}
