// An operation that waits for a decision, and what each decision leaves to be pushed. Pure: a policy gives the same answer
// wherever and whenever it is asked.

/// A conflict, or an operation that the server refused.
public struct Conflict: Hashable, Sendable {
    /// Why it waits.
    public enum State: String, Hashable, Sendable {
        /// It met another change, or the server refused it.
        case conflict, parked
    }

    /// The row's table.
    public var table: String
    /// The row's id.
    public var id: String
    /// What the operation does to the row.
    public var kind: OperationKind
    /// Why it waits.
    public var state: State
    /// The status of the server's answer; nil if a pull found it.
    public var status: Int?
    /// `conflict`, `row-gone` or `rejected`.
    public var code: String
    /// The server's words.
    public var message: String?
    /// The row the operation was made on.
    public var base: Row?
    /// That row with the operation; nil for a delete.
    public var mine: Row?
    /// The row as the app sees it now, with what was changed after the operation; nil if it was deleted.
    public var current: Row?
    /// The server's row; nil if it is gone.
    public var server: Row?
    /// Whether an earlier try, whose answer was lost, may have been done before somebody else changed the row. A server
    /// that knows operation ids would have told; policies leave such a conflict to the app.
    public var mayHaveBeenDone: Bool
    /// What the operation sends.
    var columns: Row

    /// Nil for an operation that waits for no decision.
    package init?(table: String, id: String, _ frozen: FrozenOperation) {
        switch frozen.status {
        case .inFlight: return nil
        case .conflict: state = .conflict
        case .parked: state = .parked
        }
        self.table = table
        self.id = id
        kind = frozen.kind
        status = frozen.httpStatus
        code = frozen.code ?? "conflict"
        message = frozen.message
        base = frozen.ancestor
        mine = frozen.kind == .delete ? nil : (frozen.ancestor ?? .empty).merged(with: frozen.columns)
        current = mine
        server = frozen.server
        mayHaveBeenDone = frozen.mayHaveBeenDone
        columns = frozen.columns
    }
}

/// What to do about a conflict.
public enum ConflictDecision: Hashable, Sendable {
    /// Mine is dropped; of a parked operation the base stays.
    case takeServer
    /// Mine goes on, on top of the server's row; a parked operation is tried again.
    case keepMine
    /// The columns that only one side changed are joined.
    case merge
    /// A row of the app's choosing; without a kind an update if the server has the row, else an insert.
    case row(Row, as: OperationKind? = nil)
    /// It stays.
    case leave
}

/// Who decides conflicts that arise in a push.
public enum ConflictPolicy: Sendable {
    /// Nobody, the server, the client, or both where they changed different columns.
    case fail, serverWins, clientWins, merge
    /// The app's own function, which must be pure.
    case custom(name: String, @Sendable (Conflict) -> ConflictDecision)

    /// Its name in reports and in the log.
    package var name: String {
        switch self {
        case .fail: "fail"
        case .serverWins: "server-wins"
        case .clientWins: "client-wins"
        case .merge: "merge"
        case .custom(let name, _): name
        }
    }

    /// Whether it brings back a row that somebody else deleted.
    var revives: Bool {
        if case .clientWins = self { true } else { false }
    }

    package func decide(_ conflict: Conflict) -> ConflictDecision {
        switch self {
        case .fail: .leave
        case .serverWins: .takeServer
        case .clientWins: .keepMine
        case .merge: .merge
        case .custom(_, let decide): decide(conflict)
        }
    }
}

extension Conflict {
    /// The event of a decision; nil to leave it.
    package func resolution(
        _ decision: ConflictDecision, hasBase: Bool, policy: String? = nil
    ) throws(SyncError) -> Resolution? {
        let choice: Resolution.Choice
        let change: Resolution.Change?
        switch decision {
        case .leave: return nil
        case .takeServer: (choice, change) = (.takeServer, nil)
        case .keepMine: (choice, change) = (.keepMine, kept)
        case .merge: (choice, change) = (.merge, try merged())
        case .row(let row, let kind):
            change = chosen(row.own, kind, hasBase: hasBase)
            // An update of nothing leaves the server's row.
            choice = change == nil && kind != .delete ? .takeServer : .row
        }
        return Resolution(table: table, id: id, choice: choice, change: change, policy: policy)
    }

    /// A row of the app's choosing. A row that is gone is inserted, whatever else was said; nothing needs to be sent to delete
    /// a row that is not there, or to change nothing.
    private func chosen(_ row: Row, _ kind: OperationKind?, hasBase: Bool) -> Resolution.Change? {
        switch kind {
        case .delete: return hasBase ? Resolution.Change(kind: .delete, columns: .empty) : nil
        case .insert: return Resolution.Change(kind: .insert, columns: row)
        case .update where state == .parked || server != nil, nil where hasBase:
            return row.isEmpty ? nil : Resolution.Change(kind: .update, columns: row)
        case .update, nil: return Resolution.Change(kind: .insert, columns: row)
        }
    }

    /// Mine on top of what the server has.
    private var kept: Resolution.Change? {
        switch (state, kind) {
        case (.parked, _): Resolution.Change(kind: kind, columns: columns)
        case (.conflict, .delete): server == nil ? nil : Resolution.Change(kind: .delete, columns: .empty)
        case (.conflict, _):
            server == nil
                ? Resolution.Change(kind: .insert, columns: (mine ?? .empty).own)
                : Resolution.Change(kind: .update, columns: columns)
        }
    }

    /// What is left of mine where the server's row has the rest; nil if nothing is.
    private func merged() throws(SyncError) -> Resolution.Change? {
        if state == .parked { return kept }
        guard let server, kind != .delete else {
            throw SyncError(
                .mergeConflict, "one side deleted the row and the other changed it",
                hint: "Take the server's row or keep yours.")
        }
        var left: [Value.Member] = []
        for member in columns.members {
            let theirs = server[member.name] ?? .null
            if theirs.means(member.value) { continue }
            guard theirs.means(base?[member.name] ?? .null) else {
                throw SyncError(
                    .mergeConflict, "both sides changed the column \"\(member.name)\"",
                    hint: "Take the server's row, keep yours, or give a row of your choosing.")
            }
            left.append(member)
        }
        return left.isEmpty ? nil : Resolution.Change(kind: .update, columns: Row(left))
    }
}

extension StateReader {
    /// Operations that wait for a decision, in the order of the plan.
    package func conflicts() throws(StateError) -> [Conflict] {
        var all: [Conflict] = []
        for operation in try PushPlan(self).operations where operation.isFrozen {
            guard let entry = try entry(key: operation.rowKey), let frozen = entry.pending?.frozen,
                var conflict = Conflict(table: operation.table, id: operation.id, frozen)
            else { continue }
            conflict.current = entry.visible
            all.append(conflict)
        }
        return all
    }
}
