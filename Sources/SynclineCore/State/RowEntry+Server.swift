// The server's side of a row's entry: which states of the row the store has seen, and whether another one is news.

extension RowEntry {
    /// The server shows the row live, or has stored it.
    mutating func take(base row: Row, isAnswer: Bool) {
        base = row
        isAnswered = isAnswer
        isOwnTombstone = false
        isRightLost = false
    }

    /// The row is gone from the server.
    mutating func loseBase(byOwnDelete: Bool = false) {
        base = nil
        isAnswered = false
        if byOwnDelete { isOwnTombstone = true }
    }

    /// Whether the base is newer than the server's answer to an operation: a server that knows operation ids repeats
    /// its first answer, and a pull may have fetched a newer row since.
    func outruns(_ answered: Row?, _ frozen: FrozenOperation) -> Bool {
        guard let base, !base.isSameState(as: frozen.ancestor ?? .empty) else { return false }
        // Only the version that was sent could be deleted, so that happened before this version existed.
        guard let answered else { return frozen.ancestor?.version != nil && base.version != nil }
        guard let now = base["updatedAt"]?.moment, let then = answered["updatedAt"]?.moment else { return false }
        return then < now
    }

    /// Whether an insert that meets a tombstone on the server restores the row without a decision.
    package var mayRevive: Bool { isOwnTombstone || pending?.frozen?.isDecided ?? false }

    /// Whether a tombstone is news to a row without a base: its pending update or delete does not know it yet.
    var meetsTombstone: Bool {
        guard base == nil, let pending, pending.frozen == nil, let operation = pending.operation else { return false }
        return operation.kind != .insert
    }

    /// A copy that lags by more than this number of own writes to one row shows an older state for a moment.
    private static let overtakenLimit = 4

    /// The server has carried out an own write that was made on a state; the base is the result.
    mutating func overtake(_ ancestor: Row?) {
        if let mark = ancestor.flatMap(Overtaken.init) {
            overtaken = overtaken.filter { $0 != mark }.suffix(RowEntry.overtakenLimit - 1) + [mark]
        }
        let now = base.flatMap(Overtaken.init)
        overtaken.removeAll { $0 == now }
    }

    /// The server shows another state, so whatever comes next is news.
    mutating func forgetOvertaken() { overtaken = [] }

    func hasOvertaken(_ row: Row) -> Bool {
        if overtaken.isEmpty { return false }
        return Overtaken(row).map { overtaken.contains($0) } ?? false
    }
}

/// A state of the server's row that an own write has replaced. A lagging copy of the server still shows it for a while;
/// that does not undo the write.
package struct Overtaken: Hashable, Sendable {
    var version: Value?
    var moment: Int64?
}

extension Overtaken {
    /// Nil for a row that does not identify its state.
    init?(_ row: Row) {
        if let version = row.versionValue, !version.isNull { self.version = version }
        moment = row["updatedAt"]?.moment
        if version == nil && moment == nil { return nil }
    }
}
