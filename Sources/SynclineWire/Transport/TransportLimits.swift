// The timeouts and size limits of a transport, and the choice of a transport for a backend's URL.

package import SynclineCore

/// The limits of one exchange with a server.
package struct TransportLimits: Hashable, Sendable {
    /// The timeout for connecting.
    package var connect: Duration = .seconds(10)
    /// The timeout for the whole exchange.
    package var total: Duration = .seconds(100)
    /// How long the speed may be below a byte per second.
    package var stall: Duration = .seconds(60)
    /// How long an unused connection is kept for the next request.
    package var idle: Duration = .seconds(118)
    /// The maximum size of a response body, uncompressed, in bytes.
    package var responseSize = 256 << 20
    /// The maximum size of a response's headers in bytes.
    package var headerSize = 1 << 20

    package init() {}

    /// Why a larger response body is not accepted.
    var refusal: String { "the response is larger than \(responseSize) bytes" }
}

/// Returns this platform's transport for a backend.
package func makeTransport(
    baseURL: String, limits: TransportLimits = TransportLimits()
) throws(SyncError) -> any HTTPTransport {
    let base = try BaseURL.check(baseURL)
    #if os(Linux)
        return try CurlTransport(base, limits)
    #else
        return URLSessionTransport(base, limits)
    #endif
}

package enum BaseURL {
    /// Returns the URL without a trailing slash, if it is valid for a backend: http or https, a host, and optionally
    /// a path.
    package static func check(_ text: String) throws(SyncError) -> String {
        var url = text
        while url.hasSuffix("/") { url.removeLast() }
        guard let scheme = ["http://", "https://"].first(where: { url.lowercased().hasPrefix($0) }) else {
            throw error(text, "it does not begin with http:// or https://")
        }
        if url.unicodeScalars.contains(where: { $0.value <= 0x20 || $0.value == 0x7f }) {
            throw error(text, "it contains a space or a control character")
        }
        if url.contains(where: { "?#\\".contains($0) }) { throw error(text, "it has parameters or a fragment") }
        let authority = url.dropFirst(scheme.count).prefix { $0 != "/" }
        if authority.contains("@") { throw error("a URL with a user name", "it must not contain credentials") }
        if authority.hasPrefix("["), !authority.contains("]") { throw error(text, "its address lacks a bracket") }
        let host = authority.hasPrefix("[") ? authority.prefix { $0 != "]" } + "]" : authority.prefix { $0 != ":" }
        let port = authority.dropFirst(host.count)
        if host.isEmpty || host == "[]" { throw error(text, "it has no host") }
        if !port.isEmpty, port.first != ":" || UInt16(port.dropFirst()) ?? 0 == 0 {
            throw error(text, "its port must be a number from 1 to 65535")
        }
        return url
    }

    private static func error(_ url: String, _ reason: String) -> SyncError {
        SyncError(
            .invalidConfiguration, "\(url.isEmpty ? "an empty string" : url) is not a valid backend URL: \(reason)",
            hint: "Give it as https://example.com or https://example.com/app.")
    }
}
