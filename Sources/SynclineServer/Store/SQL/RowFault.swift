// Rows that would never reach a client, or not as they are: the feed is in the order of their numbers, other clients
// read in the order of their times, and both leave out what has neither.

import SynclineTables

/// A fault of some rows of a table.
enum RowFault: Hashable, CaseIterable {
    case noID, noTime, noDeleted, noNumber, earlyNumber, lateNumber, sameNumber

    /// Whether a new number and a new time mend it.
    var isNumbered: Bool { self != .noID && self != .noDeleted }

    func finding(_ schema: ServedTable) -> Finding {
        let (column, says, mend): (SystemColumn, String, String?) =
            switch self {
            case .noID: (.id, "is not an id in some rows", "give each row an id")
            case .noTime: (.updatedAt, "has no time in some rows", nil)
            case .noDeleted: (.deleted, "is neither true nor false in some rows", "set it")
            case .noNumber: (.version, "has no number in some rows", nil)
            case .earlyNumber: (.version, "has numbers below 1", nil)
            case .lateNumber: (.version, "has numbers that the server has not issued yet", nil)
            case .sameNumber: (.version, "has the same number in several rows", nil)
            }
        let name = schema.name
        return Finding(
            .error, "table \(name)", "rows-not-numbered",
            "column \(schema.source(of: column)) of table \(schema.definition.source) \(says)",
            mend: mend ?? "`syncline-server --number \(name)` gives them new numbers and times")
    }
}
