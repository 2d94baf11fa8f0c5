// Folds the declarations of indexes: entries for all rows that are there, and none for an index that goes.

package struct IndexFold {
    let state: FoldState

    package init(state: FoldState) { self.state = state }

    /// Declares or drops an index. An index replaces another one that is sorted by the same columns.
    func apply(_ change: IndexChange) throws(SyncError) {
        let table = change.table
        let same = state.indexes.indexes(of: table).filter { $0.isSorted(by: change.columns) }
        if change.isOn, same.contains(where: { $0.isCurrent(change) }) { return }
        for index in same { try drop(table, index) }
        guard change.isOn, let number = state.indexes.freeNumber(for: table) else { return }
        try add(table, TableIndex(columns: change.columns, including: change.including, number: number))
    }

    /// Adds an index, whose keys are made by the present types of its columns.
    func add(_ table: String, _ index: TableIndex) throws(SyncError) {
        let index = index.typed(by: state.types[table])
        guard !state.indexes.indexes(of: table).contains(index) else { return }
        state.indexes.add(table, index)
        try state.put(setting: SettingName.index(table, index), index.value)
        try fill(table, index)
    }

    func drop(_ table: String, _ index: TableIndex) throws(SyncError) {
        state.indexes.remove(table, index)
        try state.put(setting: SettingName.index(table, index), nil)
        for key in try state.keys(prefix: index.prefix(table)) { try state.set(key, nil) }
    }

    package func fill(_ table: String, _ index: TableIndex) throws(SyncError) {
        var entries: [IndexEntry] = []
        let prefix = RowKey.prefix(table)
        try state.store.snapshot.forEach(prefix: prefix) { key, value throws(SyncError) in
            let entry = try RowEntry(value, state.shapes)
            let found = state.indexEntry(table, index, entry, Bytes(rebasing: key[prefix.count...]))
            if let found { entries.append(found) }
            return true
        }
        for entry in entries { state.put(entry.key, entry.value, old: nil) }
    }
}
