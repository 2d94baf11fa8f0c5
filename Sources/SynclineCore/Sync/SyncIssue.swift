// A thing of sync that needs a person: what it is, the rows that it is about, and what can be done. Pure.

/// Something of sync that a person has to decide or to know.
public struct SyncIssue: Hashable, Identifiable, Sendable {
    /// What it is.
    public enum Kind: String, CaseIterable, Hashable, Sendable {
        /// The row changed here and elsewhere.
        case conflict
        /// The server refused the operation, or the user lost the right to its row.
        case refused
        /// The row is held.
        case held
        /// The server's row can't be read.
        case unreadable
        /// A change of another process can't be taken in.
        case waiting
    }

    /// What can be done about it.
    public enum Action: Hashable, Sendable {
        /// Tries it once more: sends a refused operation, releases a held row, reads the table of an unreadable row
        /// again, takes in a waiting change.
        case retry
        /// Drops the change: that of a refused operation, all that is pending on a held row, or a waiting commit.
        case discard
        /// Decides a conflict or a refused operation.
        case decide(ConflictDecision)

        /// A button's text.
        public var title: String {
            switch self {
            case .retry: "Try again"
            case .discard: "Discard my change"
            case .decide(.takeServer): "Take the server's row"
            case .decide(.keepMine): "Keep mine"
            case .decide(.merge): "Combine both"
            case .decide(.row): "Use another row"
            case .decide(.leave): "Decide later"
            }
        }
    }

    /// Stays the same for as long as the issue is listed.
    public struct ID: Hashable, Sendable {
        let kind: Kind
        let table: String?
        let row: String?
        /// What distinguishes issues without a row.
        let mark: String?
    }

    /// A column in which the rows differ.
    public struct Line: Hashable, Sendable {
        /// The column's name.
        public var column: String
        /// Its value in each row; nil if the row is missing or does not have it.
        public var base, mine, server: Value?
    }

    /// What it is.
    public var kind: Kind
    /// The row's table; nil if a waiting change can't be read.
    public var table: String?
    /// The row's id; nil if that can't be read. A waiting commit has its first row here.
    public var rowID: String?
    /// What happened: one of a few fixed sentences, which an app can translate.
    public var reason: String
    /// The server's message, or another reason that is known in more detail.
    public var detail: String?
    /// The last row that the server sent, on which the change was made.
    public var base: Row?
    /// The row with the change; nil if it was deleted, or if nothing changed here.
    public var mine: Row?
    /// The server's row in a conflict; nil if it is gone.
    public var server: Row?
    /// What can be done, the most likely first. A conflict and a refused operation also take a row of the app's choice:
    /// `.decide(.row(…))`.
    public var actions: [Action]
    /// A conflict or a refused operation, with all that is known of it.
    public var conflict: Conflict?
    /// The commit of another process that waits.
    public var commit: String?
    /// A hash of a row without an id that can't be read.
    private var digest: UInt64?

    /// Identifies the issue in lists.
    public var id: ID { ID(kind: kind, table: table, row: rowID, mark: commit ?? digest.map { "\($0)" }) }

    /// The row, as `table/id`; nil if it is not known.
    public var address: String? {
        guard let table, let rowID else { return nil }
        return "\(table)/\(rowID)"
    }

    /// The columns in which the rows differ, without those of the server.
    public var lines: [Line] {
        // A row that is new here is compared with nothing.
        let rows = [server == nil ? base ?? .empty : base, mine, server].compactMap(\.self)
        var names: [String] = []
        for name in rows.flatMap({ $0.own.members.map(\.name) }) where !names.contains(name) { names.append(name) }
        return names.compactMap { name in
            let values = rows.map { $0[name] ?? .null }
            guard values.dropFirst().contains(where: { !$0.means(values[0]) }) else { return nil }
            return Line(column: name, base: base?[name], mine: mine?[name], server: server?[name])
        }
    }

    /// Whether this is what another one of the same id showed, so that a decision about that one fits.
    package func shows(the other: SyncIssue) -> Bool {
        (kind, base, mine, server) == (other.kind, other.base, other.mine, other.server)
            && (reason, detail, commit) == (other.reason, other.detail, other.commit)
    }
}

extension SyncIssue {
    package init(_ conflict: Conflict) {
        let isRefused = conflict.state == .parked || conflict.reason == .rightLost
        self.init(
            kind: isRefused ? .refused : .conflict, table: conflict.table, rowID: conflict.id,
            reason: conflict.sentence, detail: conflict.message, base: conflict.base, mine: conflict.mine,
            server: conflict.server, actions: [.retry, .discard], conflict: conflict)
        if kind == .refused {
            let words = [conflict.status.map { "\($0)" }, conflict.message].compactMap(\.self)
            detail = words.isEmpty ? nil : words.joined(separator: ": ")
        } else {
            let canMerge = (try? conflict.resolution(.merge, hasBase: true)) != nil
            actions = (canMerge ? [.decide(.merge)] : []) + [.decide(.keepMine), .decide(.takeServer)]
        }
    }

    /// - Parameter entry: What the state has of the row.
    package init(held row: RowKey, _ entry: RowEntry?) {
        let pending = entry?.pending
        // Only a conflict's own issue drops it, and what the server may have got is not dropped without a push.
        let canDiscard = pending.map { $0.frozen.map { $0.status == .inFlight && !$0.maybeSent } ?? true } ?? false
        self.init(
            kind: .held, table: row.table, rowID: entry?.spelling ?? row.id,
            reason: "The row is held: its changes are not sent.", base: entry?.base,
            mine: pending == nil ? nil : entry?.visible, actions: canDiscard ? [.retry, .discard] : [.retry])
    }

    /// - Parameter entry: What the state has of the row.
    package init(_ row: UnreadableRow, _ entry: RowEntry?) {
        self.init(
            kind: .unreadable, table: row.table, rowID: row.id, reason: "The server's row can't be read.",
            detail: row.reason, base: entry?.base, mine: entry?.pending == nil ? nil : entry?.visible,
            actions: [.retry], digest: row.id == nil ? row.digest : nil)
    }

    /// - Parameters:
    ///   - commit: The commit of another process that waits.
    ///   - row: The first row that it changes, with the columns that it sets; nil if it can't be read.
    ///   - detail: Why it waits.
    package init(waiting commit: String, _ row: (table: String, id: String, columns: Row)?, _ detail: String) {
        self.init(
            kind: .waiting, table: row?.table, rowID: row?.id,
            reason: "A change of another process can't be taken in.", detail: detail, mine: row?.columns,
            actions: [.retry, .discard], commit: commit)
    }
}

extension Conflict {
    /// What happened.
    fileprivate var sentence: String {
        if reason == .rightLost { return "The right to the row was lost." }
        if state == .parked { return "The server refused the change." }
        if rival != nil { return "The row was changed here and by another process." }
        if mayHaveBeenDone { return "The row was changed on the server, perhaps after this change had arrived." }
        if server == nil { return "The row was changed here and deleted on the server." }
        if mine == nil { return "The row was deleted here and changed on the server." }
        return "The row was changed here and on the server."
    }
}

extension StateReader {
    /// Everything in the state that needs a person: the operations that await a decision in plan order, then the rows that
    /// are held, then those that can't be read, both by table and id.
    package func issues() throws(SyncError) -> [SyncIssue] {
        var issues = try conflicts().map { SyncIssue($0) }
        for row in try heldRows() { issues.append(SyncIssue(held: row, try entry(row.table, row.id))) }
        for row in try unreadableRows() {
            issues.append(SyncIssue(row, try row.id.flatMap { id throws(SyncError) in try entry(row.table, id) }))
        }
        return issues
    }

    /// Throws if an issue is not what it was when the app read it.
    package func check(_ issue: SyncIssue) throws(SyncError) {
        guard let now = try issues().first(where: { $0.id == issue.id }) else {
            throw SyncError(
                .operationNotFound, "nothing has to be decided here any more", hint: "`issues` lists what is left.",
                address: issue.address)
        }
        if !now.shows(the: issue) {
            throw SyncError(
                .staleItem, "the rows have changed since they were shown", hint: "Look at `issues` again.",
                address: issue.address)
        }
    }
}
