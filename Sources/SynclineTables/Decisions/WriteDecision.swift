// Decides the effect of a write on the existing row: a function of both, of the write's conditions and of its stamp.
// Both databases only carry out this decision.

import SynclineCore
import SynclineGround
package import SynclineWire

extension TableWrite {
    private var isOld: Bool { serverProtocol == .zumo2 }

    /// Decides from the existing row, as the caller sees it, and the checked columns of the item.
    package func decide(on existing: TableRow?, _ item: CheckedItem, _ schema: ServedTable, _ stamp: Stamp)
        -> WriteOutcome
    {
        if case .insert = kind { return insert(existing, item, schema, stamp) }
        guard let row = existing else { return .refused(.rowNotFound, nil) }
        if row.isDeleted, let outcome = refusalOfDeleted(row) { return outcome }
        if let refusal = conditions.refusal(row, kind == .delete || kind == .undelete ? nil : version, isOld: isOld) {
            return .refused(refusal, row)
        }
        var changed = row
        changed.updatedAt = stamp.instant
        changed.version = RowVersion.text(stamp.change)
        switch kind {
        case .insert, .update, .patch:
            changed.columns = schema.columns(of: row.columns, setting: item)
            if row.isDeleted { changed.isDeleted = revives == false }
        case .replace:
            changed.columns = schema.columns(of: schema.kept(row.columns, hidden), setting: item)
            if row.isDeleted { changed.isDeleted = revives == false }
        case .delete: changed.isDeleted = true
        case .undelete: changed.isDeleted = false
        }
        return .done(kind.effect, changed)
    }

    private func insert(
        _ existing: TableRow?, _ item: CheckedItem, _ schema: ServedTable, _ stamp: Stamp
    ) -> WriteOutcome {
        if let existing { return .refused(.rowExists, existing) }
        let columns = schema.columns(of: schema.empty(owner: caller?.subject), setting: item)
        return .done(
            .inserted,
            TableRow(
                id: id, columns: columns, createdAt: stamp.instant, updatedAt: stamp.instant,
                version: RowVersion.text(stamp.change)))
    }

    /// A tombstone is changed only by a write that restores it.
    private func refusalOfDeleted(_ row: TableRow) -> WriteOutcome? {
        if kind == .undelete || revives != nil { return nil }
        if !isOld { return .refused(Refusal(410, "row-deleted", "The item is deleted"), nil) }
        if let refusal = conditions.refusal(row, nil, isOld: true) { return .refused(refusal, row) }
        // For a conditional delete, clients read the row only from a 412.
        let status = kind == .delete && conditions.match != nil ? 412 : 409
        return .refused(Refusal(status, "row-deleted", "The item is deleted"), row)
    }
}

extension ServedTable {
    /// A row without values, except for its owner.
    fileprivate func empty(owner: String?) -> Row {
        guard let ownerPlace, let owner else { return emptyRow }
        return Row(shape, columns.indices.map { $0 == ownerPlace ? .string(owner) : .null })
    }

    /// The part of a row that a replacement keeps: its owner, and the columns that its author can't see.
    fileprivate func kept(_ row: Row, _ hidden: HiddenColumns) -> Row {
        let kept = empty(owner: definition.owner(of: row))
        if hidden.names.isEmpty { return kept }
        let members = kept.members.map { hidden.names.contains($0.name) ? row[$0.name] ?? .null : $0.value }
        return Row(shape, members)
    }
}
