// What a client wants to change, once it may.

package import SynclineCore
import SynclineGround
package import SynclineWire

/// A change that a client requests, with access already granted.
package struct TableWrite: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        case insert(Row)
        case update(Row)
        case replace(Row)
        case patch(JSONPatch)
        case delete
        case undelete
    }

    package var table: String
    package var id: String
    package var kind: Kind
    package var serverProtocol: ServerProtocol
    /// The conditions of `If-Match` and similar headers.
    package var conditions = WriteConditions()
    /// A version in the body, which the older protocol treats as a condition.
    package var version: String?
    package var caller: Caller?
    /// The columns that the caller may neither see nor set.
    package var hidden = HiddenColumns()
    /// Whether a change may restore a deleted row, or keep it deleted.
    package var revives: Bool?
    /// The same on every repeat of the write.
    package var operation: OperationKey?

    package init(_ kind: Kind, table: String, id: String, serverProtocol: ServerProtocol) {
        self.kind = kind
        self.table = table
        self.id = id
        self.serverProtocol = serverProtocol
    }

    /// Whether an outcome can belong to this write: the same kind, of the same row.
    package func couldBecome(_ outcome: WriteOutcome) -> Bool {
        guard case .done(kind.effect, let row) = outcome else { return false }
        // An insert without an id gets a new one on every repeat.
        return kind.effect == .inserted || row.id.hasSameBytes(as: id)
    }

    /// The refusal for an id that the table can't have.
    package func refusalOfID(_ schema: ServedTable) -> Refusal {
        if case .insert = kind {
            return Refusal(400, "invalid-id", "The ids of table \(table) are \(schema.idKind.plural)")
        }
        return .rowNotFound
    }
}

/// A write's identifier: repeats have the same one. Callers do not see each other's.
package struct OperationKey: Hashable, Sendable {
    package var id: String
    package var caller: String

    package init(id: String, caller: String) { (self.id, self.caller) = (id, caller) }
}

extension TableWrite.Kind {
    /// What a write of this kind does, if it is not refused.
    package var effect: WriteOutcome.Effect {
        switch self {
        case .insert: .inserted
        case .update, .replace, .patch: .changed
        case .delete: .deleted
        case .undelete: .undeleted
        }
    }
}
