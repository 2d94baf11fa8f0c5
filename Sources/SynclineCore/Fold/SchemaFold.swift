// Folds a new version of the schema: the steps of a migration rewrite existing rows, and columns that became local are
// removed from what is to be pushed. An operation that may have reached the server stays as it was sent.

import SynclineGround

struct SchemaFold {
    let state: FoldState

    func apply(_ declared: Declaration, _ steps: [SchemaStep]) throws(SyncError) {
        let before = state.declaration ?? .none
        var known = before
        if !steps.isEmpty { try state.endRedo() }
        for step in steps {
            try apply(step)
            known = known.following(step)
            // A name that is local also covers the names beneath it.
            if case .renameColumn(let table, _, let name) = step,
                known.localColumns(of: table)?.contains(name) == true
            {
                try rewrite(table, .makeLocal([ExactString(name)]))
            }
        }
        for (table, columns) in declared.localColumns(missingIn: known) {
            try rewrite(table, .makeLocal(columns))
        }
        for (table, columns) in known.localColumns(missingIn: declared) {
            try rewrite(table, .endLocal(columns))
        }
        state.declaration = declared
        try state.put(setting: SettingName.schema, declared.value)
        for table in declared.changedTables(since: before) {
            let names = (before.wireNames(of: table), declared.wireNames(of: table))
            let local = declared.localColumns(of: table) ?? []
            try rewrite(table, .settle(before: names.0, after: names.1, local: local))
        }
    }

    /// Renames the index together with its column.
    private func apply(_ step: SchemaStep) throws(SyncError) {
        switch step {
        case .renameColumn(let table, let from, let to):
            let affected = state.indexes.indexes(of: table).filter { $0.keeps(from) }
            for index in affected { try IndexFold(state: state).drop(table, index) }
            try rewrite(table, .rename(from, to: to))
            try TypeFold(state: state).change(table, indexesOn: [to]) { types in
                types[to] = types[from]
                types[from] = .any
            }
            for index in affected {
                try IndexFold(state: state).add(table, index.mapping { $0.hasSameBytes(as: from) ? to : $0 })
            }
        case .dropColumn(let table, let column):
            let affected = state.indexes.indexes(of: table).filter { $0.keeps(column) }
            for index in affected { try IndexFold(state: state).drop(table, index) }
            try rewrite(table, .drop([ExactString(column)]))
            try TypeFold(state: state).change(table) { $0[column] = .any }
            // An index that is sorted by the column goes; one that only includes it loses that column.
            for index in affected {
                if let left = index.without(column) { try IndexFold(state: state).add(table, left) }
            }
        case .changeValues(let table, let column, let changes):
            try rewrite(table, .change(column, changes.byOldValue))
        case .setType(let table, let column, let type):
            try TypeFold(state: state).change(table, indexesOn: [column]) { $0[column] = type }
        case .dropTable(let table):
            for index in state.indexes.indexes(of: table) { try IndexFold(state: state).drop(table, index) }
            // Its changes are discarded, like those of a dropped column.
            let cancelled = state.totals.cancelled
            try PurgeFold(state: state).apply(Purge(table: table, ids: nil, isForced: true))
            state.totals.superseded += state.totals.cancelled - cancelled
            state.totals.cancelled = cancelled
            try TypeFold(state: state).change(table) { $0 = TableTypes() }
        }
    }

    // MARK: Rows

    private func rewrite(_ table: String, _ columns: ColumnRewrite) throws(SyncError) {
        try state.forEachRow(of: table) { key throws(SyncError) in try rewrite(rowAt: key, columns) }
    }

    private func rewrite(rowAt key: [UInt8], _ columns: ColumnRewrite) throws(SyncError) {
        let (found, old) = try state.entry(key)
        guard let found else { return }
        var entry = found
        // What the app saw, or will see again if a pending delete is taken back.
        let seen = found.visible ?? found.base ?? .empty
        entry.base = found.base.map(columns.shared)
        entry.local = columns.local(found.local ?? .empty, seen)
        if let pending = found.pending { try rewrite(&entry, pending, seen, columns) }
        if entry.local?.isEmpty == true { entry.local = nil }
        try state.settleDefaults(&entry, key)
        if entry != found { try state.write(entry, key, old: old) }
    }

    /// Rewrites the changes of a row, and its operation that awaits a decision. A pending update without columns leaves
    /// the outbox.
    private func rewrite(
        _ entry: inout RowEntry, _ pending: PendingRow, _ seen: Row, _ columns: ColumnRewrite
    ) throws(SyncError) {
        var frozen = pending.frozen
        if frozen?.status != .inFlight {
            frozen = frozen?.rewritten(columns)
        } else if case .settle(let before, let after, _) = columns {
            // It is sent again exactly as before, so its names stay those of the server.
            frozen = frozen?.moved(from: before, to: after) ?? frozen
        }
        var kept: [ChainLink] = []
        var emptied: [ChainLink] = []
        for var link in try state.chain(of: pending) {
            let had = !link.columns.isEmpty
            link.columns = columns.shared(link.columns)
            link.change.localBefore = link.change.localBefore.map { columns.local($0, seen) }
            let isEmptied = had && link.columns.isEmpty && link.change.kind == .update && !link.change.isFrozen
            // An update may be the only thing known about a row that the server has not sent.
            let holdsRow = kept.isEmpty && entry.base == nil
            if isEmptied && !holdsRow { emptied.append(link) } else { kept.append(link) }
        }
        try state.drop(emptied)
        state.totals.superseded += UInt64(emptied.count)
        state.rebuild(&entry, from: kept, frozen: frozen, decidesAgain: false)
    }
}

/// The change to the columns of each row of a table.
private enum ColumnRewrite {
    case rename(String, to: String)
    case drop(Set<ExactString>)
    /// The columns become local: they are removed from the server's row, and the app's values stay.
    case makeLocal(Set<ExactString>)
    /// The local columns are removed.
    case endLocal(Set<ExactString>)
    /// Values of a column are converted.
    case change(String, [Value: Value])
    /// Columns have different names on the server, or show different defaults, than before.
    case settle(before: WireNames?, after: WireNames?, local: Set<ExactString>)

    /// The columns that the server knows.
    func shared(_ row: Row) -> Row {
        switch self {
        case .rename(let from, let to): row.renaming(from, to: to)
        case .drop(let names), .makeLocal(let names): row.without(names)
        case .endLocal, .settle: row
        case .change(let name, let values): row.changing(name, values)
        }
    }

    /// The local columns of a row that looked like `seen`.
    func local(_ row: Row, _ seen: Row) -> Row {
        switch self {
        case .rename(let from, let to): row.renaming(from, to: to)
        case .drop(let names), .endLocal(let names): row.without(names)
        case .makeLocal(let names): seen.only(names).merged(with: row)
        case .change(let name, let values): row.changing(name, values)
        // Defaults that no longer apply are removed.
        case .settle(_, _, let names): row.only(names)
        }
    }
}

extension FrozenOperation {
    fileprivate func rewritten(_ rewrite: ColumnRewrite) -> FrozenOperation {
        var copy = self
        copy.columns = rewrite.shared(columns)
        copy.ancestor = ancestor.map(rewrite.shared)
        copy.server = server.map(rewrite.shared)
        copy.rival = rival?.map(rewrite.shared)
        return copy
    }
}
