// Folds the change after which ids that differ only in case are one: the keys of rows are those of their ids in lower
// case, and entries keep the spelling. Indexes are made again, because their keys end with ids.

import SynclineGround

struct IDFold {
    let state: FoldState

    func ignoreCase() throws(SyncError) {
        let tables = try StateReader(state.store.snapshot, state.shapes).tables()
        let indexes = tables.map { ($0, state.indexes.indexes(of: $0)) }
        for (table, list) in indexes {
            for index in list { try IndexFold(state: state).drop(table, index) }
        }
        state.ids = .ignoreCase
        for table in tables { try state.forEachRow(of: table, moveRow) }
        try moveHolds()
        try moveMarks(Keyspace.failing)
        try moveMarks(Keyspace.unreadable)
        try renameJournal()
        for (table, list) in indexes {
            for index in list { try IndexFold(state: state).add(table, index) }
        }
    }

    private func moveRow(at key: [UInt8]) throws(SyncError) {
        let (found, old) = try state.entry(key)
        // One that was moved here before is met again, and has its spelling.
        guard var entry = found, let old, entry.spelling == nil else { return }
        let row = try RowKey(malformed: key)
        let place = state.rowKey(row.table, row.id)
        entry.spelling = row.id
        if place == key { return try state.write(entry, key, old: old) }
        state.remove(key, old: old)
        let (other, taken) = try state.entry(place)
        guard let other, let taken else { return try state.write(entry, place, old: nil) }
        if !entry.holdsRow { return }
        if other.holdsRow { throw .malformed("a change of ids that makes two rows one") }
        try state.write(entry, place, old: taken)
    }

    /// Moves marks whose keys are those of rows, after a byte of their own.
    private func moveMarks(_ space: UInt8) throws(SyncError) {
        for key in try state.keys(prefix: [space]) {
            let place = [space] + (try moved(Array(key.dropFirst())))
            guard place != key, let old = try state.value(key) else { continue }
            let value = old.copy
            state.remove(key, old: old)
            try state.set(place, value)
        }
    }

    private func moveHolds() throws(SyncError) {
        for row in try StateReader(state.store.snapshot, state.shapes).heldRows() {
            try state.put(setting: Hold.setting(row), nil)
            let place = try RowKey(malformed: state.rowKey(row.table, row.id))
            try state.put(setting: Hold.setting(place), .string(row.id))
        }
    }

    private func renameJournal() throws(SyncError) {
        for key in try state.keys(prefix: [Keyspace.journal]) {
            let position = try key.withBytes { key throws(SyncError) in try Position(journalKey: key) }
            if position.index == .max { continue }
            var (change, old) = try state.journal(position)
            let place = try moved(change.rowKey)
            if place == change.rowKey { continue }
            change.rowKey = place
            state.write(change, at: position, old: old)
        }
    }

    /// The key that a row has from now on. The mark of a row without an id has none, and stays.
    private func moved(_ key: [UInt8]) throws(SyncError) -> [UInt8] {
        guard let row = try? RowKey(malformed: key) else { return key }
        return state.rowKey(row.table, row.id)
    }
}

extension RowEntry {
    /// Whether it holds more than notes about a row that is gone.
    fileprivate var holdsRow: Bool { base != nil || pending != nil }
}

extension StateReader {
    /// Two ids of a table that differ only in case; nil if there are none.
    package func similarIDs() throws(SyncError) -> (table: String, ids: [String])? {
        for table in try tables() {
            var known: [ExactString: String] = [:]
            var found: [String]?
            try forEachEntry(of: table) { id, entry throws(SyncError) in
                guard found == nil, entry.holdsRow else { return }
                if let other = known.updateValue(id, forKey: ExactString(IDComparison.folded(id))) {
                    found = [other, id]
                }
            }
            if let found { return (table, found) }
        }
        return nil
    }
}
