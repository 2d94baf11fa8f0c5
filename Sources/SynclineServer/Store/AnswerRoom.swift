// How much of an answer is left. What a request makes the server keep in memory is bounded by it, also while rows are
// collected, and what it makes it add to the database.

import SynclineCore
import SynclineWire

/// Room for the rows of an answer. The first always has room: else nobody could go on.
struct AnswerRoom: Hashable, Sendable {
    private(set) var left: Int
    private var isUsed = false

    init(_ bytes: Int) {
        left = bytes
    }

    mutating func takes(_ row: TableRow) -> Bool {
        guard !isUsed || row.size <= left else { return false }
        isUsed = true
        left -= row.size
        return true
    }
}

/// What one request may have.
struct WriteAllowance: Hashable, Sendable {
    /// Columns to begin, those that are taken back included.
    var columns: Int
    /// For the rows of its answer.
    var answer: AnswerRoom
    /// Bytes of rows that are remembered for its repeats.
    var memory: Int

    init(_ limits: ServerConfiguration.Limits) {
        columns = limits.newColumns
        answer = AnswerRoom(limits.answerBytes)
        memory = limits.answerBytes
    }
}

extension TableRow {
    /// About how many bytes it has in an answer.
    var size: Int {
        columns.bytes.count + columns.shape.encodedNames.count + 4 * columns.shape.names.count + id.utf8.count + 160
    }

    /// The row as far as it is told where it is too large.
    var bare: TableRow {
        var row = self
        (row.columns, row.isBare) = (.empty, true)
        return row
    }
}
