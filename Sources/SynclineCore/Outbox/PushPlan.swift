// The operations that a push would send now, in order: the journal's changes, collapsed row by row. Only reads the
// state.

/// An operation of the plan.
public struct PlannedOperation: Hashable, Sendable {
    /// The state of an operation.
    public enum State: String, Hashable, Sendable {
        /// Not sent yet, or sent with an unknown outcome: a push sends it again unchanged.
        case pending
        /// Being sent now.
        case inFlight = "in-flight"
        /// Its row changed on the server; it awaits a decision.
        case conflict
        /// The server refused it; it awaits a decision.
        case parked
        /// Its row is held: it is not sent until the row is released.
        case held

        /// Whether a push sends it.
        package var isSent: Bool { self == .pending || self == .inFlight }
    }

    /// The table of the row.
    public var table: String { address.table }
    /// The row's id.
    public var id: String { address.id }
    /// What it does to the row.
    public var kind: OperationKind
    /// Its state.
    public var state: State
    /// Whether the server may have seen it already.
    public var maybeSent: Bool
    /// Whether it was sent, is in conflict, or parked: it is sent again unchanged, or not at all.
    package var isFrozen = false
    /// Whether its row has another operation in the plan.
    package var isOneOfSeveral = false
    /// Whether an operation before it on the same row awaits a decision.
    var isBlocked = false
    /// Its place in the order of the push.
    package var position: Position
    /// The event of the first change that it contains.
    private let first: UInt64
    /// The last change that it contains.
    package var through: Position
    /// The row's key in the state.
    package var rowKey: [UInt8]
    private let details: Details?

    /// What few operations have. It is apart from the rest because a plan may have a million operations.
    private indirect enum Details: Hashable, Sendable {
        case present(spelling: String?, status: Int?, code: String?)
    }

    /// - Parameters:
    ///   - position: Its place in the order of the push.
    ///   - first: Its first change, if that is another.
    ///   - spelling: The spelling of the id, if the key does not have it.
    ///   - status: If it awaits a decision: the status of the server's answer.
    ///   - code: If it awaits a decision: the reason.
    package init(
        _ kind: OperationKind, _ state: State, maybeSent: Bool = false, at position: Position,
        from first: Position? = nil, through: Position, rowKey: [UInt8], spelling: String? = nil, status: Int? = nil,
        code: String? = nil
    ) {
        (self.kind, self.state, self.maybeSent) = (kind, state, maybeSent)
        (self.position, self.first, self.through) = (position, (first ?? position).event, through)
        self.rowKey = rowKey
        details =
            spelling == nil && status == nil && code == nil
            ? nil : .present(spelling: spelling, status: status, code: code)
    }

    /// The first and the last event whose changes it contains.
    public var events: ClosedRange<EventNumber> { EventNumber(rawValue: first)...EventNumber(rawValue: through.event) }

    /// If the operation awaits a decision: the status of the server's answer.
    package var status: Int? { if case .present(_, let status, _)? = details { status } else { nil } }

    /// If the operation awaits a decision: the reason.
    package var code: String? { if case .present(_, _, let code)? = details { code } else { nil } }

    /// Whether a push sends it: it awaits nothing, and neither does one before it on the same row.
    package var isToPush: Bool { state.isSent && !isBlocked }

    /// Whether an insert of another row may move it to its last change.
    fileprivate var isMovable: Bool { kind == .update && !isFrozen && through > position }

    /// The row's table and id, both decoded from its key.
    package var address: (table: String, id: String) {
        guard let row = try? RowKey(malformed: rowKey) else {
            preconditionFailure("a plan is made of keys that were read from the state")
        }
        if case .present(let spelling?, _, _)? = details { return (row.table, spelling) }
        return (row.table, row.id)
    }
}

package struct PushPlan {
    package private(set) var operations: [PlannedOperation] = []
    /// Rows whose changes cancel each other out.
    package private(set) var voids: [(rowKey: [UInt8], through: Position)] = []

    package init(_ reader: StateReader) throws(SyncError) {
        var (operations, voids): ([PlannedOperation], [(rowKey: [UInt8], through: Position)]) = ([], [])
        try PushPlan.forEachOperation(reader) { operation throws(SyncError) in
            operations.append(operation)
            return true
        } void: {
            voids.append(($0, $1))
        }
        (self.operations, self.voids) = (operations, voids)
    }

    /// The operations that a push sends: not those that await a decision or are held, nor those after
    /// them on the same row.
    package var toPush: [PlannedOperation] { operations.filter(\.isToPush) }

    /// Calls `body` with each operation, in order, until it returns false. Only those are kept in memory that come later
    /// than the first change of their row.
    package static func forEachOperation(
        _ reader: StateReader, _ body: (PlannedOperation) throws(SyncError) -> Bool,
        void: ([UInt8], Position) -> Void = { _, _ in }
    ) throws(SyncError) {
        // They are read only if an update may have to move.
        var inserts: PlannedInserts?
        var late = LateOperations()
        var goesOn = true
        try walk(reader) { found, place throws(SyncError) in
            while goesOn, let next = late.takeFirst(before: place) { goesOn = try body(next) }
            guard goesOn else { return false }
            var operation = found
            if operation.isMovable {
                let all = if let inserts { inserts } else { try PlannedInserts(reader) }
                inserts = all
                operation.position = all.place(ofUpdate: operation.position, through: operation.through)
            }
            if operation.position > place {
                late.insert(operation)
            } else {
                goesOn = try body(operation)
            }
            return goesOn
        } void: {
            void($0, $1)
        }
        while goesOn, let next = late.takeFirst() { goesOn = try body(next) }
    }

    /// The same with a body that throws any error.
    package static func forEach(_ reader: StateReader, _ body: (PlannedOperation) throws -> Void) throws {
        var failure: (any Error)?
        try forEachOperation(reader) { operation throws(SyncError) in
            do { try body(operation) } catch { failure = error }
            return failure == nil
        }
        if let failure { throw failure }
    }

    /// Calls `body` with the operations of each row, by the rows' first changes, and with the place of that change.
    static func walk(
        _ reader: StateReader, _ body: (PlannedOperation, Position) throws(SyncError) -> Bool,
        void: ([UInt8], Position) -> Void = { _, _ in }
    ) throws(SyncError) {
        let spellsIDs = reader.spellsIDs
        let held = try reader.heldKeys()
        func state(_ key: [UInt8]) -> PlannedOperation.State { held.contains(key) ? .held : .pending }
        try reader.forEachChange { position, change throws(SyncError) in
            // A row's operations are found with its first change.
            guard change.previous == nil else { return true }
            guard change.content == nil, !change.isFrozen else {
                guard let entry = try reader.entry(key: change.rowKey), let pending = entry.pending else {
                    throw .malformed("an outbox entry without changes")
                }
                if pending.frozen == nil, pending.operation == nil { void(change.rowKey, pending.last) }
                for operation in PushPlan.operations(
                    of: pending, entry, change.rowKey, state(change.rowKey))
                {
                    guard try body(operation, position) else { return false }
                }
                return true
            }
            guard let kind = CompactorRule(change, after: nil).operation else {
                void(change.rowKey, position)
                return true
            }
            // If the store ignores case, the key does not have the id's spelling.
            let spelling = spellsIDs ? try reader.entry(key: change.rowKey)?.spelling : nil
            return try body(
                PlannedOperation(
                    kind, state(change.rowKey), at: position, through: position, rowKey: change.rowKey,
                    spelling: spelling), position)
        }
    }

    private static func operations(
        of pending: PendingRow, _ entry: RowEntry, _ key: [UInt8], _ unsent: PlannedOperation.State
    ) -> [PlannedOperation] {
        var operations: [PlannedOperation] = []
        if let frozen = pending.frozen {
            let state: PlannedOperation.State =
                switch frozen.status {
                case .inFlight: unsent
                case .conflict: .conflict
                case .parked: .parked
                }
            var sent = PlannedOperation(
                frozen.kind, state, maybeSent: frozen.maybeSent, at: frozen.position,
                from: min(pending.first, frozen.through), through: frozen.through, rowKey: key,
                spelling: entry.spelling, status: frozen.httpStatus, code: frozen.code)
            (sent.isFrozen, sent.isOneOfSeveral) = (true, pending.operation != nil)
            operations.append(sent)
        }
        if let operation = pending.operation {
            var next = PlannedOperation(
                operation.kind, unsent, at: operation.first, through: pending.last, rowKey: key,
                spelling: entry.spelling)
            next.isOneOfSeveral = pending.frozen != nil
            next.isBlocked = pending.frozen.map { $0.status != .inFlight } ?? false
            operations.append(next)
        }
        return operations
    }

    /// The columns that an operation sends, sorted by name: all for an insert, the changed ones for an update, none for
    /// a delete.
    package static func fields(
        of operation: PlannedOperation, _ reader: StateReader
    ) throws(SyncError) -> [String] {
        guard operation.kind != .delete, let pending = try reader.entry(key: operation.rowKey)?.pending else {
            return []
        }
        return sorted(try columns(of: operation, pending, reader).columns)
    }

    /// The columns that an operation sets.
    package static func columns(
        of operation: PlannedOperation, _ pending: PendingRow, _ reader: StateReader
    ) throws(SyncError) -> Row {
        guard let frozen = pending.frozen else { return pending.overlay }
        if operation.isFrozen { return frozen.columns }
        // Changes that follow a sent operation cover it in the row: their own columns are in the journal.
        var changes: [JournalEntry] = []
        var next: Position? = pending.last
        while let position = next, position > frozen.through {
            changes.append(try reader.change(at: position))
            next = try changes[changes.count - 1].previous(before: position)
        }
        var (left, columns): (OperationKind?, Row) = (nil, .empty)
        for change in changes.reversed() {
            let rule = CompactorRule(change, after: left)
            (left, columns) = (rule.operation, rule.columns(columns, change.content ?? .empty))
        }
        return columns
    }

    private static func sorted(_ names: [String]) -> [String] {
        names.sorted { Value.compare(.string($0), .string($1)) == .less }
    }
}

extension PlannedInserts {
    /// Those of the outbox.
    fileprivate init(_ reader: StateReader) throws(SyncError) {
        var positions: [Position] = []
        try PushPlan.walk(reader) { operation, _ throws(SyncError) in
            if operation.kind == .insert { positions.append(operation.position) }
            return true
        }
        self.init(positions)
    }
}

extension RowEntry? {
    /// How many operations of a row a push sends, unless the row is held.
    package var sentCount: Int {
        guard let pending = self?.pending, pending.frozen.map({ $0.status == .inFlight }) ?? true else { return 0 }
        return (pending.frozen == nil ? 0 : 1) + (pending.operation == nil ? 0 : 1)
    }
}
