// Folds decisions of the app: conflicts are resolved, and pending changes are discarded.

struct DecisionFold {
    let state: FoldState

    /// Removes the pending changes of a row from the outbox; the row becomes the server's latest.
    func discard(_ table: String, _ id: String) throws(SyncError) {
        let key = state.rowKey(table, id)
        let (found, old) = try state.entry(key)
        guard var entry = found, let pending = entry.pending else {
            throw .malformed("a drop of changes that are not pending")
        }
        let links = try state.chain(of: pending)
        try state.drop(links)
        state.totals.cancelled += UInt64(links.count)
        for link in links.reversed() {
            if let before = link.stored?.change.localBefore { entry.local = before }
        }
        entry.pending = nil
        try state.write(entry, key, old: old)
    }

    func apply(_ resolution: Resolution, number: UInt64) throws(SyncError) {
        let key = state.rowKey(resolution.table, resolution.id)
        let (found, old) = try state.entry(key)
        guard var entry = found, let pending = entry.pending, let frozen = pending.frozen, frozen.status != .inFlight
        else { throw .malformed("a resolution without a conflict") }
        let links = try state.chain(of: pending)
        let taken = links.prefix { $0.position <= frozen.through }
        let rest = Array(links.dropFirst(taken.count))
        try state.drop(taken)
        let change = state.shared(resolution, &entry)
        let revives =
            frozen.status == .conflict && frozen.server == nil && entry.base == nil && change?.kind == .insert
        switch (change, resolution.choice) {
        case (nil, _):
            state.totals.resolved += UInt64(taken.count)
            let left = resolution.choice == .row ? rest.afterDelete : rest
            try state.drop(rest.dropLast(left.count))
            state.totals.superseded += UInt64(rest.count - left.count)
            state.rebuild(&entry, from: left, frozen: nil, after: frozen)
        case (let change?, .row):
            state.totals.resolved += UInt64(taken.count)
            state.count(since: number)
            try replace(&entry, by: change, at: Position(event: number), key, rest, revives: revives)
        case (let change?, _):
            state.totals.superseded += UInt64(taken.count - 1)
            let link = ChainLink(change, key, at: frozen.position, revives: revives)
            state.rebuild(&entry, from: [link] + rest, frozen: nil)
        }
        if let rival = frozen.rival { try meetServer(&entry, key, rival, state.types[resolution.table]) }
        try state.write(entry, key, old: old)
    }

    /// While the app's operation was part of a conflict with another process, the server's row may have changed in a
    /// way that the decision did not show.
    private func meetServer(
        _ entry: inout RowEntry, _ key: [UInt8], _ rival: Rival, _ types: TableTypes
    ) throws(SyncError) {
        guard let pending = entry.pending, pending.frozen == nil, let operation = pending.operation,
            rival.collides(with: entry.base, types)
        else { return }
        try state.freeze(
            &entry, pending, operation, key, asConflictWith: entry.base, rival.base,
            entry.base == nil ? .gone : .changed)
    }

    /// The row that the app chose takes its place at the end; changes that followed the operation are applied on top of
    /// it.
    private func replace(
        _ entry: inout RowEntry, by change: Resolution.Change, at position: Position, _ key: [UInt8],
        _ rest: [ChainLink], revives: Bool
    ) throws(SyncError) {
        var link = ChainLink(change, key, at: position, revives: revives)
        if !rest.isEmpty {
            var all = PendingRow(first: position, last: position, count: 1, isPresent: entry.base != nil)
            let lying = change.kind == .delete ? rest.afterDelete : rest
            for var part in [link] + lying {
                // The changes that followed the operation now follow the row that replaces it.
                part.decide(after: all, base: entry.base, replacesBase: all.operation != nil)
                all.append(part.change, part.columns, at: position)
            }
            try state.drop(rest)
            state.totals.superseded += UInt64(rest.count)
            guard let operation = all.operation else {
                state.totals.superseded += 1
                return state.rebuild(&entry, from: [], frozen: nil)
            }
            link = ChainLink(
                .init(kind: operation.kind, columns: all.overlay), key, at: position,
                revives: revives && operation.kind == .insert)
        }
        state.rebuild(&entry, from: [link], frozen: nil)
    }
}

extension RowEntry {
    /// The row as an app sees it after a decision about its operation; later changes lie on top of it.
    package func visible(after decision: Resolution.Change?) -> Row? {
        var entry = self
        entry.pending = decision.map { change in
            let place = Position(event: 0)
            var pending = PendingRow(first: place, last: place, count: 1, isPresent: base != nil)
            pending.append(JournalEntry(kind: change.kind, rowKey: []), change.columns, at: place)
            return pending
        }
        return entry.visible
    }
}

extension ChainLink {
    /// A change made by a resolution.
    fileprivate init(_ change: Resolution.Change, _ key: [UInt8], at position: Position, revives: Bool) {
        var entry = JournalEntry(kind: change.kind, rowKey: key)
        entry.isResolution = true
        entry.revives = revives
        self.init(position: position, change: entry, columns: change.columns, stored: nil)
    }
}

extension [ChainLink] {
    /// What a decision to delete the row leaves of the changes that were made after the operation.
    fileprivate var afterDelete: [ChainLink] {
        Array(dropFirst(CompactorRule.discarded(from: lazy.map(\.change.kind))))
    }
}
