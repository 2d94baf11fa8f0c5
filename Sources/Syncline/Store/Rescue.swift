// Builds a new store from what remains of a damaged one, which is only read. The new store has the state of the
// newest intact checkpoint plus all intact later events, and as much history as leads to that state without a gap.

package import SegmentLog
package import SynclineCore

/// The result of a rescue.
package struct Rescue: Sendable {
    /// The first event of the new store's history.
    package private(set) var first: UInt64
    /// The number of events kept from the damaged store's history.
    package private(set) var events: UInt64
    /// The number of readable events that are part of the new store's first state, and not of its history.
    package private(set) var folded: UInt64
    /// Events of the damaged store that can't be read.
    package private(set) var lost: [SequenceRange]
    /// Events that can be read but are invalid without the lost ones.
    package private(set) var leftOut: [UInt64]
    /// The damaged store's log.
    package private(set) var identity: LogIdentity
    /// Segments that belong to another log.
    package private(set) var foreign: [String]
    /// Whether the new store has the newest state, and not only a part of it.
    package private(set) var isWhole: Bool
    /// Whether it is known that no event is missing after the last one.
    package private(set) var endIsKnown: Bool
    /// Whether nothing readable says the store's settings, such as its backend and protocol.
    package private(set) var settingsAreLost: Bool

    /// The log is read several times, and it has to be the same each time.
    private static let changed = SyncError(
        .storeLocked, "the store changed while it was read", hint: "Close it first, and repeat the rescue.")

    /// Runs the rescue; no writer may have the store open. Returns nil if the log holds no event and so is not a store.
    package static func run(
        from damaged: any LogStorage, to fresh: any LogStorage, now: Int64
    ) throws(SyncError) -> Rescue? {
        let reading = try damaged.salvage()
        let source = Source(
            storage: damaged, reading: reading, checkpoints: try CheckpointFile.true(damaged, reading.identity))
        for base in source.wholeBases {
            let fold = try source.fold(from: base)
            guard try source.isStore(fold) else { return nil }
            if fold.leftOut.isEmpty { return try source.copy(after: base, fold.projector, to: fresh) }
        }
        let fold = try source.fold(from: source.checkpoints.last ?? 0)
        return try source.isStore(fold) ? source.cut(fold, to: fresh, now: now) : nil
    }

    /// The checkpoints and events that can be used.
    private struct Source {
        let storage: any LogStorage
        let reading: SalvageReading
        /// The last events of the checkpoints, oldest first.
        let checkpoints: [UInt64]

        var last: UInt64 { max(reading.last.rawValue, checkpoints.last ?? 0) }

        /// The base states that lead to the newest state without a gap, oldest first: a checkpoint's last event, or
        /// 0 for the empty state.
        var wholeBases: [UInt64] {
            var first = last + 1
            if let whole = reading.whole.last, whole.last.rawValue == last { first = whole.first.rawValue }
            return ([0] + checkpoints).filter { $0 + 1 >= first }
        }

        var lost: [SequenceRange] {
            var lost = reading.lost
            let first = reading.first
            // If no state precedes the first event, more may have been removed or lost than HEAD says.
            if first > .first, !checkpoints.contains(where: { $0 + 1 >= first.rawValue }) {
                lost.insert(SequenceRange(first: .first, last: first.previous), at: 0)
            }
            let unread = SequenceRange(first: reading.last.next, last: SequenceNumber(rawValue: last))
            return unread.isEmpty ? lost : lost + [unread]
        }

        /// Returns whether the log is a store's. Throws if a newer version wrote to it.
        func isStore(_ fold: RescueFold) throws(SyncError) -> Bool {
            if checkpoints.isEmpty, !fold.isOfEvents { return false }
            if let newer = fold.newer { throw newer }
            return true
        }

        func projector(at base: UInt64) throws(SyncError) -> Projector {
            if base == 0 { return try Projector() }
            return try CheckpointFile.open(
                storage, SequenceNumber(rawValue: base), reading.identity, removesDamaged: false)
        }

        /// Folds all intact events onto a base state.
        func fold(from base: UInt64) throws(SyncError) -> RescueFold {
            let fold = RescueFold(try projector(at: base))
            if base == 0, reading.first > .first { try set(fold) }
            try forEach(after: base) { _, number, records throws(SyncError) in
                var number = number
                try records.forEach { record throws(SyncError) in
                    try fold.fold(record, number: number)
                    try fold.projector.store.settle(above: 16 << 20)
                    number += 1
                }
            }
            return fold
        }

        /// Sets what is set, as the remaining events say it first. The events that set it are lost, and how a change is
        /// folded depends on it.
        private func set(_ fold: RescueFold) throws(SyncError) {
            var names: Set<String> = []
            try forEach(after: 0) { _, _, records throws(SyncError) in
                try records.forEach { record throws(SyncError) in
                    guard case .configured(let name, _)? = (try? Event(record))?.body, names.insert(name).inserted
                    else { return }
                    try fold.fold(record, number: 0)
                }
            }
        }

        /// Calls `body` with each complete transaction after an event, with its time and the number of its first
        /// record.
        private func forEach(
            after base: UInt64, _ body: (WallTime, UInt64, RecordBatch) throws(SyncError) -> Void
        ) throws(SyncError) {
            try storage.salvage { first, time, batch throws(SyncError) in
                guard first.rawValue + UInt64(batch.count) > base + 1 else { return }
                let known = base + 1 - min(base + 1, first.rawValue)
                try body(time, first.rawValue + known, batch.dropping(Int(known)))
            }
        }

        // MARK: The new store

        /// Copies a base state and all events after it. `end` is the state they lead to.
        func copy(after base: UInt64, _ end: Projector, to fresh: any LogStorage) throws(SyncError) -> Rescue {
            let clock = FrameClock()
            let log =
                base == 0
                ? try fresh.createLog(after: 0, .init(syncsWhenIdle: false), clock: clock)
                : try StateTransfer.begin(fresh, with: try projector(at: base), clock: clock)
            var next = base + 1
            try forEach(after: base) { time, number, batch throws(SyncError) in
                guard number == next else { throw Rescue.changed }
                clock.set(time)
                next += UInt64(batch.count)
                try log.add(batch)
            }
            guard next == last + 1 else { throw Rescue.changed }
            try log.makeDurable()
            if end.through > base { try StateTransfer.checkpoint(end, in: log) }
            try log.end()
            return try rescue(after: base, to: end, leftOut: [], isWhole: true)
        }

        /// Creates a store that begins with the folded state. Its log records the pending changes again, and resets
        /// every query's cursor because pages may be lost.
        func cut(_ fold: RescueFold, to fresh: any LogStorage, now: Int64) throws(SyncError) -> Rescue {
            let projector = fold.projector
            fold.end(at: last)
            let log = try StateTransfer.begin(fresh, with: projector)
            let state = projector.reader(of: projector.store.snapshot)
            // One at a time: an outbox may be larger than a batch.
            try state.forEachCarriedEvent(through: last) { event throws(SyncError) in
                try log.add(RecordBatch(Event(time: now, event).bytes))
            }
            for cursor in try state.cursors() {
                let page = PulledPage(
                    table: cursor.table, queryID: cursor.queryID, rows: [],
                    cursor: .beginning(of: cursor.state.query, now: now))
                try log.add(RecordBatch(Event(time: now, .page(page)).bytes))
            }
            try log.makeDurable()
            try log.end()
            return try rescue(after: last, to: projector, leftOut: fold.leftOut, isWhole: false)
        }

        /// The result: a store whose history begins after an event.
        private func rescue(
            after base: UInt64, to end: Projector, leftOut: [UInt64], isWhole: Bool
        ) throws(SyncError) -> Rescue {
            let known = try end.reader(of: end.store.snapshot).setting(SettingName.serverProtocol)
            let first = SequenceNumber(rawValue: base).next
            let folded = reading.whole.reduce(UInt64(0)) { count, range in
                count + SequenceRange(first: range.first, last: min(range.last, first.previous)).count
            }
            return Rescue(
                first: first.rawValue, events: last - base, folded: folded, lost: lost, leftOut: leftOut,
                identity: reading.identity, foreign: reading.foreign, isWhole: isWhole, endIsKnown: reading.endIsKnown,
                settingsAreLost: known == nil && !lost.isEmpty)
        }
    }
}

extension RecordBatch {
    /// Returns the records after the first `count`.
    fileprivate func dropping(_ count: Int) -> RecordBatch {
        if count == 0 { return self }
        var rest = RecordBatch()
        var index = 0
        forEach { record in
            if index >= count { rest.append(record) }
            index += 1
        }
        return rest
    }
}

extension CursorState {
    /// Returns the initial cursor of a query, before anything was pulled.
    static func beginning(of query: String, now: Int64) -> CursorState {
        CursorState(.time(Timestamp(Timestamp.Instant(milliseconds: 0))), query: query, updated: now)
    }
}
