// Folds the rows that the server sent: a row becomes the base, also beneath pending changes. If both sides changed a
// column to different values, or one side removed the row, the pending operation is in conflict at once.

package struct PageFold {
    let state: FoldState

    func apply(_ page: PulledPage) throws(SyncError) {
        var effect = PageEffect()
        for row in page.rows { _ = try apply(row, of: page, &effect) }
        for row in page.unreadable { _ = try state.list(row) }
        for digest in page.vanished { _ = try state.unlist(digest, of: page.table) }
        if let queryID = page.queryID, let cursor = page.cursor { try state.putCursor(page.table, queryID, cursor) }
    }

    /// Folds a page and returns only the rows that changed something; returns nil and folds nothing if no row did and
    /// the cursor stays. Known rows cost one lookup.
    package func applyNews(_ page: PulledPage, number: UInt64) throws(SyncError) -> (news: PulledPage?, PageEffect) {
        var effect = PageEffect()
        var news = page
        news.rows.removeAll(keepingCapacity: true)
        for row in page.rows where try apply(row, of: page, &effect) {
            news.rows.append(row)
        }
        news.unreadable = []
        for row in page.unreadable where try state.list(row) { news.unreadable.append(row) }
        news.vanished = []
        for digest in page.vanished where try state.unlist(digest, of: page.table) { news.vanished.append(digest) }
        let isEmpty = news.rows.isEmpty && news.unreadable.isEmpty && news.vanished.isEmpty
        if isEmpty && news.cursor == nil { return (nil, effect) }
        if let queryID = page.queryID, let cursor = page.cursor { try state.putCursor(page.table, queryID, cursor) }
        state.through = number
        return (news, effect)
    }

    /// Returns whether it changed anything. An audit leaves rows that the app has changed, including those changed
    /// since the audit began.
    private func apply(
        _ pulled: PulledRow, of page: PulledPage, _ effect: inout PageEffect
    ) throws(SyncError) -> Bool {
        let key = state.rowKey(page.table, pulled.id)
        let wasListed = try state.unlist(key)
        let (found, old) = try state.entry(key)
        var entry = found ?? RowEntry()
        if page.isAudit && entry.pending != nil { return wasListed }
        if var row = state.shared(pulled.row, of: page.table) {
            // The server's spelling of the id applies once the server has answered.
            if state.ids == .ignoreCase { entry.spelling = pulled.id }
            if entry.base?.isKnown(row) == true { return wasListed }
            if entry.hasOvertaken(row), !page.readsAgain { return wasListed }
            entry.forgetOvertaken()
            // What the base has besides is as it was: a pull may have asked for some columns only.
            if let base = entry.base, base.isSameState(as: row) { row = base.merged(with: row) }
            try rebase(&entry, key, onto: row, state.types[page.table])
        } else {
            // An answer that the server has no such row did not say why.
            let isReason = pulled.isByRight && entry.pending != nil && !entry.isRightLost
            let meetsChange = entry.meetsTombstone || isReason
            guard entry.base != nil || !entry.overtaken.isEmpty || meetsChange else { return wasListed }
            entry.forgetOvertaken()
            if entry.base != nil || meetsChange { try removeBase(&entry, key, isByRight: pulled.isByRight) }
        }
        effect.count(found, entry)
        try state.write(entry, key, old: old)
        return true
    }

    private func rebase(
        _ entry: inout RowEntry, _ key: [UInt8], onto row: Row, _ types: TableTypes
    ) throws(SyncError) {
        let ancestor = entry.base
        let isGivenBack = entry.isRightLost
        entry.take(base: row, isAnswer: false)
        try state.settleVoid(&entry)
        guard let pending = entry.pending else { return }
        if pending.frozen?.status == .conflict {
            entry.pending?.frozen?.meet(server: row)
        } else if isGivenBack, pending.frozen?.status == .parked {
            entry.pending?.frozen?.code = ConflictReason.rejected.rawValue
        } else if pending.frozen == nil, let operation = pending.operation, ancestor?.isSameState(as: row) != true,
            pending.isInConflict(operation.kind, with: row, since: ancestor, types)
        {
            try state.freeze(&entry, pending, operation, key, asConflictWith: row, ancestor, .changed)
        }
    }

    private func removeBase(_ entry: inout RowEntry, _ key: [UInt8], isByRight: Bool) throws(SyncError) {
        let ancestor = entry.base
        entry.loseBase()
        guard let pending = entry.pending else { return }
        entry.isRightLost = isByRight
        let isDelete = pending.frozen?.isConflictingDelete ?? (pending.operation?.kind == .delete)
        // A lost right does not mean agreement: others still have the row.
        if isDelete, !isByRight {
            // Both sides deleted it: they agree.
            entry.isOwnTombstone = true
            let links = try state.chain(of: pending)
            let taken = links.prefix { link in pending.frozen.map { link.position <= $0.through } ?? true }
            try state.settle(taken)
            state.rebuild(&entry, from: Array(links.dropFirst(taken.count)), frozen: nil)
        } else if pending.frozen?.status == .conflict {
            entry.pending?.frozen?.meet(server: nil, isByRight: isByRight)
        } else if isByRight, pending.frozen?.status == .parked {
            entry.pending?.frozen?.loseRight()
        } else if pending.frozen == nil, let operation = pending.operation, operation.kind != .insert {
            let reason: ConflictReason = isByRight ? .rightLost : .gone
            try state.freeze(&entry, pending, operation, key, asConflictWith: nil, ancestor, reason)
        }
    }
}

extension PulledPage {
    /// Whether everything is read again because the server may have another history: an own write that replaced a state
    /// may be lost.
    fileprivate var readsAgain: Bool { cursor?.isAuditDue ?? false }
}

extension FrozenOperation {
    fileprivate var isConflictingDelete: Bool { status == .conflict && kind == .delete && rival == nil }

    /// The server's side of a conflict is another one now.
    fileprivate mutating func meet(server row: Row?, isByRight: Bool = false) {
        server = rival.map { $0.row(over: row) } ?? row
        let gone: ConflictReason = isByRight ? .rightLost : kind == .insert ? .changed : .gone
        code = (server == nil ? gone : .changed).rawValue
    }

    /// The server refused it, and hides the row. An update is a conflict from now on, so that the app still sees the
    /// whole row.
    mutating func loseRight() {
        if kind == .update { status = .conflict }
        code = ConflictReason.rightLost.rawValue
    }
}

/// The effect of pages.
package struct PageEffect: Hashable, Sendable {
    /// Rows whose base has changed.
    package private(set) var changed = 0
    /// Rows that an app no longer sees.
    package private(set) var deleted = 0
    /// Conflicts that were found.
    package private(set) var conflicts = 0

    package init() {}

    fileprivate mutating func count(_ before: RowEntry?, _ after: RowEntry) {
        if after.base != nil { changed += 1 }
        if before?.isPresent == true, !after.isPresent { deleted += 1 }
        if after.pending?.frozen?.status == .conflict, before?.pending?.frozen?.status != .conflict { conflicts += 1 }
    }
}

extension PendingRow {
    /// Whether the pending operation and a row from the server are in conflict at once.
    fileprivate func isInConflict(
        _ kind: OperationKind, with server: Row, since ancestor: Row?, _ types: TableTypes
    ) -> Bool {
        switch kind {
        // The server will say so when it is pushed.
        case .insert: false
        case .delete: true
        case .update: !overlay.collidingColumns(with: server, since: ancestor, types).isEmpty
        }
    }
}

extension Row {
    /// Whether a row that the server sent tells nothing new: it has the same state and no further columns. A base may lack
    /// columns that its version has, if it was imported, or if the server's table got a column.
    fileprivate func isKnown(_ row: Row) -> Bool {
        guard isSameState(as: row) else { return false }
        if shape == row.shape { return true }
        return row.shape.names.allSatisfy { name in
            shape.place(of: name) != nil || Item.systemColumns.contains(name) || row[name]?.isNull != false
        }
    }
}
