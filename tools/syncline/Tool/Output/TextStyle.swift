// Colour, where it is wanted, and numbers as their reader likes them. Colour only repeats what a word or a sign says.

import SynclineInspect

/// What a piece of text is, rather than how it looks.
package enum TextRole: Sendable {
    case plain, heading, dim, good, bad, warning, address

    fileprivate var code: String {
        switch self {
        case .plain: ""
        case .heading: "1"
        case .dim: "2"
        case .good: "32"
        case .bad: "1;31"
        case .warning: "33"
        case .address: "36"
        }
    }
}

/// How text is written: for people or plain, in colour or not.
package struct TextStyle: Hashable, Sendable {
    package var isForPeople: Bool
    package var hasColour: Bool
    /// Columns that a line may take; nil if it does not matter.
    package var width: Int?

    package init(isForPeople: Bool, hasColour: Bool, width: Int? = nil) {
        self.isForPeople = isForPeople
        self.hasColour = hasColour
        self.width = width
    }

    package func paint(_ text: String, _ role: TextRole) -> String {
        hasColour && role != .plain && !text.isEmpty ? "\u{1b}[\(role.code)m\(text)\u{1b}[0m" : text
    }

    package func count(_ value: some BinaryInteger) -> String {
        isForPeople ? grouped(UInt64(value)) : String(value)
    }

    package func bytes(_ value: UInt64) -> String {
        isForPeople ? humanBytes(value) : String(value)
    }

    /// Cuts a text that is too long for people.
    package func cut(_ text: String, to columns: Int) -> String {
        guard isForPeople, columns > 1, text.count > columns else { return text }
        return text.prefix(columns - 1) + "…"
    }

    /// The rules of colour: the option, then the variables, then whether people are watching.
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
