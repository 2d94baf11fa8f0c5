// Judges one caller's requests about the rows of a table: what the caller sees of a row, and whether a write is permitted.
// It is the only one that knows what an owner column and rules mean.

import SynclineCore
import SynclineGround
package import SynclineWire

package struct RightsJudge<Source: RightsSource> {
    private let definition: TableDefinition
    private let caller: CallerRights
    private let roles: Set<String>
    private let source: Source

    package init(_ definition: TableDefinition, _ rights: TableRights, _ caller: Caller?, _ source: Source) {
        self.definition = definition
        self.caller = CallerRights(caller?.subject ?? "", rights.terms)
        roles = caller?.roles ?? []
        self.source = source
    }

    /// Whether callers may have had a right to a row that they don't see.
    package var mayHaveLost: Bool { definition.rules.read != nil }

    /// The row as the caller sees it: changed not before the caller's right began. Nil if it is hidden. A deleted row is
    /// seen by those who would see it if it were restored, and saw it when it was deleted.
    package func sight(of row: TableRow) throws(StoreFailure) -> TableRow? {
        if !mayHaveLost { return definition.shows(row.columns, to: caller.subject) ? row : nil }
        if !row.isDeleted { return try caller.since(row, source).map(row.shown) }
        var stays = try source.stays(definition.name, id: row.id)
        guard case .lost(_, byDeletion: true) = try caller.right(to: stays, source).standing else { return nil }
        stays.reopen()
        guard case .held(let since) = try caller.right(to: stays, source).standing else { return nil }
        return row.shown(since: since)
    }

    package func right(to id: String) throws(StoreFailure) -> RowRight {
        try caller.right(to: try source.stays(definition.name, id: id), source)
    }

    /// Ids that can be guessed would tell of hidden rows.
    func refusal(ofNewID id: String) -> Refusal? {
        if !mayHaveLost || UnguessableID.isOne(id) { return nil }
        return Refusal(400, "invalid-id", "The ids of table \(definition.name) are UUIDs")
    }

    /// The refusal of an insert whose id a hidden row has.
    var refusalOfHiddenID: Refusal { mayHaveLost ? .rowExists : .idTaken }

    /// The reason why rules do not permit operations on a row, be it deleted or not; nil if they do.
    func refusal(of operations: [RuleOperation], on row: TableRow) throws(StoreFailure) -> Refusal? {
        if definition.rules.isEmpty { return nil }
        var row = row
        row.isDeleted = false
        for operation in operations {
            guard let rule = definition.rules.rule(operation) else { continue }
            switch try caller.standing(under: rule, row, roles, source) {
            case .held: continue
            case .lost: return .rightLost
            case .never: return .notPermitted
            }
        }
        return nil
    }

    package func permits(_ operation: RuleOperation, on row: TableRow) throws(StoreFailure) -> Bool {
        try refusal(of: [operation], on: row) == nil
    }

    /// The writes that rules permit on a row as it is; nil if it is hidden.
    package func permitted(on row: TableRow) throws(StoreFailure) -> Set<RuleOperation>? {
        guard let seen = try sight(of: row) else { return nil }
        var all: Set<RuleOperation> = []
        for operation in RuleOperation.allCases where try permits(operation, on: seen) { all.insert(operation) }
        return all
    }

    /// The outcome as the caller may see it, just after it was carried out. Who deletes a row sees what was deleted.
    package func told(_ outcome: WriteOutcome) throws(StoreFailure) -> WriteOutcome {
        if case .done(.deleted, _) = outcome { return outcome }
        return try told(outcome, now: outcome.row)
    }

    /// The outcome of an earlier write as the caller may see it, with the row as it is now.
    package func told(_ outcome: WriteOutcome, now: TableRow?) throws(StoreFailure) -> WriteOutcome {
        guard mayHaveLost, case .done(_, let row) = outcome else { return outcome }
        if let now, try sight(of: now) != nil { return outcome }
        return outcome.with(row.hidden)
    }
}

extension [RowStay] {
    /// Continues the stays that ended when the row was last deleted.
    fileprivate mutating func reopen() {
        let deletions = filter(\.endedByDeletion)
        guard let last = deletions.compactMap(\.interval.end?.change).max() else { return }
        self = deletions.filter { $0.interval.end?.change == last }.map { stay in
            var stay = stay
            stay.interval.end = nil
            return stay
        }
    }
}

extension TableRow {
    /// The row as a caller with a right since a moment sees it.
    package func shown(since: Stamp) -> TableRow {
        var row = self
        row.show(since: since)
        return row
    }

    package mutating func show(since: Stamp) {
        let instant = since.instant
        if updatedAt < instant { updatedAt = instant }
    }

    /// What is told of the row to a caller who may not see it: the id and the version.
    package var hidden: TableRow {
        var row = bare
        row.isHidden = true
        return row
    }

    /// What is told of a row to which a caller has lost the right.
    package static func departed(_ id: String, _ end: Stamp) -> TableRow {
        TableRow(
            id: id, columns: .empty, createdAt: end.instant, updatedAt: end.instant,
            version: RowVersion.text(end.change), isDeleted: true)
    }
}

/// Ids that other callers can't guess.
package enum UnguessableID {
    package static func isOne(_ id: String) -> Bool {
        ColumnType.uuid.fits(.string(id)) || id.utf8.count == 32 && id.utf8.allSatisfy { Hexadecimal.value($0) != nil }
    }
}
