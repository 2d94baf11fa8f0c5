// Folds the effects of a push: operations are frozen and answered, and conflicts are resolved.

extension Projector {
    // MARK: On their way

    func apply(_ sent: SentOperation) throws(StateError) {
        let key = rowKey(sent.table, sent.id)
        let (found, old) = try entry(key)
        guard var entry = found, let pending = entry.pending, pending.frozen == nil else {
            throw .malformed("the sending of an operation that is not pending, which")
        }
        let links = try chain(of: pending)
        let taken = links.prefix { $0.position <= sent.through }
        guard let last = taken.last else { throw .malformed("the sending of no change, which") }
        guard let operationID = sent.operationID else {
            try drop(taken)
            totals.superseded += UInt64(taken.count)
            rebuild(&entry, from: Array(links.dropFirst(taken.count)), frozen: nil)
            return try write(entry, key, old: old)
        }
        var part = PendingRow(
            first: links[0].position, last: last.position, count: taken.count, isPresent: entry.base != nil)
        for link in taken { part.append(link.change, link.columns, at: link.position) }
        guard let operation = part.operation else {
            throw .malformed("the sending of changes that cancel each other out")
        }
        var frozen = FrozenOperation(
            kind: operation.kind, status: .inFlight, maybeSent: true, position: sent.position, through: last.position,
            operationID: operationID, columns: part.overlay, ancestor: entry.base)
        frozen.isDecided = taken.contains { $0.change.revives }
        rebuild(&entry, from: links, frozen: frozen)
        try write(entry, key, old: old)
    }

    // MARK: Answered

    func apply(_ answer: Answer) throws(StateError) {
        let key = rowKey(answer.table, answer.id)
        let (found, old) = try entry(key)
        guard var entry = found, var pending = entry.pending, var frozen = pending.frozen,
            frozen.status == .inFlight, frozen.operationID == answer.operationID
        else { throw .malformed("the answer to an operation that was not sent, which") }
        switch answer.outcome {
        case .done(let row):
            let links = try chain(of: pending)
            let taken = links.prefix { $0.position <= frozen.through }
            try settle(taken)
            let base = shared(row.row, of: answer.table)
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
            if ids == .ignoreCase { entry.spelling = row.id }
            rebuild(&entry, from: Array(links.dropFirst(taken.count)), frozen: nil, after: frozen)
            if let base { try lowerCursors(of: answer.table, to: base) }
        case .notReceived:
            rebuild(&entry, from: try chain(of: pending), frozen: nil)
        case .conflict(let found, let code):
            let server = shared(found, of: answer.table)
            frozen.status = .conflict
            frozen.server = server
            frozen.code = code
            frozen.httpStatus = answer.status
            frozen.message = answer.message
            frozen.revival = nil
            frozen.mayHaveBeenDone = answer.mayHaveBeenDone
            if let server { entry.take(base: server, isAnswer: false) } else { entry.loseBase() }
            pending.frozen = frozen
            entry.pending = pending
        case .tombstone(let tombstone):
            frozen.revival = Revival(tombstone: shared(tombstone, of: answer.table))
            frozen.operationID = answer.nextOperationID ?? ""
            entry.loseBase()
            pending.frozen = frozen
            entry.pending = pending
        case .revived(let row):
            try revive(&entry, frozen, as: row, answer)
        case .failing:
            frozen.failures += 1
            pending.frozen = frozen
            entry.pending = pending
            let mark = [Keyspace.failing] + key
            if try value(mark) == nil { put(mark, [], old: nil) }
        case .interrupted:
            frozen.failures = 0
            frozen.serverWorks = false
            pending.frozen = frozen
            entry.pending = pending
        case .parked:
            frozen.status = .parked
            frozen.code = ConflictReason.rejected.rawValue
            frozen.httpStatus = answer.status
            frozen.message = answer.message
            pending.frozen = frozen
            entry.pending = pending
        }
        try write(entry, key, old: old)
    }

    /// The server has restored the row as it was before it was deleted: that row is the base, and the insert continues
    /// as an update of the differences, as if it had been made on that row.
    private func revive(
        _ entry: inout RowEntry, _ frozen: FrozenOperation, as row: PulledRow, _ answer: Answer
    ) throws(StateError) {
        guard let pending = entry.pending, let base = shared(row.row, of: answer.table) else {
            throw .malformed("the return of a row that is not there, which")
        }
        entry.take(base: base, isAnswer: true)
        if ids == .ignoreCase { entry.spelling = row.id }
        var links = try chain(of: pending)
        for index in links.indices where links[index].position <= frozen.through {
            guard links[index].change.kind == .insert else { continue }
            links[index].change.replaces = true
            links[index].change.revives = false
            links[index].columns = links[index].columns.replacing(base)
        }
        var update = frozen
        update.kind = .update
        update.revival = nil
        update.isDecided = false
        update.operationID = answer.nextOperationID ?? ""
        update.ancestor = base
        update.columns = frozen.columns.difference(from: base)
        rebuild(&entry, from: links, frozen: update)
        try lowerCursors(of: answer.table, to: base)
    }

    /// A row that the server stamped with a time before a cursor would not be requested again.
    private func lowerCursors(of table: String, to row: Row) throws(StateError) {
        guard case .date(let updated)? = row["updatedAt"] else { return }
        for cursor in try StateReader(store.snapshot, shapes).cursors() where cursor.table == table {
            guard let position = cursor.state.moment, updated.instant.milliseconds < position else { continue }
            var state = cursor.state
            state.place = .time(Timestamp(.init(milliseconds: updated.instant.milliseconds)))
            try putCursor(table, cursor.queryID, state)
        }
    }

    /// The server gave another answer than to the failing operations, so they are the cause of the failures.
    func noteThatServerWorks() throws(StateError) {
        var marks: [[UInt8]] = []
        try store.snapshot.forEach(prefix: [Keyspace.failing]) { key, _ throws(StateError) in
            marks.append([UInt8](key))
            return true
        }
        for mark in marks {
            if let old = try value(mark) { remove(mark, old: old) }
            let key = Array(mark.dropFirst())
            let (found, old) = try entry(key)
            guard var entry = found, var frozen = entry.pending?.frozen, frozen.failures > 0 else { continue }
            frozen.serverWorks = true
            entry.pending?.frozen = frozen
            try write(entry, key, old: old)
        }
    }

    // MARK: Dropped

    /// Removes the pending changes of a row from the outbox; the row becomes the server's latest.
    func discard(_ table: String, _ id: String) throws(StateError) {
        let key = rowKey(table, id)
        let (found, old) = try entry(key)
        guard var entry = found, let pending = entry.pending else {
            throw .malformed("the dropping of changes that are not pending, which")
        }
        let links = try chain(of: pending)
        try drop(links)
        totals.cancelled += UInt64(links.count)
        for link in links.reversed() {
            if let before = link.stored?.change.localBefore { entry.local = before }
        }
        entry.pending = nil
        try write(entry, key, old: old)
    }

    // MARK: Decided

    func apply(_ resolution: Resolution, number: UInt64) throws(StateError) {
        let key = rowKey(resolution.table, resolution.id)
        let (found, old) = try entry(key)
        guard var entry = found, let pending = entry.pending, let frozen = pending.frozen, frozen.status != .inFlight
        else { throw .malformed("the resolution of no conflict, which") }
        let links = try chain(of: pending)
        let taken = links.prefix { $0.position <= frozen.through }
        let rest = Array(links.dropFirst(taken.count))
        try drop(taken)
        let change = shared(resolution, &entry)
        let revives = frozen.status == .conflict && frozen.server == nil && change?.kind == .insert
        switch (change, resolution.choice) {
        case (nil, _):
            totals.resolved += UInt64(taken.count)
            // A decision to delete also discards the updates that followed the operation.
            let left = resolution.choice == .row ? Array(rest.drop { $0.change.kind == .update }) : rest
            try drop(rest.dropLast(left.count))
            totals.superseded += UInt64(rest.count - left.count)
            rebuild(&entry, from: left, frozen: nil, after: frozen)
        case (let change?, .row):
            totals.resolved += UInt64(taken.count)
            totals.made += 1
            try replace(&entry, by: change, at: Position(event: number), key, rest, revives: revives)
        case (let change?, _):
            totals.superseded += UInt64(taken.count - 1)
            let link = ChainLink(change, key, at: frozen.position, revives: revives)
            rebuild(&entry, from: [link] + rest, frozen: nil)
        }
        try write(entry, key, old: old)
    }

    /// The row that the app chose takes its place at the end; changes that followed the operation are applied on top of
    /// it.
    private func replace(
        _ entry: inout RowEntry, by change: Resolution.Change, at position: Position, _ key: [UInt8],
        _ rest: [ChainLink], revives: Bool
    ) throws(StateError) {
        var link = ChainLink(change, key, at: position, revives: revives)
        if !rest.isEmpty {
            var all = PendingRow(first: position, last: position, count: 1, isPresent: entry.base != nil)
            // A decision to delete also discards the updates that followed the operation.
            let lying = change.kind == .delete ? Array(rest.drop { $0.change.kind == .update }) : rest
            for var part in [link] + lying {
                // The changes that followed the operation now follow the row that replaces it.
                part.decide(after: all, base: entry.base, replacesBase: all.operation != nil)
                all.append(part.change, part.columns, at: position)
            }
            try drop(rest)
            totals.superseded += UInt64(rest.count)
            guard let operation = all.operation else {
                totals.superseded += 1
                return rebuild(&entry, from: [], frozen: nil)
            }
            link = ChainLink(
                .init(kind: operation.kind, columns: all.overlay), key, at: position,
                revives: revives && operation.kind == .insert)
        }
        rebuild(&entry, from: [link], frozen: nil)
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
