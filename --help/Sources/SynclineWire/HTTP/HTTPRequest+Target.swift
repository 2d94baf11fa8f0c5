// A request's path and parameters as a URL string, and back. Everything but letters, digits and `-._~` is
// percent-encoded, so that no character of an id or a filter has a special meaning to a server.

import SynclineGround

extension HTTPRequest {
    /// Returns the URL of the request below a backend's.
    package func target(below base: String) -> String {
        var text = base
        while text.hasSuffix("/") { text.removeLast() }
        for segment in pathSegments { text += "/" + PercentEncoding.encode(segment) }
        var separator = "?"
        for parameter in query {
            text += separator + PercentEncoding.encode(parameter.name) + "=" + PercentEncoding.encode(parameter.value)
            separator = "&"
        }
        return text
    }

    /// The path's decoded segments.
    package var pathSegments: [String] {
        segments ?? path.utf8.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }
    }

    /// Parses the target of a request line: an encoded path, with parameters after a `?`. Nil if the
    /// percent-encoding is not valid UTF-8.
    package init?(_ method: String, target: String) {
        let bytes = target.utf8
        let mark = bytes.firstIndex(of: UInt8(ascii: "?"))
        let path = target[..<(mark ?? bytes.endIndex)]
        if HTTPRequest.isPlain(path.utf8) {
            self.init(method, String(path))
        } else {
            var segments: [String] = []
            for part in path.utf8.split(separator: UInt8(ascii: "/")) {
                guard let segment = PercentEncoding.decode(Substring(part)) else { return nil }
                segments.append(segment)
            }
            self.init(method, "/" + segments.joined(separator: "/"))
            if segments.contains(where: { $0.utf8.contains(UInt8(ascii: "/")) }) { self.segments = segments }
        }
        if let mark {
            guard let parameters = HTTPRequest.decoded(parameters: target[bytes.index(after: mark)...]) else {
                return nil
            }
            query = parameters
        }
    }

    /// Returns whether a path is already in its URL form: nothing is encoded, and every slash begins a segment.
    private static func isPlain(_ path: Substring.UTF8View) -> Bool {
        var last: UInt8 = 0
        for byte in path {
            if byte == UInt8(ascii: "%") || byte >= 0x80 { return false }
            if byte == UInt8(ascii: "/") ? last == byte : last == 0 { return false }
            last = byte
        }
        return last != 0 && last != UInt8(ascii: "/")
    }

    /// Returns the parameters of a URL's query; none if they can't be decoded.
    package static func parameters(_ query: String) -> [HTTPHeader] { decoded(parameters: query[...]) ?? [] }

    private static func decoded(parameters text: Substring) -> [HTTPHeader]? {
        var parameters: [HTTPHeader] = []
        for pair in text.utf8.split(separator: UInt8(ascii: "&")) {
            let sides = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = PercentEncoding.decode(Substring(sides[0]), plusIsSpace: true),
                let value = PercentEncoding.decode(sides.count > 1 ? Substring(sides[1]) : "", plusIsSpace: true)
            else { return nil }
            parameters.append(HTTPHeader(name, value))
        }
        return parameters
    }
}

package enum PercentEncoding {
    package static func encode(_ text: String) -> String {
        // An unescaped segment of only dots would be a relative path, not a name.
        let isDots = text == "." || text == ".."
        var encoded: [UInt8] = []
        for byte in text.utf8 {
            let isPlain =
                (byte | 0x20) &- 0x61 < 26 || byte &- 0x30 < 10 || byte == 0x2d || byte == 0x5f || byte == 0x7e
                || byte == 0x2e && !isDots
            if isPlain {
                encoded.append(byte)
            } else {
                encoded.append(UInt8(ascii: "%"))
                encoded.append(Hexadecimal.digit(byte >> 4, isUpper: true))
                encoded.append(Hexadecimal.digit(byte & 15, isUpper: true))
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }

    package static func decode(_ text: some StringProtocol, plusIsSpace: Bool = false) -> String? {
        var decoded: [UInt8] = []
        var rest = text.utf8.makeIterator()
        while let byte = rest.next() {
            if byte == UInt8(ascii: "%") {
                guard let high = rest.next().flatMap(Hexadecimal.value),
                    let low = rest.next().flatMap(Hexadecimal.value)
                else { return nil }
                decoded.append(high << 4 | low)
            } else {
                decoded.append(plusIsSpace && byte == UInt8(ascii: "+") ? 0x20 : byte)
            }
        }
        return decoded.withUnsafeBytes { String(validUTF8: $0) }
    }
}
