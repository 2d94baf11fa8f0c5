// Colour if it is wanted, and numbers for people or programs. Colour only repeats what a word or a sign says.

/// The meaning of a piece of text, rather than its look; with the terminal's code for it.
package enum TextRole: String, Sendable {
    case plain = ""
    case heading = "1"
    case dim = "2"
    case good = "32"
    case bad = "1;31"
    case warning = "33"
    case address = "36"
}

/// The style of text: for people or plain, in colour or not.
package struct TextStyle: Hashable, Sendable {
    package var isForPeople: Bool
    package var hasColour: Bool
    /// The width of a line; nil if it is not limited.
    package var width: Int?

    package func paint(_ text: String, _ role: TextRole) -> String {
        hasColour && role != .plain && !text.isEmpty ? "\u{1b}[\(role.rawValue)m\(text)\u{1b}[0m" : text
    }

    package func count(_ value: some BinaryInteger) -> String {
        isForPeople ? grouped(UInt64(value)) : String(value)
    }

    package func bytes(_ value: UInt64) -> String {
        isForPeople ? humanBytes(value) : String(value)
    }

    /// Shortens a string that is too long for people.
    package func cut(_ text: String, to columns: Int) -> String {
        guard isForPeople, columns > 1, text.count > columns else { return text }
        return text.prefix(columns - 1) + "…"
    }

    /// The rules of colour: first the option, then the variables, then whether the output is a terminal.
    package static func colour(_ option: String?, _ environment: Environment, isTerminal: Bool) -> Bool {
        switch option {
        case "always": return true
        case "never": return false
        default: break
        }
        if environment["NO_COLOR"] != nil { return false }
        if let force = environment["CLICOLOR_FORCE"], force != "0" { return true }
        if environment["TERM"] == "dumb" { return false }
        return isTerminal
    }
}
