// Decides which pages of other origins may read the answers in a browser.

import SynclineWire

struct CrossOrigin: Hashable, Sendable {
    /// Hosts and origins in the form that `OriginPattern` reads.
    var origins = ["localhost"]
    var maxAgeSeconds = 300

    /// Adds the headers for every answer to a cross-origin request.
    func add(to answer: inout [HTTPHeader], _ request: [HTTPHeader]) {
        answer.append(HTTPHeader("Vary", "Origin"))
        guard let origin = request.value("Origin"), allows(origin) else { return }
        answer.append(HTTPHeader("Access-Control-Allow-Origin", origin))
        answer.append(
            HTTPHeader(
                "Access-Control-Expose-Headers",
                "Link, ETag, Location, Retry-After, \(RequestID.header), "
                    + "\(WireHeader.capabilities), \(WireHeader.epoch), \(WireHeader.mark)"))
    }

    /// More headers for the answer to a preflight request.
    func preflight(_ request: [HTTPHeader]) -> [HTTPHeader] {
        guard let origin = request.value("Origin"), allows(origin) else { return [] }
        var headers = [HTTPHeader("Access-Control-Allow-Methods", "GET, PUT, PATCH, POST, DELETE, OPTIONS")]
        if let wanted = request.value("Access-Control-Request-Headers"), CrossOrigin.isList(wanted) {
            headers.append(HTTPHeader("Access-Control-Allow-Headers", wanted))
        }
        return headers + [HTTPHeader("Access-Control-Max-Age", String(maxAgeSeconds))]
    }

    func allows(_ origin: String) -> Bool {
        if origin == "null" { return origins.contains("null") }
        guard let origin = Origin(origin) else { return false }
        return origins.contains { OriginPattern($0)?.allows(origin) ?? false }
    }

    /// Whether a string is a list of header names.
    private static func isList(_ text: String) -> Bool {
        let names = text.split(separator: ",", omittingEmptySubsequences: false).map(\.trimmed)
        return text.utf8.count <= 500
            && names.allSatisfy { name in
                !name.isEmpty
                    && name.utf8.allSatisfy { byte in
                        (byte | 0x20) &- 0x61 < 26 || byte &- 0x30 < 10 || byte == UInt8(ascii: "-")
                            || byte == UInt8(ascii: "_")
                    }
            }
    }
}
