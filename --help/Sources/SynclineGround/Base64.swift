// Base64 with padding, for bytes in JSON.

package enum Base64 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    package static func encode(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        var index = 0
        while index < bytes.count {
            let rest = bytes.count - index
            let group =
                UInt32(bytes[index]) << 16 | (rest > 1 ? UInt32(bytes[index + 1]) << 8 : 0)
                | (rest > 2 ? UInt32(bytes[index + 2]) : 0)
            text.append(alphabet[Int(group >> 18)])
            text.append(alphabet[Int(group >> 12 & 63)])
            text.append(rest > 1 ? alphabet[Int(group >> 6 & 63)] : UInt8(ascii: "="))
            text.append(rest > 2 ? alphabet[Int(group & 63)] : UInt8(ascii: "="))
            index += 3
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Decodes base64; nil for anything but whole groups of the alphabet with the right padding.
    package static func decode(_ text: String) -> [UInt8]? {
        var text = text
        return text.withUTF8 { text in
            guard text.count % 4 == 0 else { return nil }
            let padding = text.suffix(2).filter { $0 == UInt8(ascii: "=") }.count
            var bytes: [UInt8] = []
            bytes.reserveCapacity(text.count / 4 * 3)
            var group: UInt32 = 0
            for (index, character) in text.enumerated() {
                let isPadding = index >= text.count - padding
                guard let digit = isPadding ? 0 : digit(character) else { return nil }
                if isPadding && character != UInt8(ascii: "=") { return nil }
                group = group << 6 | digit
                if index % 4 == 3 {
                    bytes.append(UInt8(truncatingIfNeeded: group >> 16))
                    bytes.append(UInt8(truncatingIfNeeded: group >> 8))
                    bytes.append(UInt8(truncatingIfNeeded: group))
                    group = 0
                }
            }
            bytes.removeLast(min(padding, bytes.count))
            return bytes
        }
    }

    /// Reads the alphabet of URLs, without padding.
    package static func decode(url text: Substring) -> [UInt8]? {
        guard !text.isEmpty, !text.utf8.contains(where: { "+/=".utf8.contains($0) }) else { return nil }
        let plain = String(text.map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 })
        return decode(plain + String(repeating: "=", count: (4 - plain.utf8.count % 4) % 4))
    }

    private static func digit(_ character: UInt8) -> UInt32? {
        switch character {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(character) - 65
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(character) - 97 + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(character) - 48 + 52
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }
}
