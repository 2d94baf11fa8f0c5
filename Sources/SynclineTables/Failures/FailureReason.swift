// The reason why a database operation failed: its kind, which is counted, and a sentence for the log, which is never
// sent to a client.

package struct FailureReason: Hashable, Sendable {
    /// The kinds that need different actions by an operator.
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        case locked, deadlock, serialization
        case timedOut = "timed-out"
        case unreachable
        /// No connection was free.
        case busy
        case tooManyConnections = "too-many-connections"
        case diskFull = "disk-full"
        case outOfMemory = "out-of-memory"
        case readOnly = "read-only"
        case input = "input-output"
        case damaged, permission
        /// The database refused a row.
        case constraint
        case other
    }

    package var kind: Kind
    package var text: String

    package init(_ kind: Kind, _ text: String) {
        self.kind = kind
        self.text = text
    }
}

extension FailureReason: ExpressibleByStringInterpolation, CustomStringConvertible {
    package init(stringLiteral text: String) { self.init(.other, text) }

    package var description: String { text }
}
