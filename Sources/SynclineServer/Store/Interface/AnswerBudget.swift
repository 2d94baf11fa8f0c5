// The remaining size of an answer. It bounds the memory that a request uses, also while rows are collected, and the
// data that it adds to the database.

import SynclineCore
import SynclineWire

/// Room for the rows of an answer. The first row always fits: otherwise a client could not continue.
struct AnswerBudget: Hashable, Sendable {
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

/// The limits of one request.
struct WriteAllowance: Hashable, Sendable {
    /// Columns that it may add, including those that are rolled back.
    var columns: Int
    /// Room for the rows of its answer.
    var answer: AnswerBudget
    /// Bytes of rows to remember for its repeats.
    var memory: Int

    init(_ limits: ServerConfiguration.Limits) {
        columns = limits.newColumns
        answer = AnswerBudget(limits.answerBytes)
        memory = limits.answerBytes
    }
}

extension TableRow {
    /// Its approximate size in an answer, in bytes.
    var size: Int {
        columns.bytes.count + columns.shape.encodedNames.count + 4 * columns.shape.names.count + id.utf8.count + 160
    }
}
