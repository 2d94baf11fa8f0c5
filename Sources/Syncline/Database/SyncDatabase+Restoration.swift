// Restorations: rows become again as they were, by ordinary changes that are pushed and can be undone.

public import SynclineCore

extension StoreSnapshot {
    /// Returns the changes that would put rows back as they were in this state. Nothing is stored: look at them, then call
    /// ``SyncDatabase/restore(_:)``.
    ///
    /// Columns that a migration renamed since are restored under their new names, and dropped ones are left out. A value
    /// that no longer fits its column's type is an error.
    @concurrent
    public func restoration(of rows: RestorationScope) async throws(SyncError) -> Restoration {
        let current = writer.current
        let (past, present) = (try reader, try current.reader)
        let steps = try HistoryReading.run(storage) { () throws(SyncError) in
            try EventWalk(storage).migrations(since: past, event.rawValue, until: present, current.through)
        }
        return try Restoration(of: rows, to: past, from: present, since: steps)
    }
}

extension SyncDatabase {
    /// Returns the changes that would take back those of an event, also if they were sent. Later changes of other columns
    /// and rows stay.
    @concurrent
    public func restoration(undoing event: EventNumber) async throws(SyncError) -> Restoration {
        let current = writer.current
        let present = try current.reader
        guard event.rawValue > 0, event.rawValue <= current.through else {
            throw SyncError(.operationNotFound, "there is no event @\(event)", hint: "The last is @\(current.through).")
        }
        let (number, last) = (event.rawValue, current.through)
        return try readHistory { () throws(SyncError) in
            let loader = StateLoader(storage)
            let before = try loader.state(through: number - 1)
            let after = try loader.state(through: number)
            let walk = EventWalk(storage)
            let steps = (
                before: try walk.migrations(since: before, number - 1, until: present, last),
                after: try walk.migrations(since: after, number, until: present, last)
            )
            let rows = try loader.differences(from: number - 1, to: number)
                .map { RowKey(table: $0.table, id: $0.id) }
            return try Restoration(
                undoing: try walk.sorted(rows, asIn: number), before: before, after: after, from: present, since: steps)
        }
    }

    /// Makes the changes of a restoration, in one transaction. Returns its event, or nil if there are none. Throws
    /// `stale-item` if one of the rows has changed since the restoration was made; then nothing is stored.
    @discardableResult
    @concurrent
    public func restore(_ restoration: Restoration) async throws(SyncError) -> EventNumber? {
        let event = try await perform { engine throws(SyncError) in
            try engine.local(TransactionHeading(isGrouped: true)) { transaction throws(SyncError) in
                try restoration.check(engine.reader)
                for part in restoration.parts { try transaction.restore(part) }
            }.event
        }
        return event.map { EventNumber(rawValue: $0) }
    }
}

extension SyncTransaction {
    fileprivate func restore(_ part: Restoration.Part) throws(SyncError) {
        let change = part.difference
        switch (change.before, change.after) {
        case (nil, _): try insert(change.table, id: change.id, columns: part.columns)
        case (_?, nil): try delete(change.table, id: change.id)
        case (_?, _?): try writer.change(.update, change.table, change.id, part.columns)
        }
    }
}

extension StateLoader {
    func state(through event: UInt64) throws(SyncError) -> StateReader {
        let projector = try load(through: event)
        return projector.reader(of: projector.store.endCommit())
    }
}

extension EventWalk {
    /// The migrations between two states of a store.
    fileprivate func migrations(
        since past: StateReader, _ first: UInt64, until present: StateReader, _ last: UInt64
    ) throws(SyncError) -> [SchemaStep] {
        // Each migration raises the version.
        if try past.declaration?.version == present.declaration?.version { return [] }
        var steps: [SchemaStep] = []
        let shapes = ShapeTable()
        try forEachRecord(from: first + 1) { number, record throws(SyncError) in
            if number > last { return false }
            guard try EventReader(record, shapes).kind == .declared else { return true }
            if case .declared(_, let made) = try Event(record, shapes: shapes).body { steps += made }
            return true
        }
        return steps
    }

    /// Rows in the order in which an event first changed them.
    fileprivate func sorted(_ rows: [RowKey], asIn event: UInt64) throws(SyncError) -> [RowKey] {
        var places: [RowKey: Int] = [:]
        try forEachRecord(from: event) { _, record throws(SyncError) in
            guard case .local(let transaction) = try Event(record, shapes: ShapeTable()).body else { return false }
            for (place, change) in transaction.changes.enumerated() {
                let row = RowKey(table: change.table, id: change.id)
                if places[row] == nil { places[row] = place }
            }
            return false
        }
        return rows.enumerated()
            .sorted { (places[$0.element] ?? .max, $0.offset) < (places[$1.element] ?? .max, $1.offset) }
            .map(\.element)
    }
}
