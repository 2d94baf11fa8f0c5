// A change that a client may make to a table.

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
