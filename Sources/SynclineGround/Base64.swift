// Base64 with padding, for bytes in JSON.

package enum Base64 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    package static func encode(_ bytes: [UInt8]) -> String { bytes.withUnsafeBytes { encode($0) } }

    package static func encode(_ bytes: UnsafeRawBufferPointer) -> String {
        String(unsafeUninitializedCapacity: length(of: bytes.count)) { write(bytes, into: $0) }
    }

    /// Appends the text of bytes.
    package static func append(_ bytes: UnsafeRawBufferPointer, to text: inout [UInt8]) {
        let start = text.count
        text.append(contentsOf: repeatElement(0, count: length(of: bytes.count)))
        text.withUnsafeMutableBufferPointer { text in
            _ = write(bytes, into: UnsafeMutableBufferPointer(rebasing: text[start...]))
        }
    }

    /// The length of the text of some bytes.
    package static func length(of count: Int) -> Int { (count + 2) / 3 * 4 }

    /// Writes the text of bytes, and returns its length.
    package static func write(_ bytes: UnsafeRawBufferPointer, into text: UnsafeMutableBufferPointer<UInt8>) -> Int {
        alphabet.withUnsafeBufferPointer { alphabet in
            var (index, end) = (0, 0)
            while index < bytes.count {
                let rest = bytes.count - index
                let group =
                    UInt32(bytes[index]) << 16 | (rest > 1 ? UInt32(bytes[index + 1]) << 8 : 0)
                    | (rest > 2 ? UInt32(bytes[index + 2]) : 0)
                text[end] = alphabet[Int(group >> 18)]
                text[end + 1] = alphabet[Int(group >> 12 & 63)]
                text[end + 2] = rest > 1 ? alphabet[Int(group >> 6 & 63)] : UInt8(ascii: "=")
                text[end + 3] = rest > 2 ? alphabet[Int(group & 63)] : UInt8(ascii: "=")
                index += 3
                end += 4
            }
            return end
        }
    }

    /// Decodes base64; nil for anything but whole groups of the alphabet with the right padding.
    package static func decode(_ text: String) -> [UInt8]? {
        var text = text
        return text.withUTF8 { text in
            var isWhole = false
            let bytes = [UInt8](unsafeUninitializedCapacity: text.count / 4 * 3) { memory, count in
                let found = decode(UnsafeRawBufferPointer(text), into: UnsafeMutableRawBufferPointer(memory))
                (isWhole, count) = (found != nil, found ?? 0)
            }
            return isWhole ? bytes : nil
        }
    }

    /// Decodes base64 into memory for three bytes of each group, and returns the number of bytes.
    package static func decode(_ text: UnsafeRawBufferPointer, into memory: UnsafeMutableRawBufferPointer) -> Int? {
        guard text.count % 4 == 0 else { return nil }
        let equals = UInt8(ascii: "=")
        let padding = text.suffix(2).reduce(0) { $0 + ($1 == equals ? 1 : 0) }
        if padding == 1, text.last != equals { return nil }
        var (group, end): (UInt32, Int) = (0, 0)
        for index in 0..<text.count {
            guard let digit = index >= text.count - padding ? 0 : digit(text[index]) else { return nil }
            group = group << 6 | digit
            guard index % 4 == 3 else { continue }
            memory[end] = UInt8(truncatingIfNeeded: group >> 16)
            memory[end + 1] = UInt8(truncatingIfNeeded: group >> 8)
            memory[end + 2] = UInt8(truncatingIfNeeded: group)
            (group, end) = (0, end + 3)
        }
        return end - min(padding, end)
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
