// Folds what a push brought about: operations freeze, are answered, and, where the server disagreed, are decided.

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
        for link in taken { part.lay(link.change, link.columns, at: link.position) }
        guard let operation = part.operation else { throw .malformed("the sending of changes that come to nothing") }
        let frozen = FrozenOperation(
            kind: operation.kind, status: .inFlight, maybeSent: true, position: sent.position, through: last.position,
            operationID: operationID, columns: part.overlay, ancestor: entry.base)
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
            entry.base = base
            entry.overtake(frozen.ancestor)
            if ids == .ignoreCase { entry.spelling = row.id }
            rebuild(&entry, from: Array(links.dropFirst(taken.count)), frozen: nil, behind: frozen)
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
            entry.base = server
            pending.frozen = frozen
            entry.pending = pending
        case .parked:
            frozen.status = .parked
            frozen.code = "rejected"
            frozen.httpStatus = answer.status
            frozen.message = answer.message
            pending.frozen = frozen
            entry.pending = pending
        }
        try write(entry, key, old: old)
    }

    /// A row that the server stamped with a time before a cursor would not be asked for again.
    private func lowerCursors(of table: String, to row: Row) throws(StateError) {
        guard case .date(let updated)? = row["updatedAt"] else { return }
        for cursor in try StateReader(store.snapshot, shapes).cursors() where cursor.table == table {
            guard let position = cursor.state.moment, updated.instant.milliseconds < position else { continue }
            var state = cursor.state
            state.moment = updated.instant.milliseconds
            state.drain = nil
            try putCursor(table, cursor.queryID, state)
        }
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
        switch (change, resolution.choice) {
        case (nil, _):
            totals.resolved += UInt64(taken.count)
            rebuild(&entry, from: rest, frozen: nil, behind: frozen)
        case (let change?, .row):
            totals.resolved += UInt64(taken.count)
            totals.made += 1
            try replace(&entry, by: change, at: Position(event: number), key, rest)
        case (let change?, _):
            totals.superseded += UInt64(taken.count - 1)
            rebuild(&entry, from: [ChainLink(change, key, at: frozen.position)] + rest, frozen: nil)
        }
        try write(entry, key, old: old)
    }

    /// A row of the app's choosing takes its place at the end; what followed the operation lies on top of it.
    private func replace(
        _ entry: inout RowEntry, by change: Resolution.Change, at position: Position, _ key: [UInt8],
        _ rest: [ChainLink]
    ) throws(StateError) {
        var link = ChainLink(change, key, at: position)
        if !rest.isEmpty {
            var all = PendingRow(first: position, last: position, count: 1, isPresent: entry.base != nil)
            for var part in [link] + rest {
                // What was decided behind the operation is decided anew behind the row that takes its place.
                part.decide(behind: all, base: entry.base, takesPlace: all.operation != nil)
                all.lay(part.change, part.columns, at: position)
            }
            try drop(rest)
            totals.superseded += UInt64(rest.count)
            guard let operation = all.operation else {
                totals.superseded += 1
                return rebuild(&entry, from: [], frozen: nil)
            }
            link = ChainLink(.init(kind: operation.kind, columns: all.overlay), key, at: position)
        }
        rebuild(&entry, from: [link], frozen: nil)
    }
}

extension ChainLink {
    /// A change that a resolution made.
    fileprivate init(_ change: Resolution.Change, _ key: [UInt8], at position: Position) {
        var entry = JournalEntry(kind: change.kind, rowKey: key)
        entry.isResolution = true
        self.init(position: position, change: entry, columns: change.columns, stored: nil)
    }
}

extension CursorState {
    /// The millisecond a cursor by time stands at; nil for one that counts changes.
    package var moment: Int64? {
        get { Timestamp(position)?.instant.milliseconds }
        set { if let newValue { position = Timestamp(.init(milliseconds: newValue)).description } }
    }
}
