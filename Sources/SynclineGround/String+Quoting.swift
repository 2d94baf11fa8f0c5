// Strings between quotation marks. An accent after a quotation mark is one character with it in Swift, so marks are searched
// as scalars.

extension String {
    /// The string between two marks. Each mark in the string is doubled.
    package func quoted(by mark: Unicode.Scalar) -> String { quoted(by: mark, escaping: "\(mark)\(mark)") }

    /// The string between two marks. Each mark in the string is replaced.
    package func quoted(by mark: Unicode.Scalar, escaping replacement: String) -> String {
        if !unicodeScalars.contains(mark) { return "\(mark)\(self)\(mark)" }
        var quoted = UnicodeScalarView([mark])
        for scalar in unicodeScalars {
            if scalar == mark { quoted.append(contentsOf: replacement.unicodeScalars) } else { quoted.append(scalar) }
        }
        quoted.append(mark)
        return String(quoted)
    }
}
