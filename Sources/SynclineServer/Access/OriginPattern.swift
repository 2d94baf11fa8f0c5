// The origin of a page as browsers send it, and the patterns of a configuration that match origins.

struct Origin: Hashable, Sendable {
    let scheme: String
    /// In lower case; IPv6 addresses without brackets.
    let host: String
    let port: UInt16

    /// `https://app.example:8443`
    init?(_ text: String) {
        guard let mark = text.firstRange(of: "://"), let rest = HostAndPort(text[mark.upperBound...]) else {
            return nil
        }
        scheme = text[..<mark.lowerBound].lowercased()
        guard let usual = Origin.ports[scheme] else { return nil }
        host = rest.host
        port = rest.port ?? usual
    }

    fileprivate static let ports: [String: UInt16] = ["http": 80, "https": 443]
}

struct OriginPattern: Hashable, Sendable {
    /// Nil for any scheme.
    private let scheme: String?
    /// Nil for any host; with a leading dot, any host with this suffix.
    private let host: String?
    /// Nil for any port.
    private let port: UInt16?

    /// A host, `*.` with a suffix, `*`, or a whole origin. Without a scheme, any scheme matches, and without a port,
    /// any port matches too; with a scheme, the default is its usual port.
    init?(_ text: String) {
        let mark = text.firstRange(of: "://")
        scheme = mark.map { text[..<$0.lowerBound].lowercased() }
        if let scheme, Origin.ports[scheme] == nil { return nil }
        let rest = text[(mark?.upperBound ?? text.startIndex)...]
        if rest == "*" {
            (host, port) = (nil, nil)
            return
        }
        let isWild = rest.hasPrefix("*.")
        guard let read = HostAndPort(isWild ? rest.dropFirst(2) : rest) else { return nil }
        host = isWild ? "." + read.host : read.host
        port = read.port ?? scheme.flatMap { Origin.ports[$0] }
    }

    func allows(_ origin: Origin) -> Bool {
        guard scheme == nil || scheme == origin.scheme, port == nil || port == origin.port else { return false }
        guard let host else { return true }
        return host.hasPrefix(".") ? origin.host.hasSuffix(host) : origin.host == host
    }
}

/// `app.example`, `app.example:8443`, `[::1]:8443`, and nothing else.
private struct HostAndPort {
    let host: String
    let port: UInt16?

    init?(_ text: Substring) {
        var rest = text
        if text.hasPrefix("[") {
            guard let end = text.firstIndex(of: "]") else { return nil }
            host = text[text.index(after: text.startIndex)..<end].lowercased()
            rest = text[text.index(after: end)...]
        } else {
            let end = text.firstIndex(of: ":") ?? text.endIndex
            host = text[..<end].lowercased()
            rest = text[end...]
        }
        let isPlain = host.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f && !"/@?#*,;[]\\\"".utf8.contains($0) }
        guard !host.isEmpty, isPlain, rest.isEmpty || rest.hasPrefix(":") else { return nil }
        if rest.isEmpty {
            port = nil
        } else {
            guard let number = UInt16(rest.dropFirst()) else { return nil }
            port = number
        }
    }
}
