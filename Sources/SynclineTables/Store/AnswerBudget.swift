// The remaining size of an answer. It bounds the memory that a request uses, also while rows are collected, and the
// data that it adds to the database.

package import SynclineWire

/// Room for the rows of an answer. The first row always fits: otherwise a client could not continue.
package struct AnswerBudget: Hashable, Sendable {
    package private(set) var left: Int
    private var isUsed = false

    package init(_ bytes: Int) {
        left = bytes
    }

    package mutating func takes(_ row: TableRow) -> Bool {
        let size = row.size
        guard !isUsed || size <= left else { return false }
        isUsed = true
        left -= size
        return true
    }
}

/// The limits for rows and columns.
package struct RowLimits: Hashable, Sendable {
    /// The number of columns that one request may add.
    package var newColumns = 100
    /// The number of columns that a table may have.
    package var columns = 1000
    /// The maximum size of an answer: a page ends before it, and a batch's answer omits rows. It is also the maximum
    /// size of a row.
    package var answerBytes = 4 << 20
    /// If an operation's row is larger, the answer is remembered without it.
    package var rememberedBytes = 65_536

    package init() {}

    /// The number of columns that a request may still add to a table.
    package func mayBegin(_ table: ServedTable, _ left: Int) -> Int {
        max(0, min(left, columns - table.columns.count))
    }
}

/// The limits of one request.
package struct WriteAllowance: Hashable, Sendable {
    /// Columns that it may add, including those that are rolled back.
    package var columns: Int
    /// Room for the rows of its answer.
    package var answer: AnswerBudget
    /// Bytes of rows to remember for its repeats.
    package var memory: Int

    package init(_ limits: RowLimits) {
        columns = limits.newColumns
        answer = AnswerBudget(limits.answerBytes)
        memory = limits.answerBytes
    }
}
