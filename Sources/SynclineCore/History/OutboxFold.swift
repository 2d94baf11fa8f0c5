// Follows the outbox through a history without folding all of it. Most changes make a round trip: a row is changed, and the
// change is sent and done before anything else happens to the row. Whatever the row has, a trip leaves nothing in the
// outbox, so it is only counted. A row to which anything else happens is folded from the beginning of the history: if it
// is found too late, the history is read again.

import SynclineGround

/// The rows of a history that are folded.
package struct FoldedRows: Sendable {
    /// The hashes of their keys. Rows that share one are both folded.
    fileprivate var hashes: Set<UInt64> = []
    package fileprivate(set) var areAll: Bool

    package init(areAll: Bool = false) {
        self.areAll = areAll
    }
}

package struct OutboxFold {
    /// A change that is on its round trip, or has ended it.
    package struct Trip {
        package let position: Position
        package let rowKey: [UInt8]
        package let kind: OperationKind
        /// The id of the operation that was sent, encoded.
        fileprivate var operationID: [UInt8]?
    }

    package enum Effect {
        /// A change began or continued its trip, or the outbox stays as it is.
        case none
        case done(Trip)
        /// What the fold of the event does.
        case folded
    }

    package let projector: Projector
    private var trips: [UInt64: Trip] = [:]
    private var begun: UInt64 = 0
    private var ended: UInt64 = 0
    /// The rows that a further reading must fold, if this one is not exact.
    package private(set) var rows: FoldedRows
    /// Whether all rows that must be folded were known in time.
    package private(set) var isExact = true

    package init(from start: Projector, folding rows: FoldedRows) throws(SyncError) {
        projector = start
        self.rows = rows
        if rows.areAll { return }
        let reader = start.reader(of: start.store.snapshot)
        try reader.forEachChange { _, change in
            self.rows.hashes.insert(hash64(change.rowKey))
            return true
        }
        for key in try reader.heldKeys() { self.rows.hashes.insert(hash64(key)) }
    }

    // MARK: The outbox

    package var totals: ChangeCounts {
        var totals = projector.totals
        totals.made += begun
        totals.done += ended
        return totals
    }

    /// The number of operations that a push would send.
    package var toPush: Int {
        get throws(SyncError) { try PushCounts(projector.reader(of: projector.store.snapshot)).toPush + tripCount }
    }

    /// The first event that has a change in the outbox.
    package var oldestPending: UInt64? {
        get throws(SyncError) {
            let folded = try projector.reader(of: projector.store.snapshot).oldestPending
            return (trips.values.map(\.position.event) + (folded.map { [$0] } ?? [])).min()
        }
    }

    /// The changes that are on their trips.
    package var left: some Sequence<Trip> { trips.values }
    var tripCount: Int { trips.count }

    // MARK: Events

    /// Takes the next event completely.
    package mutating func apply(_ record: UnsafeRawBufferPointer, number: UInt64) throws(SyncError) {
        if case .folded = try take(record, number: number) { try fold(record, number: number) }
    }

    /// Takes the next event, except for what has to be folded.
    package mutating func take(_ record: UnsafeRawBufferPointer, number: UInt64) throws(SyncError) -> Effect {
        if !rows.areAll {
            var reader = try EventReader(record, projector.shapes)
            projector.state.through = number
            do {
                let effect = try effect(of: &reader, number)
                if isExact { return effect }
            } catch {
                // The fold says what is wrong with it.
                foldAll()
            }
        }
        return isExact ? .folded : .none
    }

    /// Folds an event as far as it concerns the rows that are folded.
    package func fold(_ record: UnsafeRawBufferPointer, number: UInt64) throws(SyncError) {
        if rows.areAll {
            try projector.apply(record, number: number)
        } else {
            let (state, hashes) = (projector.state, rows.hashes)
            try projector.apply(Event(record, shapes: projector.shapes), number: number) { table, id in
                hashes.contains(hash64(state.rowKey(table, id)))
            }
        }
        try projector.store.settle(above: 16 << 20)
    }

    private mutating func effect(of reader: inout EventReader, _ number: UInt64) throws -> Effect {
        switch reader.kind {
        case .opened, .cursorReset, .indexed, .carried: return .none
        case .local: return try takeLocal(&reader, number)
        case .sent: return try takeSent(&reader)
        case .answered: return try takeAnswer(&reader)
        case .page where trips.isEmpty && rows.hashes.isEmpty: return .none
        case .page, .resolved, .discarded, .purged:
            let event = try reader.event()
            if case .purged(let purge) = event.body, purge.ids == nil {
                leaveAll()
                return .folded
            }
            return takeNamed(event)
        case .undone, .configured, .declared, .typed, .serverWorked:
            takeUnnamed(try reader.event())
            return .folded
        }
    }

    private mutating func takeLocal(_ reader: inout EventReader, _ number: UInt64) throws -> Effect {
        _ = try reader.transaction()
        var (index, effect) = (UInt32(0), Effect.none)
        while !reader.isAtEnd {
            let change = try reader.encodedChange()
            let hash = try hash(change.table, change.id)
            if rows.hashes.contains(hash) {
                if change.flags.contains(.contested) { leaveInserts() }
                effect = .folded
            } else if trips[hash] == nil, makesTrip(change) {
                trips[hash] = Trip(
                    position: Position(event: number, index: index), rowKey: projector.state.scratch.key.bytes,
                    kind: change.kind)
                begun += 1
            } else {
                leave(hash)
            }
            index += 1
        }
        return effect
    }

    /// Whether a change of a row without other changes is sent as it is.
    private func makesTrip(_ change: EncodedChange) -> Bool {
        change.flags.isDisjoint(with: [.replaces, .cancels, .contested])
            && !CompactorRule.isEmpty(change.kind, hasColumns: !change.shape.names.isEmpty)
            && projector.state.localColumns(of: change.table) == nil && !projector.state.types.isLocal(change.table)
    }

    private mutating func takeSent(_ reader: inout EventReader) throws -> Effect {
        var effect = Effect.none
        while !reader.isAtEnd {
            let hash = try hash(reader.name(), reader.encodedValue())
            let operationID = try reader.encodedValue()
            let (position, through) = (try reader.position(), try reader.position())
            if rows.hashes.contains(hash) {
                effect = .folded
            } else if let trip = trips[hash], trip.operationID == nil, trip.position == position, position == through,
                operationID.first != ValueTag.null
            {
                trips[hash]?.operationID = [UInt8](operationID)
            } else {
                leave(hash)
            }
        }
        return effect
    }

    private mutating func takeAnswer(_ reader: inout EventReader) throws -> Effect {
        let hash = try hash(reader.name(), reader.encodedValue())
        if rows.hashes.contains(hash) { return .folded }
        let operationID = try reader.encodedValue()
        _ = try reader.number()
        let isDone = try reader.number() == 0
        guard isDone, let trip = trips[hash], let sent = trip.operationID,
            sent.withBytes({ $0.hasSameBytes(as: operationID) })
        else {
            leave(hash)
            return .none
        }
        trips[hash] = nil
        ended += 1
        return .done(trip)
    }

    /// An event after which a row in the outbox is not on a trip any more.
    private mutating func takeNamed(_ event: Event) -> Effect {
        var effect = Effect.none
        for row in event.rows {
            let hash = hash64(projector.state.rowKey(row.table, row.id))
            if rows.hashes.contains(hash) {
                effect = .folded
            } else if trips[hash] != nil || event.kind == .resolved || event.kind == .discarded {
                leave(hash)
            }
        }
        if case .folded = effect { leaveInserts() }
        return effect
    }

    private mutating func takeUnnamed(_ event: Event) {
        switch event.body {
        case .undone(let undone):
            for (hash, trip) in trips where trip.position.event == undone { leave(hash) }
        case .configured(let name, _):
            if name == SettingName.ids, !trips.isEmpty || !rows.hashes.isEmpty { foldAll() }
            guard let row = Hold.row(name) else { return }
            let hash = hash64(projector.state.rowKey(row.table, row.id))
            if !rows.hashes.contains(hash) { leave(hash) }
        case .declared, .typed: leaveAll()
        default: break
        }
    }

    // MARK: Rows

    /// The hash of a row's key, which is then in the scratch memory.
    private func hash(_ table: String, _ encodedID: Bytes) throws(MalformedBytes) -> UInt64 {
        let state = projector.state
        guard state.ids == .exact else {
            var reader = ByteReader(encodedID)
            guard case .string(let id) = try reader.value() else { throw MalformedBytes() }
            return hash64(state.rowKey(table, id))
        }
        state.scratch.key.removeAll()
        var table = table
        guard table.withUTF8({ state.scratch.key.append(rowKey: Bytes($0), encodedID: encodedID) }) else {
            throw MalformedBytes()
        }
        return state.scratch.key.withView { hash64($0) }
    }

    /// A row was found that must be folded.
    private mutating func leave(_ hash: UInt64) {
        trips[hash] = nil
        rows.hashes.insert(hash)
        isExact = false
    }

    private mutating func leaveAll() {
        for hash in Array(trips.keys) { leave(hash) }
    }

    /// The place of a conflict in the outbox depends on inserts of other rows.
    private mutating func leaveInserts() {
        for (hash, trip) in trips where trip.kind == .insert { leave(hash) }
    }

    private mutating func foldAll() {
        rows.areAll = true
        isExact = false
    }
}

private func hash64(_ key: [UInt8]) -> UInt64 { key.withBytes { hash64($0) } }
