// Decides what a local operation becomes in the current state of its row: a change to store, nothing, or an error.
// Stores nothing.

package enum LocalDecision {
    /// Returns the change of an operation, or nil if it changes nothing.
    package static func decide(
        _ kind: OperationKind, table: String, id: String, columns: Row, on entry: RowEntry?,
        _ types: TableTypes
    ) throws(SyncError) -> LocalChange? {
        let entry = entry ?? RowEntry()
        let rule: CompactorRule
        do throws(ChangeRefusal) {
            rule = try CompactorRule.decide(kind, on: CompactorInput(entry))
        } catch {
            throw refusal(error, table, id)
        }
        var change = LocalChange(kind: kind, table: table, id: entry.spelling ?? id, columns: columns)
        change.baseVersion = entry.base?.versionValue
        change.cancels = rule == .cancel
        change.replaces = rule == .replace
        switch kind {
        case .delete:
            change.columns = .empty
        case .insert:
            if rule == .replace { change.columns = columns.replacing(entry.expected) }
        case .update:
            if let visible = entry.visible {
                change.columns = columns.filter { isChange($0, in: visible, isWhole: entry.base != nil, types) }
            }
            if CompactorRule.isEmpty(kind, hasColumns: !change.columns.isEmpty) { return nil }
        }
        return change
    }

    /// Returns whether a column's new value differs from what the app sees. A null for a column that the row lacks
    /// counts only if the server may have more columns.
    private static func isChange(
        _ member: Value.Member, in visible: Row, isWhole: Bool, _ types: TableTypes
    ) -> Bool {
        guard let current = visible[member.name] else { return !(isWhole && member.value.isNull) }
        return !types[member.name].keeps(current, under: member.value)
    }

    private static func refusal(_ refusal: ChangeRefusal, _ table: String, _ id: String) -> SyncError {
        switch refusal {
        case .rowExists: rowExists(table, id)
        case .rowDeleted: rowDeleted(table, id)
        }
    }

    package static func rowExists(_ table: String, _ id: String) -> SyncError {
        SyncError(.rowExists, "\(table) has a row with this id", hint: "Update it instead.", address: "\(table)/\(id)")
    }

    package static func rowDeleted(_ table: String, _ id: String) -> SyncError {
        SyncError(
            .rowDeleted, "the row was deleted, and the delete is not pushed yet",
            hint: "Insert it again, or undo the delete.", address: "\(table)/\(id)")
    }
}

extension CompactorInput {
    package init(_ entry: RowEntry) {
        self.init(
            pending: entry.pending?.operation?.kind, frozen: entry.pending?.frozen?.kind, hasBase: entry.base != nil,
            isPresent: entry.isPresent)
    }
}
