// Which pages of other origins a browser lets read the answers.

import SynclineWire

struct CrossOrigin: Hashable, Sendable {
    /// Names of hosts; `*.` in front stands for anything.
    var origins = ["localhost"]
    var maxAgeSeconds = 300

    /// Adds the headers that every answer to a request from an origin has.
    func add(to answer: inout [HTTPHeader], _ request: [HTTPHeader]) {
        answer.append(HTTPHeader("Vary", "Origin"))
        guard let origin = request.value("Origin"), allows(origin) else { return }
        answer.append(HTTPHeader("Access-Control-Allow-Origin", origin))
        answer.append(
            HTTPHeader(
                "Access-Control-Expose-Headers",
                "Link, ETag, Location, Retry-After, \(RequestID.header), "
                    + "\(WireHeader.capabilities), \(WireHeader.epoch)"))
    }

    /// The most that are added.
    static let headerLimit = 3

    /// The answer to the question whether a request may be sent.
    func preflight(_ request: [HTTPHeader]) -> HTTPResponse {
        var response = HTTPResponse(status: 204)
        guard let origin = request.value("Origin"), allows(origin) else { return response }
        response.headers.append(HTTPHeader("Access-Control-Allow-Methods", "GET, PUT, PATCH, POST, DELETE, OPTIONS"))
        if let wanted = request.value("Access-Control-Request-Headers"), CrossOrigin.isList(wanted) {
            response.headers.append(HTTPHeader("Access-Control-Allow-Headers", wanted))
        }
        response.headers.append(HTTPHeader("Access-Control-Max-Age", String(maxAgeSeconds)))
        return response
    }

    func allows(_ origin: String) -> Bool {
        if origin == "null" { return origins.contains("null") }
        for scheme in ["http://", "https://"] where origin.hasPrefix(scheme) {
            guard let host = CrossOrigin.host(origin.dropFirst(scheme.count)) else { return false }
            return origins.contains { pattern in
                let pattern = pattern.lowercased()
                if pattern == "*" { return true }
                return pattern.hasPrefix("*.") ? host.hasSuffix(pattern.dropFirst()) : host == pattern
            }
        }
        return false
    }

    /// A host, with or without a port, and nothing else.
    private static func host(_ rest: Substring) -> String? {
        let parts = rest.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count <= 2, !parts[0].isEmpty, parts.count == 1 || UInt16(parts[1]) != nil,
            parts[0].utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "@") })
        else { return nil }
        return parts[0].lowercased()
    }

    private static func isList(_ text: String) -> Bool {
        text.utf8.count <= 500
            && text.utf8.allSatisfy { byte in
                (byte | 0x20) &- 0x61 < 26 || byte &- 0x30 < 10 || byte == UInt8(ascii: "-")
                    || byte == UInt8(ascii: ",")
                    || byte == UInt8(ascii: " ")
            }
    }
}
