// Folds the app's own changes: they enter the outbox and cover the base. An undo removes the newest of them. In a table
// that never leaves the device a change is made in the base, and that is all.

import SynclineGround

package struct LocalFold {
    let state: FoldState

    /// Folds a transaction of the log.
    func apply(_ reader: inout EventReader, number: UInt64) throws(SyncError) {
        do {
            let heading = try reader.transaction()
            var index: UInt32 = 0
            var group = ChangeGroup()
            while !reader.isAtEnd {
                let change = try reader.encodedChange()
                let position = Position(event: number, index: index)
                let isMade =
                    try insertNew(change, at: position, isGrouped: heading.isGrouped)
                    || apply(try LocalChange(change), at: position, isGrouped: heading.isGrouped)
                group.add(isMade: isMade, isLocal: state.types.isLocal(change.table))
                index += 1
            }
            try end(group, number, heading)
            state.through = number
        } catch let error as SyncError {
            throw error
        } catch {
            throw .malformed("an event of local changes")
        }
    }

    func apply(_ transaction: LocalTransaction, number: UInt64) throws(SyncError) {
        try apply(transaction, number: number) { _ in true }
    }

    /// Folds the changes of a transaction to some rows.
    func apply(
        _ transaction: LocalTransaction, number: UInt64, of isWanted: (LocalChange) -> Bool
    ) throws(SyncError) {
        var group = ChangeGroup()
        for (index, change) in transaction.changes.enumerated() where isWanted(change) {
            let position = Position(event: number, index: UInt32(index))
            let isMade = try apply(change, at: position, isGrouped: transaction.heading.isGrouped)
            group.add(isMade: isMade, isLocal: state.types.isLocal(change.table))
        }
        try end(group, number, transaction.heading)
    }

    /// Folds the insert of a row that the state does not know, which is the most frequent change; returns false for
    /// anything else.
    private func insertNew(
        _ change: EncodedChange, at position: Position, isGrouped: Bool
    ) throws(SyncError) -> Bool {
        guard change.kind == .insert, change.flags.isDisjoint(with: [.replaces, .contested]) else { return false }
        return try insertNew(
            change.table, change.id, change.shape, change.values, at: position, isGrouped: isGrouped)
    }

    /// Writes a new row, whose id is given as an encoded value, and its change: the same bytes as in the general case.
    /// Returns false and does nothing if the state may know the row, if ids are not compared exactly, or if the table
    /// has indexes, local columns or defaults, or is local.
    func insertNew(
        _ table: String, _ id: Bytes, _ shape: RowShape, _ values: Bytes, at position: Position, isGrouped: Bool
    ) throws(SyncError) -> Bool {
        guard state.ids == .exact, state.indexes.isEmpty, state.localColumns(of: table) == nil,
            !state.hasDefaults(table), !state.types.isLocal(table)
        else { return false }
        state.scratch.key.removeAll()
        var table = table
        guard table.withUTF8({ state.scratch.key.append(rowKey: Bytes($0), encodedID: id) }) else { return false }
        let key = state.scratch.key
        return try key.withView { key throws(SyncError) in
            guard try state.store.value(key) == nil else { return false }
            let number = state.number(of: shape)
            state.scratch.value.removeAll()
            state.scratch.value.append(insertedRow: number, values, position)
            state.scratch.value.withView { state.store.put(key, $0, old: nil) }
            state.scratch.value.removeAll()
            JournalEntry.encode(insertOf: key, isGrouped: isGrouped, into: &state.scratch.value)
            state.scratch.value.withView { value in position.withJournalKey { state.store.put($0, value, old: nil) } }
            state.count(since: position.event)
            return true
        }
    }

    /// Folds one change of a transaction; returns false if no part of it is to be pushed, so that it does not enter the
    /// outbox.
    package func apply(_ change: LocalChange, at position: Position, isGrouped: Bool) throws(SyncError) -> Bool {
        if state.types.isLocal(change.table) {
            try make(change)
            return false
        }
        guard change.isContested else { return try add(change, at: position, isGrouped: isGrouped) }
        let contest = try Contest(change, at: position, state)
        return try contest.decide(state, isMade: add(change, at: position, isGrouped: isGrouped))
    }

    /// Makes a change in a table that never leaves the device.
    private func make(_ change: LocalChange) throws(SyncError) {
        let key = state.rowKey(change.table, change.id)
        let (found, old) = try state.entry(key)
        var entry = found ?? RowEntry()
        if state.ids == .ignoreCase, entry.spelling == nil { entry.spelling = change.id }
        switch change.kind {
        case .insert: entry.base = change.columns
        case .update: entry.base = (entry.base ?? .empty).merged(with: change.columns)
        case .delete: entry = RowEntry()
        }
        try state.write(entry, key, old: old)
    }

    /// Adds a change to the outbox and covers the base with it.
    private func add(_ change: LocalChange, at position: Position, isGrouped: Bool) throws(SyncError) -> Bool {
        let key = state.rowKey(change.table, change.id)
        let (found, old) = try state.entry(key)
        var entry = found ?? RowEntry()
        if state.ids == .ignoreCase, entry.spelling == nil { entry.spelling = change.id }
        var change = change
        let local = state.separateLocal(&change.columns, of: change.table)
        if CompactorRule.isEmpty(change.kind, hasColumns: !change.columns.isEmpty) {
            guard let local, entry.isPresent else { return false }
            try state.setLocal(local, &entry)
            try state.write(entry, key, old: old)
            return false
        }
        var journalEntry = JournalEntry(kind: change.kind, rowKey: key)
        journalEntry.isGrouped = isGrouped
        journalEntry.cancels = change.cancels
        journalEntry.replaces = change.replaces
        state.applyLocal(local, of: change.kind, on: &entry, &journalEntry)
        if var pending = entry.pending {
            if pending.count == 1 { try moveContent(of: pending) }
            journalEntry.previous = pending.last
            journalEntry.content = change.columns
            pending.last = position
            pending.count += 1
            pending.append(journalEntry, change.columns, at: position)
            entry.pending = pending
        } else {
            var pending = PendingRow(first: position, last: position, count: 1, isPresent: entry.base != nil)
            pending.append(journalEntry, change.columns, at: position)
            entry.pending = pending
        }
        state.write(journalEntry, at: position, old: nil)
        try state.write(entry, key, old: old)
        state.count(since: position.event)
        return true
    }

    /// A second change of a row follows: moves the columns of the first one into the journal.
    private func moveContent(of pending: PendingRow) throws(SyncError) {
        var (first, old) = try state.journal(pending.first)
        first.content = pending.overlay
        state.write(first, at: pending.first, old: old)
    }

    /// Records what of a transaction is known at its end: how many changes there are to undo, and what can be redone.
    func end(_ group: ChangeGroup, _ event: UInt64, _ heading: TransactionHeading) throws(SyncError) {
        try state.endRedo(after: heading.undo, hasMade: group.made > 0)
        if !heading.isGrouped || group.made == 0 { return }
        var writer = ByteWriter()
        writer.append(varint: group.made + group.local)
        state.put(state.journalKey(.end(of: event)), writer.bytes, old: nil)
    }

    /// Takes a transaction's changes to some rows out of the outbox; each change is the last of its row.
    func undo(_ event: UInt64, of isWanted: (RowKey) -> Bool = { _ in true }) throws(SyncError) {
        var end = UInt32.max
        while true {
            // There may be a million, so they are read in portions.
            let reader = StateReader(state.store.snapshot, state.shapes)
            let positions = try reader.changes(of: event, before: end, limit: 4096)
            for position in positions { try undo(position, of: isWanted) }
            guard let last = positions.last else { return }
            end = last.index
        }
    }

    private func undo(_ position: Position, of isWanted: (RowKey) -> Bool) throws(SyncError) {
        let change = try state.journal(position).entry
        guard isWanted(try RowKey(malformed: change.rowKey)) else { return }
        // The first change of the event to its row is the last to be removed.
        let before = try change.previous(before: position)
        try removeLast(position, settles: before.map { $0.event < position.event } ?? true)
        state.totals.cancelled += 1
    }

    /// - Parameter settles: Whether changes that are left and cancel each other may go. An undo does not let them go
    ///   before it has removed all of its changes, because one of them may be the next it removes.
    private func removeLast(_ position: Position, settles: Bool) throws(SyncError) {
        let change = try state.journal(position).entry
        let (found, old) = try state.entry(change.rowKey)
        guard var entry = found, let pending = entry.pending, pending.last == position else {
            throw .malformed("an undo of a change that is not its row's last")
        }
        let links = try state.chain(of: pending)
        try state.drop(links.suffix(1))
        state.rebuild(&entry, from: links.dropLast(), frozen: pending.frozen, decidesAgain: false)
        if let before = change.localBefore { entry.local = before }
        if settles { try state.settleVoid(&entry) }
        try state.write(entry, change.rowKey, old: old)
    }

    /// Checks that a carried row agrees with the outbox; it adds nothing.
    func check(_ carried: CarriedRow) throws(SyncError) {
        let key = state.rowKey(carried.table, carried.id)
        guard try StateReader(state.store.snapshot, state.shapes).carriedRow(key: key) == carried else {
            throw .malformed("an event with changes that differ from those of the outbox")
        }
    }
}

/// The number of changes of a transaction: those in the outbox, and those of tables that never leave the device, without
/// which the transaction can't be undone.
package struct ChangeGroup {
    private(set) var made = 0
    private(set) var local = 0

    mutating func add(isMade: Bool, isLocal: Bool) {
        if isMade { made += 1 } else if isLocal { local += 1 }
    }
}

extension PendingRow {
    /// Adds one more change on top of the row.
    mutating func append(_ change: JournalEntry, _ columns: Row, at position: Position) {
        let rule = CompactorRule(change, after: operation?.kind)
        overlay = rule.columns(overlay, columns)
        isPresent = change.kind != .delete
        if change.kind == .insert { hidesBase = frozen?.kind == .delete }
        operation = rule.operation.map { Operation(kind: $0, first: operation?.first ?? position) }
    }
}
