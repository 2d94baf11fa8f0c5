// HTTP requests and responses, and the transport that sends them. Redirects are never followed: they are returned
// like any other response.

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
    /// The decoded path below the backend's URL: `/tables/todoitem/a b`.
    package var path: String
    /// The path's segments, if one of them contains a slash; otherwise the path is split.
    package var segments: [String]?
    /// The decoded parameters, in order.
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
    /// Why the body was not accepted: it is too large.
    package var refusal: String?
    /// The error code in the body, if a server of this project sent it.
    package var code: String?

    package init(status: Int) {
        self.status = status
    }
}

/// Sends requests to a server and returns the responses.
package protocol HTTPTransport: Sendable {
    func send(_ request: HTTPRequest) async throws(NetworkFailure) -> HTTPResponse
    /// Passes on a response's body piece by piece, as it arrives. The response is returned without it.
    func listen(
        _ request: HTTPRequest, _ hear: @escaping @Sendable ([UInt8]) -> Void
    ) async throws(NetworkFailure) -> HTTPResponse
}

extension HTTPTransport {
    /// Not every transport supports endless responses.
    package func listen(
        _ request: HTTPRequest, _ hear: @escaping @Sendable ([UInt8]) -> Void
    ) async throws(NetworkFailure) -> HTTPResponse {
        throw .refused("streams are not supported here")
    }
}
