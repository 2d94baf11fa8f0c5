// Extracts a server's error message for people: whatever the form of the body, one line of limited length without
// control characters.

import SynclineCore

enum ErrorText {
    /// Longer messages are cut.
    static let limit = 300
    /// How much of a long body is examined.
    private static let bodyLimit = 64 << 10

    /// Returns the message; nil if the body has none.
    static func message(_ body: [UInt8]) -> String? {
        let raw: String
        if body.count <= bodyLimit, let value = try? Value(json: body) {
            raw = words(of: value) ?? ""
        } else {
            raw = plain(String(decoding: body.prefix(bodyLimit), as: UTF8.self))
        }
        return cut(raw)
    }

    /// Shortens a message that is already separate.
    static func cut(_ text: String) -> String? {
        let line = oneLine(text)
        return line.isEmpty ? nil : line
    }

    // MARK: JSON

    private static func words(of value: Value) -> String? {
        switch value {
        case .string(let text): text
        case .array(let elements): joined(elements.compactMap(words))
        case .object(let members): words(of: members)
        default: nil
        }
    }

    private static func words(of members: [Value.Member]) -> String? {
        func member(_ name: String) -> Value? {
            members.last { $0.name.lowercased() == name }?.value
        }
        for name in ["error", "description", "message", "errormessage", "error_description"] {
            // An error may be an object with a message of its own.
            guard let value = member(name), let text = words(of: value), !text.isEmpty else { continue }
            guard name == "errormessage", let names = member("membernames").flatMap(words) else { return text }
            return "\(names): \(text)"
        }
        var parts: [String] = []
        for name in ["title", "detail"] {
            if case .string(let text)? = member(name), !text.isEmpty { parts.append(text) }
        }
        if case .object(let errors)? = member("errors") {
            parts += errors.compactMap { error in words(of: error.value).map { "\(error.name): \($0)" } }
        }
        return joined(parts)
    }

    private static func joined(_ parts: [String]) -> String? {
        parts.isEmpty ? nil : parts.joined(separator: "; ")
    }

    // MARK: Text

    /// Returns a plain string as it is, or a page's title, or else its words.
    private static func plain(_ text: String) -> String {
        let start = text.trimmed
        guard start.hasPrefix("<") else { return start }
        if let title = content(of: "title", in: start), !title.trimmed.isEmpty { return unescaped(title) }
        return unescaped(withoutTags(content(of: "body", in: start) ?? start))
    }

    /// Returns the content of the first element with a name.
    private static func content(of name: String, in text: String) -> String? {
        let characters = Array(text.unicodeScalars)
        let lowered = characters.map { $0.isASCII ? $0.properties.lowercaseMapping.unicodeScalars.first ?? $0 : $0 }
        guard let open = lowered.firstRange(of: ("<" + name).unicodeScalars),
            let begin = characters[open.upperBound...].firstIndex(of: ">"),
            let end = lowered[begin...].firstRange(of: ("</" + name).unicodeScalars)
        else { return nil }
        return String(String.UnicodeScalarView(characters[begin + 1..<end.lowerBound]))
    }

    private static func withoutTags(_ text: String) -> String {
        var words = ""
        var isTag = false
        for character in text {
            switch character {
            case "<": isTag = true
            case ">" where isTag:
                isTag = false
                words += " "
            default: if !isTag { words.append(character) }
            }
        }
        return words
    }

    private static func unescaped(_ text: String) -> String {
        var text = text
        for (entity, sign) in [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")]
        where text.contains("&") {
            text = text.split(separator: entity, omittingEmptySubsequences: false).joined(separator: sign)
        }
        return text
    }

    /// Replaces white space by single spaces, escapes other control characters, and cuts the rest.
    private static func oneLine(_ text: String) -> String {
        var line = ""
        var length = 0
        var hasSpace = false
        for scalar in text.unicodeScalars {
            if scalar.properties.isWhitespace {
                hasSpace = length > 0
                continue
            }
            if length >= limit { return line + "…" }
            if hasSpace {
                line += " "
                length += 1
                hasSpace = false
            }
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator:
                line += "\\u{\(String(scalar.value, radix: 16))}"
                length += 6
            default:
                line.unicodeScalars.append(scalar)
                length += 1
            }
        }
        return line
    }
}
