// How long a transport waits and how much it takes, and the choice of a transport for a backend's URL.

package import SynclineCore

/// What bounds one exchange with a server.
package struct TransportLimits: Hashable, Sendable {
    /// How long a connection may take.
    package var connect: Duration = .seconds(10)
    /// How long the whole exchange may take.
    package var total: Duration = .seconds(100)
    /// How long less than a byte a second may come.
    package var stall: Duration = .seconds(60)
    /// How long a connection that nobody uses is kept for the next request.
    package var idle: Duration = .seconds(118)
    /// The largest body of an answer, unpacked, in bytes.
    package var responseSize = 256 << 20
    /// The most bytes of headers in an answer.
    package var headerSize = 1 << 20

    package init() {}
}

/// The transport of this platform to a backend.
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

enum BaseURL {
    /// The URL without a slash at its end, if it can be a backend's: http or https, a host, perhaps a path.
    static func check(_ text: String) throws(SyncError) -> String {
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
        if authority.contains("@") { throw error("a URL with a user name", "credentials do not belong into it") }
        if authority.hasPrefix("["), !authority.contains("]") { throw error(text, "its address is not closed") }
        let host = authority.hasPrefix("[") ? authority.prefix { $0 != "]" } + "]" : authority.prefix { $0 != ":" }
        let port = authority.dropFirst(host.count)
        if host.isEmpty || host == "[]" { throw error(text, "it names no host") }
        if !port.isEmpty, port.first != ":" || UInt16(port.dropFirst()) ?? 0 == 0 {
            throw error(text, "its port is no number from 1 to 65535")
        }
        return url
    }

    private static func error(_ url: String, _ reason: String) -> SyncError {
        SyncError(
            .invalidConfiguration, "\(url.isEmpty ? "an empty text" : url) can't be a backend's URL: \(reason)",
            hint: "Give it as https://example.com or https://example.com/app.")
    }
}
