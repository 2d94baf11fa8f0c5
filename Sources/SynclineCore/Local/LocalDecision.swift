// Decides what a local operation becomes, from what the state holds of its row: a change to store, nothing, or a refusal.
// Nothing is stored here.

package enum LocalDecision {
    /// The change an operation makes; nil if it changes nothing.
    package static func decide(
        _ kind: OperationKind, table: String, id: String, columns: Row, on entry: RowEntry?
    ) throws(SyncError) -> LocalChange? {
        let entry = entry ?? RowEntry()
        let result: CollapseResult
        do throws(ChangeRefusal) {
            result = try Collapse.step(kind, on: CollapseInput(entry))
        } catch {
            throw refusal(error, table, id)
        }
        var change = LocalChange(kind: kind, table: table, id: entry.spelling ?? id, columns: columns)
        change.baseVersion = entry.base?.versionValue
        change.cancels = result.cancels
        change.replaces = result.replaces
        switch kind {
        case .delete:
            change.columns = .empty
        case .insert:
            if result.replaces { change.columns = replacement(of: entry.expected, with: columns) }
        case .update:
            if let visible = entry.visible {
                change.columns = columns.filter { isChange($0, in: visible, isWhole: entry.base != nil) }
            }
            if change.columns.isEmpty { return nil }
        }
        return change
    }

    /// Whether a column's new value differs from what the app sees. A null where the row has no such column says
    /// something only if the server may know more of the row than we do.
    private static func isChange(_ member: Value.Member, in visible: Row, isWhole: Bool) -> Bool {
        guard let current = visible[member.name] else { return !(isWhole && member.value.isNull) }
        return !current.means(member.value)
    }

    /// A whole row in place of the base: what the base has and the row lacks becomes null.
    private static func replacement(of base: Row, with columns: Row) -> Row {
        var builder = RowBuilder(columns)
        for name in base.columns where columns[name] == nil && !Item.systemColumns.contains(name) {
            builder.set(name, .null)
        }
        return builder.row
    }

    private static func refusal(_ refusal: ChangeRefusal, _ table: String, _ id: String) -> SyncError {
        switch refusal {
        case .rowExists:
            SyncError(
                .rowExists, "\(table) has a row with this id", hint: "Update it instead.", address: "\(table)/\(id)")
        case .rowDeleted:
            SyncError(
                .rowDeleted, "the row was deleted and waits to be pushed",
                hint: "Insert it again, or undo the delete.", address: "\(table)/\(id)")
        }
    }
}

extension CollapseInput {
    package init(_ entry: RowEntry) {
        self.init(
            operation: entry.pending?.operation?.kind, frozen: entry.pending?.frozen?.kind, hasBase: entry.base != nil,
            isPresent: entry.isPresent)
    }
}
