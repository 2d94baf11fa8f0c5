// Folds the types of columns, and which tables never leave the device: the catalogue changes, and the indexes on these
// columns are made again, because their keys say what values mean. Rows stay as they are.

import SynclineGround

struct TypeFold {
    let state: FoldState

    func apply(_ declaration: TypeDeclaration) throws(SyncError) {
        try change(declaration.table, indexesOn: declaration.columns.map(\.name)) { types in
            for column in declaration.columns { types[column.name] = column.type }
            if declaration.isLocal { types.isLocal = true }
        }
    }

    /// Changes the types of a table, and makes its indexes on some columns again.
    func change(
        _ table: String, indexesOn columns: [String] = [], _ body: (inout TableTypes) -> Void
    ) throws(SyncError) {
        var types = state.types[table]
        body(&types)
        if types == state.types[table] { return }
        let affected = state.indexes.indexes(of: table).filter { index in
            index.columns.contains { columns.containsExactly($0) }
        }
        for index in affected { try IndexFold(state: state).drop(table, index) }
        state.types[table] = types
        try state.put(setting: SettingName.types + table, types.value)
        for index in affected { try IndexFold(state: state).add(table, index) }
    }
}
