// The remembered result of a completed operation, so that a repeat gets its answer: the kind of its outcome, and the
// row at that time. A refused operation changed nothing and is decided again.

import SynclineCore
import SynclineWire

enum OperationMemory {
    /// The suffix for the kind of an outcome whose row was too large to keep.
    private static let bare = "-bare"

    /// Nil for an operation that changed nothing.
    static func texts(_ outcome: WriteOutcome) -> (kind: String, row: String)? {
        let kind: String
        switch outcome {
        case .inserted: kind = "inserted"
        case .changed: kind = "changed"
        case .deleted: kind = "deleted"
        case .undeleted: kind = "undeleted"
        case .refused, .failed: return nil
        }
        guard let row = outcome.row else { return nil }
        return (kind + (row.isBare ? bare : ""), String(decoding: row.json(.zumo2), as: UTF8.self))
    }

    static func outcome(kind: String, text: String) -> WriteOutcome? {
        guard case .object(let members)? = try? Value(json: text.utf8), let row = row(members) else { return nil }
        if kind.hasSuffix(bare) { return outcome(kind: String(kind.dropLast(bare.count)), row.bare) }
        return outcome(kind: kind, row)
    }

    private static func outcome(kind: String, _ row: TableRow) -> WriteOutcome? {
        switch kind {
        case "inserted": .inserted(row)
        case "changed": .changed(row)
        case "deleted": .deleted(row)
        case "undeleted": .undeleted(row)
        default: nil
        }
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
