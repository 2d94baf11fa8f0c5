// The remembered result of a completed operation, so that a repeat gets its answer: the kind of its outcome, and the
// row at that time. A refused operation changed nothing and is decided again.

import SynclineCore
import SynclineTables
import SynclineWire

/// What is stored of an operation.
struct Receipt: Hashable, Sendable {
    var table: String
    var kind: String
    var row: String
}

enum OperationMemory {
    /// The suffix for the kind of an outcome whose row was too large to keep.
    private static let bare = "-bare"

    /// Nil for an operation that changed nothing.
    static func texts(_ outcome: WriteOutcome) -> (kind: String, row: String)? {
        guard case .done(let effect, let row) = outcome else { return nil }
        return (effect.rawValue + (row.isBare ? bare : ""), String(decoding: row.json(.zumo2), as: UTF8.self))
    }

    static func outcome(kind: String, text: String) -> WriteOutcome? {
        guard case .object(let members)? = try? Value(json: text.utf8), let row = row(members) else { return nil }
        let isBare = kind.hasSuffix(bare)
        let effect = WriteOutcome.Effect(rawValue: isBare ? String(kind.dropLast(bare.count)) : kind)
        return effect.map { .done($0, isBare ? row.bare : row) }
    }

    /// A column may have a system column's name in another letter case, so each is identified by its position.
    private static func row(_ members: [Value.Member]) -> TableRow? {
        guard members.count >= 5, case .string(let id) = members[0].value else { return nil }
        let system = members.suffix(4).map(\.value)
        guard case .string(let created) = system[0], case .string(let updated) = system[1],
            case .string(let version) = system[2], case .bool(let isDeleted) = system[3],
            let createdAt = Timestamp(created), let updatedAt = Timestamp(updated)
        else { return nil }
        return TableRow(
            id: id, columns: Row(members.dropFirst().dropLast(4)), createdAt: createdAt.instant,
            updatedAt: updatedAt.instant, version: version, isDeleted: isDeleted)
    }
}
