// The fold: computes the next state from a state and an event. It does no I/O of its own and reads no clock and no
// random numbers, so the same events give the same bytes everywhere.

import SynclineGround

package final class Projector: ShapeNumbering {
    package let store: StateStore
    package let shapes: ShapeTable
    // Unchecked, like the members below: a fold never calls back into its projector.
    @exclusivity(unchecked) package private(set) var ids: IDComparison
    @exclusivity(unchecked) package internal(set) var totals: Totals
    /// The declared indexes.
    @exclusivity(unchecked) var indexes = IndexList()
    /// The schema that the store has recorded.
    @exclusivity(unchecked) package internal(set) var declaration: Declaration?
    /// The last event that was folded.
    @exclusivity(unchecked) package internal(set) var through: UInt64

    /// Raised with every change of the fold or of the state's encoding: older checkpoints are then rebuilt from the
    /// events.
    package static let version: UInt32 = 6

    /// Scratch memory for one key and one value. Nothing in it outlives the function that wrote it.
    struct Scratch {
        var key = ByteWriter(capacity: 128)
        var value = ByteWriter(capacity: 1024)
    }

    @exclusivity(unchecked) var scratch = Scratch()
    /// The shape that was written last, which the next row usually has too.
    @exclusivity(unchecked) private var latestShape: (shape: RowShape, number: Int)?

    package init(
        store: StateStore = StateStore(), through: UInt64 = 0, totals: Totals = Totals()
    ) throws(StateError) {
        self.store = store
        self.through = through
        self.totals = totals
        shapes = try ShapeTable(reading: store.snapshot)
        ids = try StateReader(store.snapshot, shapes).idComparison
        indexes = try StateReader(store.snapshot, shapes).allIndexes()
        declaration = try StateReader(store.snapshot, shapes).declaration
    }

    /// Folds a record of the log.
    package func apply(_ record: UnsafeRawBufferPointer, number: UInt64) throws(StateError) {
        var reader = try EventReader(record, shapes)
        if reader.kind == .local {
            try applyLocal(&reader, number: number)
        } else {
            try apply(try reader.event(), number: number)
        }
    }

    package func apply(_ event: Event, number: UInt64) throws(StateError) {
        switch event.body {
        case .opened(let opening): try apply(opening)
        case .configured(let name, let value):
            try put(setting: name, value)
            if name == SettingName.ids { ids = value == .string("ignore-case") ? .ignoreCase : .exact }
        case .local(let transaction):
            var made = 0
            for (index, change) in transaction.changes.enumerated() {
                let position = Position(event: number, index: UInt32(index))
                if try apply(change, at: position, isGrouped: transaction.isGrouped) { made += 1 }
            }
            if transaction.isGrouped { endGroup(number, count: made) }
        case .undone(let undone):
            try undo(undone)
        case .page(let page):
            try apply(page, number: number)
        case .purged(let purge):
            try apply(purge)
        case .indexed(let change): try apply(change)
        case .cursorReset(let table, let queryID):
            try putCursor(table, queryID, nil)
        case .sent(let operations):
            for operation in operations { try apply(operation) }
        case .answered(let answer):
            try apply(answer)
        case .resolved(let resolution):
            try apply(resolution, number: number)
        case .declared(let declaration, let steps):
            try apply(declaration, steps)
        case .discarded(let table, let id):
            try discard(table, id)
        case .serverWorked:
            try noteThatServerWorks()
        case .carried(_, let rows):
            for row in rows { try check(row) }
        }
        through = number
    }

    /// The part of a projector that is not in the store.
    package struct Mark: Sendable {
        let shapes: Int
        let ids: IDComparison
        let indexes: IndexList
        let declaration: Declaration?
        package let totals: Totals
        package let through: UInt64
    }

    package var mark: Mark {
        Mark(
            shapes: shapes.count, ids: ids, indexes: indexes, declaration: declaration, totals: totals, through: through
        )
    }

    /// Returns to an earlier mark after the store has returned to it. Nothing is read, so nothing can fail.
    package func takeBack(to mark: Mark) {
        shapes.removeAll(after: mark.shapes)
        latestShape = nil
        ids = mark.ids
        indexes = mark.indexes
        declaration = mark.declaration
        totals = mark.totals
        through = mark.through
    }

    // MARK: Reading and writing the state

    /// Reads a snapshot of the current state.
    package func reader(of snapshot: StateSnapshot) -> StateReader {
        StateReader(snapshot, shapes, StateFacts(ids: ids, indexes: indexes))
    }

    package func rowKey(_ table: String, _ id: String) -> [UInt8] {
        scratch.key.removeAll()
        var (table, id) = (table, id)
        table.withUTF8 { table in
            id.withUTF8 { scratch.key.append(rowKey: Bytes(table), id: Bytes($0), ids) }
        }
        return scratch.key.bytes
    }

    /// A table's columns that never leave the device; nil if it has none.
    func localColumns(of table: String) -> Set<String>? {
        declaration?.localColumns(of: table)
    }

    func value(_ key: [UInt8]) throws(StateError) -> StateValue? {
        try key.withBytes { key throws(StateError) in try store.value(key) }
    }

    func put(_ key: [UInt8], _ value: [UInt8], old: StateValue?) {
        key.withUnsafeBytes { key in value.withUnsafeBytes { store.put(key, $0, old: old) } }
    }

    func remove(_ key: [UInt8], old: StateValue) {
        key.withUnsafeBytes { store.remove($0, old: old) }
    }

    /// The state's entry of a row, decoded, and its bytes.
    package func entry(_ key: [UInt8]) throws(StateError) -> (entry: RowEntry?, old: StateValue?) {
        guard let old = try value(key) else { return (nil, nil) }
        return (try RowEntry(old, shapes), old)
    }

    func write(_ entry: consuming RowEntry, _ key: [UInt8], old: StateValue?) throws(StateError) {
        try settleDefaults(&entry, key)
        if let local = entry.local, local.isEmpty || entry.base == nil && entry.pending == nil { entry.local = nil }
        if !indexes.isEmpty {
            var before: RowEntry?
            if let old { before = try RowEntry(old, shapes) }
            try reindex(key, from: before, to: entry)
        }
        if entry.isEmpty {
            if let old { remove(key, old: old) }
            return
        }
        scratch.value.removeAll()
        scratch.value.append(entry: entry, self)
        put(key, scratch.value.bytes, old: old)
    }

    func journalKey(_ position: Position) -> [UInt8] {
        scratch.key.removeAll()
        scratch.key.append(journalKey: position)
        return scratch.key.bytes
    }

    func journal(_ position: Position) throws(StateError) -> (entry: JournalEntry, old: StateValue) {
        guard let old = try value(journalKey(position)) else {
            throw .malformed("the outbox lacks the change \(position.event).\(position.index), which")
        }
        return (try JournalEntry(old, shapes), old)
    }

    func write(_ entry: JournalEntry, at position: Position, old: StateValue?) {
        scratch.value.removeAll()
        entry.encode(into: &scratch.value, self)
        put(journalKey(position), scratch.value.bytes, old: old)
    }

    /// The number of a shape; a new shape is added to the state.
    package func number(of shape: RowShape) -> Int {
        if let latest = latestShape, latest.shape === shape { return latest.number }
        let number = findNumber(of: shape)
        latestShape = (shape, number)
        return number
    }

    private func findNumber(of shape: RowShape) -> Int {
        if let number = shapes.number(of: shape) { return number }
        let number = shapes.add(shape)
        var key = ByteWriter()
        key.append(shapeKey: number)
        put(key.bytes, shape.encodedNames, old: nil)
        return number
    }

    func put(setting name: String, _ newValue: Value?) throws(StateError) {
        let key = StateReader.settingKey(name)
        let old = try value(key)
        if let newValue {
            var writer = ByteWriter()
            writer.append(value: newValue)
            put(key, writer.bytes, old: old)
        } else if let old {
            remove(key, old: old)
        }
    }

    /// The device that writes from now on: a copy of the store has a device of its own.
    private func apply(_ opening: Opening) throws(StateError) {
        if !opening.device.isEmpty { try put(setting: SettingName.device, .string(opening.device)) }
        if let place = opening.place { try put(setting: SettingName.place, .string(place)) }
    }

    func putCursor(_ table: String, _ queryID: String, _ cursor: CursorState?) throws(StateError) {
        var key = ByteWriter()
        key.append(cursorKey: table, queryID)
        let old = try value(key.bytes)
        if let cursor {
            var writer = ByteWriter()
            writer.append(cursor: cursor)
            put(key.bytes, writer.bytes, old: old)
        } else if let old {
            remove(key.bytes, old: old)
        }
    }
}
