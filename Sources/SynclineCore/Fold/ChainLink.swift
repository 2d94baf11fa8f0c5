// Takes the changes of one row out of the outbox, decides them again, and puts them back. After a freeze, an answer, a
// resolution or an undo, they are collapsed as if they had just been made.

/// A change of a row with its place in the outbox.
struct ChainLink {
    var position: Position
    var change: JournalEntry
    /// The columns that it set, including those that the journal leaves to the row's entry.
    var columns: Row
    /// The change as it is stored; nil if it is not stored.
    var stored: (change: JournalEntry, value: StateValue)?
}

extension FoldState {
    /// The changes of a row, oldest first.
    func chain(of pending: PendingRow) throws(SyncError) -> [ChainLink] {
        var links: [ChainLink] = []
        var next: Position? = pending.last
        while let position = next {
            let (change, value) = try journal(position)
            links.append(
                ChainLink(
                    position: position, change: change, columns: change.content ?? pending.overlay,
                    stored: (change, value)))
            next = try change.previous(before: position)
        }
        return links.reversed()
    }

    /// Removes changes from the outbox.
    func drop(_ links: some Sequence<ChainLink>) throws(SyncError) {
        for link in links {
            guard let stored = link.stored else { continue }
            remove(journalKey(link.position), old: stored.value)
            try dropGroup(of: link.change, link.position.event)
        }
    }

    /// Removes the changes of a row from the outbox: the last counts as done, the others as part of it.
    func settle(_ links: some Collection<ChainLink>) throws(SyncError) {
        try drop(links)
        totals.done += 1
        totals.superseded += UInt64(links.count - 1)
    }

    /// Marks a transaction as incomplete, so that it can't be undone.
    func dropGroup(of change: JournalEntry, _ event: UInt64) throws(SyncError) {
        if change.isGrouped { try set(journalKey(.end(of: event)), nil) }
    }

    /// Removes changes that cancel each other out, so that they do not hide the server's row.
    func settleVoid(_ entry: inout RowEntry) throws(SyncError) {
        guard let pending = entry.pending, pending.operation == nil, pending.frozen == nil, entry.base != nil else {
            return
        }
        try drop(chain(of: pending))
        totals.superseded += UInt64(pending.count)
        entry.pending = nil
    }

    /// Everything that is pending on a row is in conflict from now on.
    func freeze(
        _ entry: inout RowEntry, _ pending: PendingRow, _ operation: PendingRow.Operation, _ key: [UInt8],
        asConflictWith server: Row?, _ ancestor: Row?, _ reason: ConflictReason, _ rival: Rival? = nil
    ) throws(SyncError) {
        var frozen = FrozenOperation(
            kind: operation.kind, status: .conflict, maybeSent: false,
            position: try StateReader(store.snapshot, shapes).place(of: operation, in: pending, key),
            through: pending.last, operationID: "", columns: pending.overlay, ancestor: ancestor)
        (frozen.server, frozen.code, frozen.rival) = (server, reason.rawValue, rival)
        rebuild(&entry, from: try chain(of: pending), frozen: frozen)
    }

    /// Builds the pending part of a row from its changes, and writes the changes that became different. `givenUp` is
    /// the operation that they followed, if it is gone. With `decidesAgain` the compactor is asked again; otherwise its
    /// earlier decisions stay.
    func rebuild(
        _ entry: inout RowEntry, from links: [ChainLink], frozen: FrozenOperation?, decidesAgain: Bool = true,
        after givenUp: FrozenOperation? = nil
    ) {
        guard let first = links.first, let last = links.last else {
            entry.pending = nil
            return
        }
        var pending = PendingRow(
            first: first.position, last: last.position, count: links.count, isPresent: entry.base != nil)
        var previous: Position?
        for var link in links {
            link.change.isFrozen = frozen.map { link.position <= $0.through } ?? false
            if decidesAgain, !link.change.isFrozen {
                let replacesBase = previous == nil && givenUp?.kind == .delete
                link.decide(after: pending, base: entry.base, replacesBase: replacesBase)
            }
            pending.append(link.change, link.columns, at: link.position)
            if let frozen, link.position == frozen.through {
                pending.frozen = frozen
                pending.operation = nil
            }
            link.change.previous = previous
            link.change.content = links.count == 1 ? nil : link.columns
            if link.change != link.stored?.change {
                write(link.change, at: link.position, old: link.stored?.value)
            }
            previous = link.position
        }
        entry.pending = pending
    }
}

extension ChainLink {
    /// Asks the compactor again about a change, after other changes of its row. A change that would be refused now
    /// stays as it was.
    mutating func decide(after pending: PendingRow, base: Row?, replacesBase: Bool) {
        let row = CompactorInput(
            pending: pending.operation?.kind, frozen: pending.frozen?.kind, hasBase: base != nil,
            isPresent: pending.isPresent, replacesBase: replacesBase)
        guard let rule = try? CompactorRule.decide(change.kind, on: row) else { return }
        if rule == .replace && !change.replaces { columns = columns.replacing(base ?? .empty) }
        change.replaces = rule == .replace
        change.cancels = rule == .cancel
    }
}
