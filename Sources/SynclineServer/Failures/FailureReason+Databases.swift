// The kinds of failures that databases report by codes.

import SynclineTables

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
