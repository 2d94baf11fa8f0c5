// Decides the effect of a write on the existing row: a function of both, of the write's conditions and of its stamp.
// Both databases only carry out this decision.

import SynclineCore
import SynclineWire

/// A change that a client requests, with access already granted.
struct TableWrite: Hashable, Sendable {
    enum Kind: Hashable, Sendable {
        case insert(Row)
        case update(Row)
        case replace(Row)
        case patch(JSONPatch)
        case delete
        case undelete
    }

    var table: String
    var id: String
    var kind: Kind
    var serverProtocol: ServerProtocol
    /// The conditions of `If-Match` and similar headers.
    var conditions = WriteConditions()
    /// A version in the body, which the older protocol treats as a condition.
    var version: String?
    /// The owner whose rows are visible, if the table's rows belong to users.
    var owner: String?
    /// Whether a replacement or a patch may restore a deleted row, or keep it deleted.
    var revives: Bool?
    /// The same on every repeat of the write.
    var operation: OperationKey?

    init(_ kind: Kind, table: String, id: String, serverProtocol: ServerProtocol) {
        self.kind = kind
        self.table = table
        self.id = id
        self.serverProtocol = serverProtocol
    }
}

/// A write's identifier: repeats have the same one. Callers do not see each other's.
struct OperationKey: Hashable, Sendable {
    var id: String
    var caller: String
}

/// A position in the order of changes.
struct Stamp: Hashable, Sendable {
    var change: Int64
    /// Milliseconds since 1970.
    var time: Int64

    var instant: Timestamp.Instant { .init(milliseconds: time) }
}

/// The outcome of a write.
enum WriteOutcome: Hashable, Sendable {
    /// What was done to a row. The database remembers these names.
    enum Effect: String, Hashable, Sendable {
        case inserted, changed
        /// The row is a tombstone.
        case deleted
        case undeleted
    }

    case done(Effect, TableRow)
    /// Nothing was changed. The row is the server's, if the caller may see it.
    case refused(Refusal, TableRow?)
    /// Nothing was changed, because the database failed.
    case failed(StoreFailure)

    var row: TableRow? {
        switch self {
        case .done(_, let row): row
        case .refused(_, let row): row
        case .failed: nil
        }
    }

    /// Whether nothing was changed.
    var isRefused: Bool { if case .done = self { false } else { true } }

    /// The same outcome with another row.
    func with(_ row: TableRow) -> WriteOutcome {
        switch self {
        case .done(let effect, _): .done(effect, row)
        case .refused(let refusal, _): .refused(refusal, row)
        case .failed: self
        }
    }

    /// The same outcome without the row's columns.
    var bare: WriteOutcome { row.map { with($0.bare) } ?? self }
}

extension TableWrite.Kind {
    /// What a write of this kind does, if it is not refused.
    var effect: WriteOutcome.Effect {
        switch self {
        case .insert: .inserted
        case .update, .replace, .patch: .changed
        case .delete: .deleted
        case .undelete: .undeleted
        }
    }
}

extension TableWrite {
    private var isOld: Bool { serverProtocol == .zumo2 }

    /// Decides from the existing row and the checked columns of the item.
    func decide(on existing: TableRow?, _ item: CheckedItem, _ schema: TableSchema, _ stamp: Stamp) -> WriteOutcome {
        let visible = existing.flatMap { schema.definition.shows($0.columns, to: owner) ? $0 : nil }
        if case .insert = kind { return insert(existing, visible, item, schema, stamp) }
        guard let row = visible else { return .refused(.rowNotFound, nil) }
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
            changed.columns = schema.columns(of: schema.kept(row.columns), setting: item)
            if row.isDeleted { changed.isDeleted = revives == false }
        case .delete: changed.isDeleted = true
        case .undelete: changed.isDeleted = false
        }
        return .done(kind.effect, changed)
    }

    private func insert(
        _ existing: TableRow?, _ visible: TableRow?, _ item: CheckedItem, _ schema: TableSchema, _ stamp: Stamp
    ) -> WriteOutcome {
        if existing != nil {
            return .refused(Refusal(409, "row-exists", "An item with this id already exists"), visible)
        }
        let columns = schema.columns(of: schema.empty(owner: owner), setting: item)
        return .done(
            .inserted,
            TableRow(
                id: id, columns: columns, createdAt: stamp.instant, updatedAt: stamp.instant,
                version: RowVersion.text(stamp.change)))
    }

    /// A tombstone is changed only by a write that restores it.
    private func refusalOfDeleted(_ row: TableRow) -> WriteOutcome? {
        switch kind {
        case .undelete: return nil
        case .replace where revives != nil, .patch where revives != nil: return nil
        default: break
        }
        if !isOld { return .refused(Refusal(410, "row-deleted", "The item is deleted"), nil) }
        if let refusal = conditions.refusal(row, nil, isOld: true) { return .refused(refusal, row) }
        // For a conditional delete, clients read the row only from a 412.
        let status = kind == .delete && conditions.match != nil ? 412 : 409
        return .refused(Refusal(status, "row-deleted", "The item is deleted"), row)
    }
}

extension TableSchema {
    /// A row without values, except for its owner.
    fileprivate func empty(owner: String?) -> Row {
        guard let ownerPlace, let owner else { return emptyRow }
        return Row(shape, columns.indices.map { $0 == ownerPlace ? .string(owner) : .null })
    }

    /// The part of a row that a replacement keeps: its owner.
    fileprivate func kept(_ row: Row) -> Row {
        empty(owner: definition.owner(of: row))
    }
}
