// The state that a fold reads and writes: the entries, the part of them that is kept decoded, and access to both. The
// folds of all kinds of events share it.

import SynclineGround

package final class FoldState: ShapeNumbering {
    package let store: StateStore
    package let shapes: ShapeTable
    // Unchecked, like the members below: a fold is never called from within itself.
    @exclusivity(unchecked) package internal(set) var ids: IDComparison
    @exclusivity(unchecked) package internal(set) var totals: ChangeCounts
    /// The declared indexes.
    @exclusivity(unchecked) package internal(set) var indexes = IndexList()
    /// The declared types of columns.
    @exclusivity(unchecked) package internal(set) var types = TypeCatalog()
    /// Whether rows may be listed as unreadable; false only if none is.
    @exclusivity(unchecked) var hasUnreadableRows = false
    /// An undo before which none can be redone; nil only if none can.
    @exclusivity(unchecked) var firstUndone: UInt64?
    /// An event before which no change is in the outbox; nil only if it is empty.
    @exclusivity(unchecked) var firstChange: UInt64?
    /// The schema that the store has recorded.
    @exclusivity(unchecked) package internal(set) var declaration: Declaration?
    /// The last event that was folded.
    @exclusivity(unchecked) package internal(set) var through: UInt64

    /// Scratch memory for one key and one value. Nothing in it outlives the function that wrote it.
    struct Scratch {
        var key = ByteWriter(capacity: 128)
        var value = ByteWriter(capacity: 1024)
    }

    @exclusivity(unchecked) var scratch = Scratch()
    /// The shape that was written last, which the next row usually has too.
    @exclusivity(unchecked) private var latestShape: (shape: RowShape, number: Int)?

    init(store: StateStore, through: UInt64, totals: ChangeCounts) throws(SyncError) {
        self.store = store
        self.through = through
        self.totals = totals
        shapes = try ShapeTable(reading: store.snapshot)
        ids = try StateReader(store.snapshot, shapes).idComparison
        types = try StateReader(store.snapshot, shapes).types
        indexes = try StateReader(store.snapshot, shapes).allIndexes(types)
        hasUnreadableRows = try store.snapshot.firstKey(from: [Keyspace.unreadable])?.first == Keyspace.unreadable
        firstUndone = try store.snapshot.firstKey(from: [Keyspace.undone])?.first == Keyspace.undone ? 0 : nil
        firstChange = totals.pending == 0 ? nil : 0
        declaration = try StateReader(store.snapshot, shapes).declaration
    }

    /// Counts changes of an event, or of later ones, that enter the outbox.
    func count(_ changes: Int = 1, since event: UInt64) {
        firstChange = totals.pending == 0 ? event : min(firstChange ?? event, event)
        totals.made += UInt64(changes)
    }

    /// Reads a snapshot of the current state.
    func reader(of snapshot: StateSnapshot) -> StateReader {
        StateReader(
            snapshot, shapes,
            StateFacts(
                ids: ids, indexes: indexes, types: types, pending: totals.pending, firstChange: firstChange,
                firstUndone: firstUndone))
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
    func localColumns(of table: String) -> Set<ExactString>? {
        declaration?.localColumns(of: table)
    }

    func value(_ key: [UInt8]) throws(SyncError) -> StateValue? {
        try key.withBytes { key throws(SyncError) in try store.value(key) }
    }

    func put(_ key: [UInt8], _ value: [UInt8], old: StateValue?) {
        key.withUnsafeBytes { key in value.withUnsafeBytes { store.put(key, $0, old: old) } }
    }

    func remove(_ key: [UInt8], old: StateValue) {
        key.withUnsafeBytes { store.remove($0, old: old) }
    }

    /// Writes an entry, or removes it if there is no value.
    func set(_ key: [UInt8], _ newValue: [UInt8]?) throws(SyncError) {
        let old = try value(key)
        if let newValue {
            put(key, newValue, old: old)
        } else if let old {
            remove(key, old: old)
        }
    }

    /// The keys that begin with some bytes.
    /// - Parameter start: The first of them, if it is known.
    func keys(prefix: [UInt8], from start: [UInt8]? = nil) throws(SyncError) -> [[UInt8]] {
        var keys: [[UInt8]] = []
        try store.snapshot.forEach(from: start ?? prefix) { key, _ throws(SyncError) in
            guard key.starts(with: prefix) else { return false }
            keys.append([UInt8](key))
            return true
        }
        return keys
    }

    /// Calls `body`, which may write, with the key of each row of a table. Keys are read in portions, to bound the
    /// memory for a large table.
    func forEachRow(of table: String, _ body: ([UInt8]) throws(SyncError) -> Void) throws(SyncError) {
        let stretch = 4096
        let prefix = RowKey.prefix(table)
        var start = prefix
        while true {
            var keys: [[UInt8]] = []
            try store.snapshot.forEach(from: start) { key, _ throws(SyncError) in
                guard key.starts(with: prefix) else { return false }
                keys.append([UInt8](key))
                return keys.count < stretch
            }
            for key in keys { try body(key) }
            guard keys.count == stretch, let last = keys.last else { return }
            start = last + [0]
        }
    }

    /// The state's entry of a row, decoded, and its bytes.
    package func entry(_ key: [UInt8]) throws(SyncError) -> (entry: RowEntry?, old: StateValue?) {
        guard let old = try value(key) else { return (nil, nil) }
        return (try RowEntry(old, shapes), old)
    }

    func write(_ entry: consuming RowEntry, _ key: [UInt8], old: StateValue?) throws(SyncError) {
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

    func journal(_ position: Position) throws(SyncError) -> (entry: JournalEntry, old: StateValue) {
        guard let old = try value(journalKey(position)) else {
            throw .malformed("the change \(position.event).\(position.index), which is missing from the outbox,")
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

    func put(setting name: String, _ newValue: Value?) throws(SyncError) {
        try set(StateReader.settingKey(name), newValue?.encoded)
    }

    func putCursor(_ table: String, _ queryID: String, _ cursor: CursorState?) throws(SyncError) {
        var key = ByteWriter()
        key.append(cursorKey: table, queryID)
        let encoded = cursor.map { cursor in
            var writer = ByteWriter()
            writer.append(cursor: cursor)
            return writer.bytes
        }
        try set(key.bytes, encoded)
    }

    // MARK: Marks

    /// The part that is not in the store.
    package struct Mark: Sendable {
        let shapes: Int
        let ids: IDComparison
        let indexes: IndexList
        let types: TypeCatalog
        let firstUndone: UInt64?
        let firstChange: UInt64?
        let declaration: Declaration?
        package let totals: ChangeCounts
        package let through: UInt64
    }

    package var mark: Mark {
        Mark(
            shapes: shapes.count, ids: ids, indexes: indexes, types: types, firstUndone: firstUndone,
            firstChange: firstChange, declaration: declaration, totals: totals, through: through)
    }

    /// Returns to an earlier mark after the store has returned to it. Nothing is read, so nothing can fail.
    package func takeBack(to mark: Mark) {
        shapes.removeAll(after: mark.shapes)
        latestShape = nil
        ids = mark.ids
        indexes = mark.indexes
        types = mark.types
        firstUndone = mark.firstUndone
        firstChange = mark.firstChange
        declaration = mark.declaration
        totals = mark.totals
        through = mark.through
    }
}
