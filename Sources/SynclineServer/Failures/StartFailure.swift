// The reason why a server can't start, or can't use a new configuration.

/// The reason why a server can't start: one line for a person.
struct StartFailure: Error, Hashable, Sendable {
    var message: String
    var hint: String?

    init(_ message: String, hint: String? = nil) {
        self.message = message
        self.hint = hint
    }

    /// Message and hint in one line.
    var text: String { (hint.map { "\(message) (\($0))" } ?? message).replacing("\n", with: " ") }
}
