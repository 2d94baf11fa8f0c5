// Keeps the columns that never leave the device apart from those that a server knows: they are part of no operation, no
// pull changes them, and values that a server sends under their names are ignored.

extension FoldState {
    /// Separates local columns from the columns that a change sets; nil if there are none among them.
    func separateLocal(_ columns: inout Row, of table: String) -> Row? {
        guard let names = localColumns(of: table) else { return nil }
        let local = columns.only(names)
        if local.isEmpty { return nil }
        columns = columns.without(names)
        return local
    }

    /// A server's row without values under the names of local columns.
    func shared(_ row: Row?, of table: String) -> Row? {
        guard let row, let names = localColumns(of: table) else { return row }
        return row.without(names)
    }

    /// Applies local columns that a change sets together with columns to be pushed. A new row begins without the local
    /// columns of a deleted one.
    func applyLocal(_ local: Row?, of kind: OperationKind, on entry: inout RowEntry, _ change: inout JournalEntry) {
        let before = entry.local
        switch kind {
        case .insert: entry.local = local
        case .update: if let local { entry.local = (before ?? .empty).merged(with: local) }
        // They are hidden with the row until the delete is confirmed or taken back.
        case .delete: return
        }
        if local != nil || entry.local != before { change.localBefore = before ?? .empty }
    }

    /// Applies a change that sets only local columns. An undo of pending changes leaves them as they are now.
    func setLocal(_ local: Row, _ entry: inout RowEntry) throws(SyncError) {
        entry.local = (entry.local ?? .empty).merged(with: local)
        guard let pending = entry.pending else { return }
        for link in try chain(of: pending) {
            guard let stored = link.stored, let before = stored.change.localBefore else { continue }
            var change = stored.change
            change.localBefore = before.merged(with: local)
            write(change, at: link.position, old: stored.value)
        }
    }

    /// The part of a resolution that is to be pushed. If the app chose the row, its local columns are set at once.
    func shared(_ resolution: Resolution, _ entry: inout RowEntry) -> Resolution.Change? {
        guard var change = resolution.change, let local = separateLocal(&change.columns, of: resolution.table) else {
            return resolution.change
        }
        if resolution.choice == .row {
            entry.local = change.kind == .insert ? local : (entry.local ?? .empty).merged(with: local)
        }
        return change.kind == .update && change.columns.isEmpty ? nil : change
    }
}
