// Folds the events that remain of a damaged log. An event that makes no sense without the lost ones is left out and
// named. A change of a row that no longer exists is kept in such a way that its push overwrites nothing.

package final class RescueFold {
    package let projector: Projector
    /// Events that could not be folded completely.
    package private(set) var leftOut: [UInt64] = []
    private var eventCount = 0
    private var otherCount = 0
    /// Why a record could not be decoded: a newer version wrote it, or it is not an event.
    package private(set) var newer: SyncError?

    /// Called after each part of an event that was folded, while the state still has what the part changed.
    package var afterPart: ((Projector) throws(SyncError) -> Void)?

    /// Whether most records are events, folded or not.
    package var isOfEvents: Bool { eventCount > otherCount }

    /// - Parameter projector: The state before the first event.
    package init(_ projector: Projector) {
        self.projector = projector
    }

    /// The version of a row of which only the id is known: no server has it, so a push of the row becomes a conflict.
    static let unknownVersion = Value.string("unknown")

    package func fold(_ record: UnsafeRawBufferPointer, number: UInt64) throws(SyncError) {
        var event: Event?
        var isWhole = try attempt { () throws(SyncError) in event = try Event(record) }
        switch event?.body {
        case nil: break
        case .local(let transaction): isWhole = try fold(transaction, number)
        case .sent(let operations):
            for operation in operations {
                let isFolded = try attempt { () throws(SyncError) in
                    try PushFold(state: projector.state).apply(operation)
                }
                isWhole = isWhole && isFolded
            }
        case .carried(_, let rows):
            for row in rows {
                if try attempt({ () throws(SyncError) in try projector.local.check(row) }) { continue }
                let isFolded = try attempt { () throws(SyncError) in try projector.state.restore(row) }
                isWhole = isWhole && isFolded
            }
        default:
            isWhole = try attempt { () throws(SyncError) in
                if let event { try projector.apply(event, number: number) }
            }
        }
        if !isWhole { leftOut.append(number) }
        if event == nil { otherCount += 1 } else { eventCount += 1 }
        end(at: number)
    }

    /// All events through `last` have been folded or are lost.
    package func end(at last: UInt64) {
        projector.state.through = last
        projector.store.endCommit()
    }

    private func fold(_ transaction: LocalTransaction, _ number: UInt64) throws(SyncError) -> Bool {
        var group = ChangeGroup()
        var isWhole = true
        for (index, change) in transaction.changes.enumerated() {
            let position = Position(event: number, index: UInt32(index))
            let isFolded = try attempt { () throws(SyncError) in
                try projector.state.layGround(for: change)
                let isMade = try projector.local.apply(change, at: position, isGrouped: transaction.heading.isGrouped)
                group.add(isMade: isMade, isLocal: projector.state.types.isLocal(change.table))
            }
            isWhole = isWhole && isFolded
        }
        try projector.local.end(group, number, transaction.heading)
        return isWhole
    }

    /// Runs a body that leaves no trace if it fails; returns false then.
    private func attempt(_ body: () throws(SyncError) -> Void) throws(SyncError) -> Bool {
        let store = projector.store
        let mark = projector.state.mark
        store.beginChanges()
        defer { store.endChanges() }
        do throws(SyncError) {
            try body()
            try afterPart?(projector)
            return true
        } catch {
            // Any other error is one of reading the state: the event may be valid.
            if error.code == .storeNewer { newer = newer ?? error } else if error.malformedPart == nil { throw error }
            try store.takeBack(to: 0)
            projector.state.takeBack(to: mark)
            return false
        }
    }
}

extension FoldState {
    /// The row that a change was made on is lost, but the fact that a server had it is not: the change is applied to a
    /// row of unknown version.
    fileprivate func layGround(for change: LocalChange) throws(SyncError) {
        guard let version = change.baseVersion, !version.isNull else { return }
        let key = rowKey(change.table, change.id)
        let (found, old) = try entry(key)
        guard found?.base == nil, found?.pending == nil else { return }
        var entry = found ?? RowEntry()
        entry.take(base: .unknown, isAnswer: false)
        try write(entry, key, old: old)
    }

    /// Puts a carried row into the outbox, in place of the row's present changes.
    fileprivate func restore(_ carried: CarriedRow) throws(SyncError) {
        let key = rowKey(carried.table, carried.id)
        let (found, old) = try entry(key)
        var entry = found ?? RowEntry()
        if ids == .ignoreCase, entry.spelling == nil { entry.spelling = carried.id }
        if let pending = entry.pending {
            try drop(chain(of: pending))
            totals.superseded += UInt64(pending.count)
        }
        if entry.base == nil {
            if let frozen = carried.frozen {
                entry.base =
                    if let rival = frozen.rival { rival.base } else if frozen.status == .conflict { frozen.server } else
                    {
                        frozen.ancestor
                    }
            } else if carried.changes.first?.kind != .insert {
                entry.base = .unknown
            }
        }
        entry.isRightLost = entry.base == nil && carried.frozen?.code == ConflictReason.rightLost.rawValue
        let links = carried.changes.map { change in
            var entry = JournalEntry(kind: change.kind, rowKey: key)
            entry.replaces = change.replaces
            entry.cancels = change.cancels
            entry.revives = change.revives
            entry.isResolution = change.isResolution
            return ChainLink(position: change.position, change: entry, columns: change.columns, stored: nil)
        }
        if let first = links.first { count(links.count, since: first.position.event) }
        rebuild(&entry, from: links, frozen: carried.frozen, decidesAgain: false)
        try write(entry, key, old: old)
    }
}

extension Row {
    fileprivate static var unknown: Row { Row([.init("version", RescueFold.unknownVersion)]) }
}
