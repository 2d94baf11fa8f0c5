// Headers by name, in any letter case, and strings made safe for a header line.

extension [HTTPHeader] {
    /// Returns the value of the first header with a name.
    package func value(_ name: String) -> String? {
        first { $0.isNamed(name) }?.value
    }

    package func contains(_ name: String) -> Bool {
        contains { $0.isNamed(name) }
    }
}

extension HTTPHeader {
    package func isNamed(_ other: String) -> Bool {
        name.utf8.count == other.utf8.count
            && zip(name.utf8, other.utf8).allSatisfy { $0 == $1 || $0 ^ $1 == 0x20 && ($0 | 0x20) &- 0x61 < 26 }
    }

    /// Whether it can be sent: the name consists of token characters, and the value has no control characters.
    package var isWellFormed: Bool {
        !name.isEmpty && name.utf8.allSatisfy(HTTPHeader.isToken)
            && value.utf8.allSatisfy { ($0 >= 0x20 && $0 != 0x7f) || $0 == 0x09 }
    }

    /// Returns whether a byte is a visible character other than the separators `()<>@,;:\"/[]?={}`.
    private static func isToken(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x61...0x7a, 0x41...0x5a, 0x2d, 0x30...0x39: true
        case 0x21, 0x23...0x27, 0x2a, 0x2b, 0x2e, 0x5e...0x60, 0x7c, 0x7e: true
        default: false
        }
    }
}

/// The form of a version in `If-Match` and `ETag`.
package enum EntityTag {
    /// Returns a strong tag. A control character can't be in a header and is replaced by a space, so that the server
    /// finds a different version, and never none.
    package static func text(of version: String) -> String {
        var version = version
        let isPlain = version.withUTF8 { $0.allSatisfy { $0 >= 0x20 && $0 != 0x22 && $0 != 0x5c && $0 != 0x7f } }
        if isPlain { return "\"" + version + "\"" }
        var text = "\""
        for scalar in version.unicodeScalars {
            switch scalar {
            case "\"", "\\":
                text += "\\"
                text.unicodeScalars.append(scalar)
            case "\0"..."\u{1f}", "\u{7f}": text += " "
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text + "\""
    }

    /// Returns the version in a strong tag; nil for a weak or empty one. A tag without quotes is used as it is.
    package static func version(_ text: String) -> String? {
        let tag = text.trimmed
        if tag.hasPrefix("W/") || tag.hasPrefix("w/") { return nil }
        // A quotation mark and an accent after it are one character in Swift.
        guard tag.unicodeScalars.first == "\"" else { return tag.isEmpty ? nil : tag }
        var scanner = tag.unicodeScalars.makeIterator()
        _ = scanner.next()
        let version = next(&scanner)
        return version.isEmpty ? nil : version
    }

    /// Returns the versions in a list of tags, as in `If-Match`; nil for `*`. Only `If-None-Match` accepts weak
    /// ones.
    package static func versions(_ text: String, takesWeak: Bool = false) -> [String]? {
        if text.trimmed == "*" { return nil }
        guard text.unicodeScalars.contains("\"") else { return [text.trimmed] }
        var versions: [String] = []
        var scanner = text.unicodeScalars.makeIterator()
        var isWeak = false
        while let scalar = scanner.next() {
            switch scalar {
            case "W", "w": isWeak = true
            case ",": isWeak = false
            case "\"":
                let version = next(&scanner)
                if takesWeak || !isWeak { versions.append(version) }
            default: break
            }
        }
        return versions
    }

    /// Returns whether a header's value is `*`, a list of tags, or one version without quotes.
    package static func isReadable(_ text: String) -> Bool {
        let text = text.trimmed
        if text == "*" { return true }
        guard text.unicodeScalars.contains("\"") else {
            return !text.isEmpty && !text.contains(",") && !text.contains(" ")
        }
        var scanner = text.unicodeScalars.makeIterator()
        var isBehindTag = false
        while let scalar = scanner.next() {
            switch scalar {
            case " ", "\t": continue
            case ",": isBehindTag = false
            case "W", "w":
                guard !isBehindTag, scanner.next() == "/", scanner.next() == "\"" else { return false }
                guard skipTag(&scanner) else { return false }
                isBehindTag = true
            case "\"":
                guard !isBehindTag, skipTag(&scanner) else { return false }
                isBehindTag = true
            default: return false
            }
        }
        return true
    }

    /// Moves past the closing quote; returns false if there is none.
    private static func skipTag(_ scanner: inout String.UnicodeScalarView.Iterator) -> Bool {
        while let scalar = scanner.next() {
            if scalar == "\"" { return true }
            if scalar == "\\" { _ = scanner.next() }
        }
        return false
    }

    /// Returns what precedes the closing quote.
    private static func next(_ scanner: inout String.UnicodeScalarView.Iterator) -> String {
        var version = ""
        while let scalar = scanner.next(), scalar != "\"" {
            if scalar == "\\", let escaped = scanner.next() {
                version.unicodeScalars.append(escaped)
            } else {
                version.unicodeScalars.append(scalar)
            }
        }
        return version
    }
}

extension StringProtocol {
    /// The string without surrounding white space.
    package var trimmed: String {
        guard let first = firstIndex(where: { !$0.isWhitespace }),
            let last = lastIndex(where: { !$0.isWhitespace })
        else { return "" }
        return String(self[first...last])
    }
}
