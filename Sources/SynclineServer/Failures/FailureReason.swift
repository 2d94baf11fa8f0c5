// The reason why a database operation failed: its kind, which is counted, and a sentence for the log, which is never
// sent to a client.

struct FailureReason: Hashable, Sendable {
    /// The kinds that need different actions by an operator.
    enum Kind: String, Hashable, Sendable, CaseIterable {
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

    var kind: Kind
    var text: String

    init(_ kind: Kind, _ text: String) {
        self.kind = kind
        self.text = text
    }
}

extension FailureReason: ExpressibleByStringInterpolation, CustomStringConvertible {
    init(stringLiteral text: String) { self.init(.other, text) }

    var description: String { text }
}

extension FailureReason.Kind {
    /// The kind for a PostgreSQL error code.
    init(sqlState code: String) {
        switch code {
        case "40P01": self = .deadlock
        case "55P03": self = .locked
        // The database itself cancelled the statement: otherwise no request would still wait for it.
        case "25P03", "25P04", "57014": self = .timedOut
        case "53300": self = .tooManyConnections
        case "53100": self = .diskFull
        case "53200": self = .outOfMemory
        case "25006": self = .readOnly
        case "42501": self = .permission
        case "XX001", "XX002": self = .damaged
        default:
            switch code.prefix(2) {
            case "08", "57": self = .unreachable
            case "40": self = .serialization
            case "28": self = .permission
            case "58": self = .input
            default: self = .other
            }
        }
    }

    /// The kind for a result code of SQLite, without its extension.
    init(sqlite code: Int32) {
        switch code {
        case 5, 6, 15: self = .locked
        case 7: self = .outOfMemory
        case 8: self = .readOnly
        case 9: self = .timedOut
        case 10: self = .input
        case 11, 26: self = .damaged
        case 13: self = .diskFull
        case 3, 23: self = .permission
        case 14: self = .unreachable
        default: self = .other
        }
    }
}
