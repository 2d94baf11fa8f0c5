// Folds a push: operations are frozen when they are sent, and answered.

struct PushFold {
    let state: FoldState

    // MARK: On their way

    func apply(_ sent: SentOperation) throws(SyncError) {
        let key = state.rowKey(sent.table, sent.id)
        let (found, old) = try state.entry(key)
        guard var entry = found, let pending = entry.pending, pending.frozen == nil else {
            throw .malformed("a push event for an operation that is not pending")
        }
        let links = try state.chain(of: pending)
        let taken = links.prefix { $0.position <= sent.through }
        guard let last = taken.last else { throw .malformed("a push event without changes") }
        guard let operationID = sent.operationID else {
            try state.drop(taken)
            state.totals.superseded += UInt64(taken.count)
            state.rebuild(&entry, from: Array(links.dropFirst(taken.count)), frozen: nil)
            return try state.write(entry, key, old: old)
        }
        var part = PendingRow(
            first: links[0].position, last: last.position, count: taken.count, isPresent: entry.base != nil)
        for link in taken { part.append(link.change, link.columns, at: link.position) }
        guard let operation = part.operation else {
            throw .malformed("a push event for changes that cancel each other out")
        }
        var frozen = FrozenOperation(
            kind: operation.kind, status: .inFlight, maybeSent: true, position: sent.position, through: last.position,
            operationID: operationID, columns: part.overlay, ancestor: entry.base)
        frozen.isDecided = taken.contains { $0.change.revives }
        state.rebuild(&entry, from: links, frozen: frozen)
        try state.write(entry, key, old: old)
    }

    // MARK: Answered

    func apply(_ answer: Answer) throws(SyncError) {
        let key = state.rowKey(answer.table, answer.id)
        let (found, old) = try state.entry(key)
        guard var entry = found, let pending = entry.pending, var frozen = pending.frozen,
            frozen.status == .inFlight, frozen.operationID == answer.operationID
        else { throw .malformed("an answer to an operation that was not sent") }
        if answer.outcome.showsRow { _ = try state.unlist(key) }
        switch answer.outcome {
        case .done(let row):
            let links = try state.chain(of: pending)
            let taken = links.prefix { $0.position <= frozen.through }
            try state.settle(taken)
            let base = state.shared(row.row, of: answer.table)
            // A refusal applies to this moment; only a success may be an earlier answer, repeated.
            if (200..<300).contains(answer.status), entry.outruns(base, frozen) {
                // The server repeated its first answer, and a pull has fetched later states of the row since.
                entry.isOwnTombstone = false
            } else if let base {
                entry.take(base: base, isAnswer: true)
            } else {
                entry.loseBase(byOwnDelete: frozen.kind == .delete)
            }
            entry.overtake(frozen.ancestor)
            if state.ids == .ignoreCase { entry.spelling = row.id }
            state.rebuild(&entry, from: Array(links.dropFirst(taken.count)), frozen: nil, after: frozen)
            if let base { try lowerCursors(of: answer.table, to: base) }
        case .notReceived:
            state.rebuild(&entry, from: try state.chain(of: pending), frozen: nil)
        case .conflict(let found, let code):
            let server = state.shared(found, of: answer.table)
            frozen.status = .conflict
            frozen.server = server
            frozen.code = server == nil && entry.isRightLost ? ConflictReason.rightLost.rawValue : code
            frozen.httpStatus = answer.status
            frozen.message = answer.message
            frozen.revival = nil
            frozen.mayHaveBeenDone = answer.mayHaveBeenDone
            if let server { entry.take(base: server, isAnswer: false) } else { entry.loseBase() }
            entry.pending?.frozen = frozen
        case .tombstone(let tombstone):
            frozen.revival = Revival(tombstone: state.shared(tombstone, of: answer.table))
            frozen.operationID = answer.nextOperationID ?? ""
            entry.loseBase()
            entry.pending?.frozen = frozen
        case .revived(let row):
            try revive(&entry, frozen, as: row, answer)
        case .failing:
            frozen.failures += 1
            entry.pending?.frozen = frozen
            let mark = [Keyspace.failing] + key
            if try state.value(mark) == nil { state.put(mark, [], old: nil) }
        case .interrupted:
            frozen.failures = 0
            frozen.serverWorks = false
            entry.pending?.frozen = frozen
        case .parked:
            frozen.status = .parked
            frozen.code = ConflictReason.rejected.rawValue
            frozen.httpStatus = answer.status
            frozen.message = answer.message
            if entry.isRightLost { frozen.loseRight() }
            entry.pending?.frozen = frozen
        }
        try state.write(entry, key, old: old)
    }

    /// The server has restored the row as it was before it was deleted: that row is the base, and the insert continues
    /// as an update of the differences, as if it had been made on that row.
    private func revive(
        _ entry: inout RowEntry, _ frozen: FrozenOperation, as row: PulledRow, _ answer: Answer
    ) throws(SyncError) {
        guard let pending = entry.pending, let base = state.shared(row.row, of: answer.table) else {
            throw .malformed("a restore of an unknown row")
        }
        entry.take(base: base, isAnswer: true)
        if state.ids == .ignoreCase { entry.spelling = row.id }
        var links = try state.chain(of: pending)
        let none = PendingRow(first: pending.first, last: pending.last, count: 0, isPresent: true)
        for index in links.indices where links[index].position <= frozen.through {
            guard links[index].change.kind == .insert else { continue }
            links[index].change.revives = false
            links[index].decide(after: none, base: base, replacesBase: true)
        }
        var update = frozen
        update.kind = .update
        update.revival = nil
        update.isDecided = false
        update.operationID = answer.nextOperationID ?? ""
        update.ancestor = base
        update.columns = frozen.columns.difference(from: base, state.types[answer.table])
        state.rebuild(&entry, from: links, frozen: update)
        try lowerCursors(of: answer.table, to: base)
    }

    /// A row that the server stamped with a time before a cursor would not be requested again.
    private func lowerCursors(of table: String, to row: Row) throws(SyncError) {
        guard case .date(let updated)? = row["updatedAt"] else { return }
        for cursor in try StateReader(state.store.snapshot, state.shapes).cursors() where cursor.table == table {
            guard let position = cursor.state.moment, updated.instant.milliseconds < position else { continue }
            var lower = cursor.state
            lower.place = .time(Timestamp(.init(milliseconds: updated.instant.milliseconds)))
            try state.putCursor(table, cursor.queryID, lower)
        }
    }

    /// The server gave another answer than to the failing operations, so they are the cause of the failures.
    func noteThatServerWorks() throws(SyncError) {
        for mark in try state.keys(prefix: [Keyspace.failing]) {
            try state.set(mark, nil)
            let key = Array(mark.dropFirst())
            let (found, old) = try state.entry(key)
            guard var entry = found, var frozen = entry.pending?.frozen, frozen.failures > 0 else { continue }
            frozen.serverWorks = true
            entry.pending?.frozen = frozen
            try state.write(entry, key, old: old)
        }
    }
}
