// Why a string is not a rule, and where.

/// The reason why a string is not a rule, and the place.
package struct RuleError: Error, Hashable, Sendable, CustomStringConvertible {
    package var position: Int
    package var message: String

    package var description: String { "\(message) at character \(position + 1)" }
}
