// Reads rows, changes, cursors and settings of the state. It never writes.

import SynclineGround

/// Facts about the state that are requested often.
package struct StateFacts: Sendable {
    let ids: IDComparison
    let indexes: IndexList
    let types: TypeCatalog
    /// The number of changes in the outbox, and an event before which none is in it.
    let pending: UInt64
    let firstChange: UInt64?
    /// An undo before which none can be redone; nil only if none can.
    let firstUndone: UInt64?
}

/// A class, so that handing it on counts one reference and not one for each layer.
package final class StateReader: Sendable {
    package let snapshot: StateSnapshot
    package let shapes: ShapeTable
    /// What the creator of the snapshot already knows of it.
    let facts: StateFacts?

    package init(_ snapshot: StateSnapshot, _ shapes: ShapeTable, _ facts: StateFacts? = nil) {
        self.snapshot = snapshot
        self.shapes = shapes
        self.facts = facts
    }

    /// Whether rows store the spelling of their ids, because keys do not.
    var spellsIDs: Bool { (try? idComparison) == .ignoreCase }

    func value(_ key: [UInt8]) throws(SyncError) -> StateValue? {
        try key.withBytes { key throws(SyncError) in try snapshot.value(key) }
    }

    // MARK: Settings

    package static func settingKey(_ name: String) -> [UInt8] {
        [Keyspace.settings] + Array(name.utf8)
    }

    package func setting(_ name: String) throws(SyncError) -> Value? {
        guard let stored = try value(StateReader.settingKey(name)) else { return nil }
        return try stored.withBytes { bytes throws(SyncError) in
            try bytes.decoded(as: "a setting") { reader throws(MalformedBytes) in try reader.value() }
        }
    }

    package var idComparison: IDComparison {
        get throws(SyncError) {
            if let facts { return facts.ids }
            return try setting(SettingName.ids) == .string("ignore-case") ? .ignoreCase : .exact
        }
    }

    /// The indexes of a table.
    package func indexes(of table: String) throws(SyncError) -> [TableIndex] {
        if let facts { return facts.indexes.indexes(of: table) }
        return try allIndexes(types).indexes(of: table)
    }

    // MARK: Rows

    package func entry(_ table: String, _ id: String) throws(SyncError) -> RowEntry? {
        try entry(key: RowKey.bytes(table, id, idComparison))
    }

    package func entry(key: [UInt8]) throws(SyncError) -> RowEntry? {
        guard let stored = try value(key) else { return nil }
        return try RowEntry(stored, shapes)
    }

    /// A row as an app sees it.
    package func row(_ table: String, _ id: String) throws(SyncError) -> StoredRow? {
        guard let entry = try entry(table, id), let row = entry.visible else { return nil }
        return StoredRow(id: entry.spelling ?? id, columns: row)
    }

    /// Everything that the state holds about a table.
    package func forEachEntry(
        of table: String, _ body: (String, RowEntry) throws(SyncError) -> Void
    ) throws(SyncError) {
        try snapshot.forEach(prefix: RowKey.prefix(table)) { key, value throws(SyncError) in
            let entry = try RowEntry(value, shapes)
            var id = try RowKey(malformed: [UInt8](key)).id
            if let spelling = entry.spelling { id = spelling }
            try body(id, entry)
            return true
        }
    }

    func change(at position: Position) throws(SyncError) -> JournalEntry {
        var key = ByteWriter()
        key.append(journalKey: position)
        guard let stored = try value(key.bytes) else { throw .malformed("the outbox") }
        return try JournalEntry(stored, shapes)
    }

    /// The names of tables that have rows, including rows with only pending changes.
    package func tables() throws(SyncError) -> [String] {
        var names: [String] = []
        var from: [UInt8] = [Keyspace.rows]
        while let key = try snapshot.firstKey(from: from), key.first == Keyspace.rows,
            let end = key.dropFirst().firstIndex(of: 0)
        {
            names.append(String(decoding: key[1..<end], as: UTF8.self))
            from = key[..<end] + [1]
        }
        return names
    }

    /// The tables without those that never leave the device.
    package func syncedTables() throws(SyncError) -> [String] {
        let types = try types
        return try tables().filter { !types.isLocal($0) }
    }

    /// Whether the state has rows, tombstones or cursors of a table, or rows of it that can't be read.
    package func isKnown(_ table: String) throws(SyncError) -> Bool {
        let prefix = RowKey.prefix(table)
        if try snapshot.firstKey(from: prefix)?.starts(with: prefix) == true { return true }
        if try cursors().contains(where: { $0.table.hasSameBytes(as: table) }) { return true }
        return try unreadableRows().contains { $0.table.hasSameBytes(as: table) }
    }

    /// The columns of the rows of a table, sorted.
    package func columns(of table: String) throws(SyncError) -> [String] {
        var names: Set<ExactString> = []
        var shapes: Set<ObjectIdentifier> = []
        try forEachEntry(of: table) { _, entry throws(SyncError) in
            for row in [entry.base, entry.pending?.overlay, entry.local] {
                guard let row, shapes.insert(ObjectIdentifier(row.shape)).inserted else { continue }
                names.formUnion(row.columns.exact)
            }
        }
        return names.sorted().map(\.text)
    }

    // MARK: Outbox

    /// The last positions of a transaction's changes in the outbox that are before an index, the last one first.
    func changes(of event: UInt64, before index: UInt32, limit: Int) throws(SyncError) -> [Position] {
        var positions: [Position] = []
        let ends = [0, index].map { place in
            var key = ByteWriter()
            key.append(journalKey: Position(event: event, index: place))
            return key.bytes
        }
        try snapshot.forEachBackward(from: ends[0], before: ends[1]) { key, _ throws(SyncError) in
            positions.append(try Position(journalKey: key))
            return positions.count < limit
        }
        return positions
    }

    /// The rows that a transaction's changes in the outbox concern, each once, in their order.
    package func rows(changedBy event: UInt64) throws(SyncError) -> [RowKey] {
        var (rows, known): ([RowKey], Set<[UInt8]>) = ([], [])
        try forEachChange(from: event) { position, change throws(SyncError) in
            if position.event > event { return false }
            if known.insert(change.rowKey).inserted { rows.append(try RowKey(malformed: change.rowKey)) }
            return true
        }
        return rows
    }

    /// The number of rows that a transaction's changes in the outbox concern. They may be a million, so no name is made.
    package func rowCount(changedBy event: UInt64) throws(SyncError) -> Int {
        var rows: Set<[UInt8]> = []
        try forEachChange(from: event) { position, change throws(SyncError) in
            if position.event > event { return false }
            rows.insert(change.rowKey)
            return true
        }
        return rows.count
    }

    /// How many changes a transaction made; nil once one of them has left the outbox.
    func groupCount(_ event: UInt64) throws(SyncError) -> Int? {
        var key = ByteWriter()
        key.append(journalKey: .end(of: event))
        guard let stored = try value(key.bytes) else { return nil }
        return try stored.withBytes { bytes throws(SyncError) in
            try bytes.decoded(as: "a transaction") { reader throws(MalformedBytes) in Int(try reader.varint()) }
        }
    }

    /// The number of changes in the outbox.
    package var pendingCount: Int {
        get throws(SyncError) {
            if let facts { return Int(clamping: facts.pending) }
            var count = 0
            try forEachChange { _, _ in
                count += 1
                return true
            }
            return count
        }
    }

    /// Every change in the outbox, in order.
    package func forEachChange(
        from event: UInt64 = 0, _ body: (Position, JournalEntry) throws(SyncError) -> Bool
    ) throws(SyncError) {
        // Those that left the outbox were removed, and to pass over them takes time.
        let first = facts?.firstChange ?? 0
        var left = event <= first ? facts?.pending : nil
        if facts?.pending == 0 { return }
        var start = ByteWriter()
        start.append(Keyspace.journal)
        start.append(ordered: max(event, first))
        try snapshot.forEach(from: start.bytes) { key, value throws(SyncError) in
            let position = try Position(journalKey: key)
            if position.index == .max { return true }
            left = left.map { $0 &- 1 }
            return try body(position, try JournalEntry(value, shapes)) && left != 0
        }
    }

    /// Whether the server's failing answers stopped a push, and nothing since then shows that it works.
    package var isServerInDoubt: Bool {
        get throws(SyncError) {
            try snapshot.firstKey(from: [Keyspace.failing])?.first == Keyspace.failing
        }
    }

    // MARK: Cursors

    package func cursor(_ table: String, _ queryID: String) throws(SyncError) -> CursorState? {
        var key = ByteWriter()
        key.append(cursorKey: table, queryID)
        guard let stored = try value(key.bytes) else { return nil }
        return try stored.withBytes { bytes throws(SyncError) in try StateReader.cursor(bytes) }
    }

    /// Every cursor, by table and query id.
    package func cursors() throws(SyncError) -> [(table: String, queryID: String, state: CursorState)] {
        var all: [(table: String, queryID: String, state: CursorState)] = []
        try snapshot.forEach(prefix: [Keyspace.cursors]) { key, value throws(SyncError) in
            guard let (table, queryID) = key[1...].names else { throw .malformed("a cursor's key") }
            all.append((table, queryID, try StateReader.cursor(value)))
            return true
        }
        return all
    }

    private static func cursor(_ bytes: UnsafeRawBufferPointer) throws(SyncError) -> CursorState {
        try bytes.decoded(as: "a cursor") { reader throws(MalformedBytes) in try reader.cursor() }
    }
}

extension StateSnapshot {
    /// Visits every entry whose key begins with the given bytes, in order, until the body returns false.
    @inline(__always)
    package func forEach(
        prefix: [UInt8],
        _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws(SyncError) -> Bool
    ) throws(SyncError) {
        try forEachEntry(prefix: prefix) { key, value throws(SyncError) in try body(key, try value.bytes()) }
    }

    /// The same, with rows of blocks in columns as they are.
    @inline(__always)
    func forEachEntry(
        prefix: [UInt8], _ filter: (any ColumnFilter)? = nil,
        _ body: (UnsafeRawBufferPointer, ValueView) throws(SyncError) -> Bool
    ) throws(SyncError) {
        var place = try prefix.withBytes { start throws(SyncError) in try cursor(from: start) }
        guard let end = prefix.endOfPrefix else { return try place.visit(before: nil, filter, body) }
        try end.withBytes { end throws(SyncError) in try place.visit(before: end, filter, body) }
    }

    /// Visits every entry from a key on, in order, until the body returns false.
    package func forEach(
        from start: [UInt8],
        _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws(SyncError) -> Bool
    ) throws(SyncError) {
        var place = try start.withBytes { start throws(SyncError) in try cursor(from: start) }
        try place.visit(before: nil) { key, value throws(SyncError) in try body(key, try value.bytes()) }
    }

    /// The first key that is not before another; nil if there is none.
    func firstKey(from start: [UInt8]) throws(SyncError) -> [UInt8]? {
        var first: [UInt8]?
        try forEach(from: start) { key, _ throws(SyncError) in
            first = [UInt8](key)
            return false
        }
        return first
    }
}

extension Position {
    init(journalKey key: UnsafeRawBufferPointer) throws(SyncError) {
        guard key.count == 13, key[0] == Keyspace.journal else { throw .malformed("a key of the outbox") }
        event = UInt64(bigEndian: key.loadUnaligned(fromByteOffset: 1, as: UInt64.self))
        index = UInt32(bigEndian: key.loadUnaligned(fromByteOffset: 9, as: UInt32.self))
    }
}
