// An operation that awaits a decision, and what each decision leaves to be pushed. The code is pure: a policy always
// gives the same answer.

/// A conflict, or an operation that the server refused.
public struct Conflict: Hashable, Sendable {
    /// Why it awaits a decision.
    public enum State: String, Hashable, Sendable {
        /// In conflict with another change, or refused by the server.
        case conflict, parked
    }

    /// The row's table.
    public var table: String
    /// The row's id.
    public var id: String
    /// What the operation does to the row.
    public var kind: OperationKind
    /// Why it awaits a decision.
    public var state: State
    /// The status of the server's response; nil if a pull found the conflict.
    public var status: Int?
    /// Why the operation conflicted or was rejected.
    public var reason: ConflictReason
    /// The server's message.
    public var message: String?
    /// The row before the operation.
    public var base: Row?
    /// The row after the operation; nil for a delete.
    public var mine: Row?
    /// The row as the app sees it now, including later changes; nil if it was deleted.
    public var current: Row?
    /// The server's row; nil if it is gone.
    public var server: Row?
    /// Whether an earlier attempt, whose response was lost, may have been applied before another client changed the
    /// row. A server that recognizes operation ids would have said so. Policies leave such a conflict to the app.
    public var mayHaveBeenDone: Bool
    /// The columns the operation sends.
    var columns: Row
    /// For a conflict with a change of another process on this device: what the app had pending, which is part of both
    /// sides.
    var rival: Rival?
    /// The types of the table's columns, by which both sides are compared.
    private let types: TableTypes

    /// Nil if the operation does not await a decision.
    package init?(table: String, id: String, _ frozen: FrozenOperation, _ types: TableTypes) {
        switch frozen.status {
        case .inFlight: return nil
        case .conflict: state = .conflict
        case .parked: state = .parked
        }
        self.table = table
        self.id = id
        kind = frozen.kind
        status = frozen.httpStatus
        reason = ConflictReason(recorded: frozen.code)
        message = frozen.message
        base = frozen.ancestor
        mine = frozen.kind == .delete ? nil : (frozen.ancestor ?? .empty).merged(with: frozen.columns)
        current = mine
        server = frozen.server
        mayHaveBeenDone = frozen.mayHaveBeenDone
        columns = frozen.columns
        rival = frozen.rival
        self.types = types
    }
}

/// A decision about a conflict.
public enum ConflictDecision: Hashable, Sendable {
    /// Drops the local operation. For a parked operation the row returns to its base.
    case takeServer
    /// Applies the local operation to the server's row; a parked operation is tried again.
    case keepMine
    /// Combines the columns that only one side changed.
    case merge
    /// Uses the given row. Without a kind it is an update if the server has the row, and an insert otherwise.
    case row(Row, as: OperationKind? = nil)
    /// Leaves the conflict unresolved.
    case leave
}

/// How conflicts found by a push are decided.
public enum ConflictPolicy: Sendable {
    /// Leave it to the app; the server wins; the client wins; or merge if the two changed different columns.
    case fail, serverWins, clientWins, merge
    /// A function of the app, which must be pure.
    case custom(name: String, @Sendable (Conflict) -> ConflictDecision)

    /// The policy's name in reports and in the log.
    package var name: String {
        switch self {
        case .fail: "fail"
        case .serverWins: "server-wins"
        case .clientWins: "client-wins"
        case .merge: "merge"
        case .custom(let name, _): name
        }
    }

    /// Whether the policy restores a row that another client deleted.
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
    /// Returns the event of a decision, or nil to leave the conflict.
    package func resolution(
        _ decision: ConflictDecision, hasBase: Bool, policy: String? = nil
    ) throws(SyncError) -> Resolution? {
        let choice: Resolution.Choice
        let change: Resolution.Change?
        switch decision {
        case .leave: return nil
        case .takeServer: (choice, change) = (.takeServer, rival.map { .init(kind: $0.kind, columns: $0.columns) })
        case .keepMine: (choice, change) = (.keepMine, kept(hasBase: hasBase))
        case .merge: (choice, change) = (.merge, try merged(hasBase: hasBase))
        case .row(let row, let kind):
            change = chosen(row.own, kind, hasBase: hasBase)
            // An empty update leaves the server's row.
            choice = change == nil && kind != .delete ? .takeServer : .row
        }
        return Resolution(table: table, id: id, choice: choice, change: change, policy: policy)
    }

    /// Returns the change for a row that the app chose. A row that is gone is inserted, whatever kind was given.
    /// Nothing is sent to delete a missing row or to change nothing.
    private func chosen(_ row: Row, _ kind: OperationKind?, hasBase: Bool) -> Resolution.Change? {
        if rival != nil, kind ?? .update == .update { return row.isEmpty ? nil : changed(hasBase: hasBase, row) }
        switch kind {
        case .delete: return hasBase ? Resolution.Change(kind: .delete, columns: .empty) : nil
        case .insert: return Resolution.Change(kind: .insert, columns: row)
        case .update where state == .parked || server != nil, nil where hasBase:
            return row.isEmpty ? nil : Resolution.Change(kind: .update, columns: row)
        case .update, nil: return Resolution.Change(kind: .insert, columns: row)
        }
    }

    /// The local operation applied to the server's row.
    private func kept(hasBase: Bool) -> Resolution.Change? {
        switch (state, kind) {
        case (.parked, _): Resolution.Change(kind: kind, columns: columns)
        case (.conflict, .delete) where rival != nil:
            hasBase ? Resolution.Change(kind: .delete, columns: .empty) : nil
        case (.conflict, .delete):
            server == nil && reason != .rightLost ? nil : Resolution.Change(kind: .delete, columns: .empty)
        case (.conflict, _) where rival != nil:
            Resolution.Change(kind: hasBase ? .update : .insert, columns: hasBase ? columns : (mine ?? .empty).own)
        case (.conflict, _):
            server == nil
                ? Resolution.Change(kind: .insert, columns: (mine ?? .empty).own)
                : Resolution.Change(kind: .update, columns: columns)
        }
    }

    /// The app's own pending operation with some columns set on top of it.
    private func changed(hasBase: Bool, _ row: Row) -> Resolution.Change {
        Resolution.Change(kind: hasBase ? .update : .insert, columns: (rival?.columns ?? .empty).merged(with: row))
    }

    /// The columns that both sides changed, to different values; none if one side deleted the row.
    package var collidingColumns: [String] {
        guard let server, kind != .delete else { return [] }
        return columns.collidingColumns(with: server, since: base, types)
    }

    /// Returns what remains of the local operation if the server's row has the rest, or nil if nothing does.
    private func merged(hasBase: Bool) throws(SyncError) -> Resolution.Change? {
        if state == .parked { return kept(hasBase: hasBase) }
        guard let server, kind != .delete else {
            throw SyncError(
                .mergeConflict, "one side deleted the row and the other changed it",
                hint: "Take the server's row or keep yours.")
        }
        if let name = collidingColumns.first {
            throw SyncError(
                .mergeConflict, "both sides changed the column \"\(name)\"",
                hint: "Take the server's row, keep yours, or write a row of your own.")
        }
        let left = columns.members.filter { !types[$0.name].areSame(server[$0.name] ?? .null, $0.value) }
        if rival != nil { return changed(hasBase: hasBase, Row(left)) }
        return left.isEmpty ? nil : Resolution.Change(kind: .update, columns: Row(left))
    }
}

extension StateReader {
    /// Returns the operations that await a decision, in plan order.
    package func conflicts() throws(SyncError) -> [Conflict] {
        var all: [Conflict] = []
        for operation in try PushPlan(self).operations where operation.isFrozen {
            guard let entry = try entry(key: operation.rowKey), let frozen = entry.pending?.frozen,
                var conflict = Conflict(
                    table: operation.table, id: operation.id, frozen, try types(of: operation.table))
            else { continue }
            conflict.current = entry.visible
            all.append(conflict)
        }
        return all
    }
}
