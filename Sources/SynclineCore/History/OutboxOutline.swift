// Tracks how many operations a push would send after each event, and how many await a decision, from the events alone:
// what enters, and what an answer, a resolution, an undo or a purge removes. It keeps no rows, so it is cheaper than
// a fold. If the result depends on the content of rows (a page over a pending delete, columns that never leave the
// device), it gives up instead of guessing.

import SynclineGround

package struct OutboxOutline {
    /// The changes of a row that are in the outbox.
    private struct Chain {
        var links: [Link] = []
        var frozen = Freeze.none
        /// Whether the effect of its changes was decided again since they were made.
        var isRebuilt = false

        /// How many operations a push sends for its changes; nil if that depends on the rows.
        var operations: Int? {
            guard let last = links.last else { return 0 }
            let frozenThrough: Position?
            switch frozen {
            case .none: frozenThrough = nil
            case .through(_, waits: true): return 0
            case .through(let position, _): frozenThrough = position
            case .perhaps, .unclear: return nil
            }
            let rest = links.drop { link in frozenThrough.map { link.position <= $0 } ?? false }
            let sent = frozenThrough == nil ? 0 : 1
            if rest.isEmpty { return sent }
            // A delete after an insert may have been decided again, with the row in view.
            if isRebuilt, last.kind == .delete, rest.contains(where: { $0.kind == .insert }) { return nil }
            return last.leavesNothing ? sent : sent + 1
        }

        /// Whether its operation is known to await a decision.
        var waits: Bool { if case .through(_, true) = frozen { true } else { false } }
    }

    private struct Link {
        var position: Position
        var kind: OperationKind
        /// Whether it and the changes before it cancel each other out.
        var leavesNothing: Bool

        init(_ position: Position, _ kind: OperationKind, cancels: Bool = false) {
            (self.position, self.kind) = (position, kind)
            leavesNothing = CompactorRule.leavesNothing(kind, cancels: cancels)
        }
    }

    private enum Freeze {
        case none
        /// The operation was sent, or awaits a decision, through its last change.
        case through(Position, waits: Bool)
        /// The same if a page conflicted with it, which depends on its rows.
        case perhaps(through: Position)
        /// More than one page may have conflicted.
        case unclear
    }

    private var chains: [[UInt8]: Chain] = [:]
    private var ids: IDComparison
    private let shapes: ShapeTable
    private var known = 0
    /// The number of chains whose effect depends on the rows.
    private var unclear = 0
    /// The number of operations to push; nil if it is not known.
    package var operations: Int? { unclear == 0 ? known : nil }
    /// The number of operations that await a decision; nil after a page that may have conflicted with one.
    package private(set) var waiting: Int? = 0

    /// An undo names an event; in a larger outbox, finding its changes is left to the fold.
    private static let undoLimit = 4096

    /// Nil for a state that it can't outline.
    package init?(from start: Projector) throws(SyncError) {
        guard !start.declaration.hasLocalColumns else { return nil }
        ids = start.state.ids
        shapes = start.shapes
        let reader = start.reader(of: start.store.snapshot)
        guard try reader.heldRows().isEmpty else { return nil }
        var chains: [[UInt8]: Chain] = [:]
        try reader.forEachChange { position, change throws(SyncError) in
            chains[change.rowKey, default: Chain()].links.append(Link(position, change.kind, cancels: change.cancels))
            return true
        }
        for key in chains.keys {
            guard let frozen = try reader.entry(key: key)?.pending?.frozen else { continue }
            chains[key]?.frozen = .through(frozen.through, waits: frozen.status != .inFlight)
        }
        waiting = chains.values.reduce(0) { $0 + ($1.waits ? 1 : 0) }
        self.chains = chains
        for chain in chains.values { count(chain, 1) }
    }

    /// Takes the next record; returns false if its effect, and so that of all later ones, is not known.
    package mutating func fold(_ record: UnsafeRawBufferPointer, number: UInt64) throws(SyncError) -> Bool {
        var reader = try EventReader(record, shapes)
        switch reader.kind {
        case .opened, .cursorReset, .indexed, .typed, .serverWorked, .carried: return true
        case .local: return try foldLocal(&reader, number)
        default: break
        }
        switch try reader.event().body {
        case .opened, .cursorReset, .indexed, .typed, .serverWorked, .carried, .local: return true
        case .configured(let name, let value):
            if Hold.row(name) != nil { return false }
            guard name == SettingName.ids else { return true }
            ids = value == .string("ignore-case") ? .ignoreCase : .exact
            return chains.isEmpty
        case .declared(let declaration, let steps): return steps.isEmpty && !Optional(declaration).hasLocalColumns
        case .undone(let event): return undo(event)
        case .page(let page):
            if page.isAudit || chains.isEmpty { return true }
            return page.rows.allSatisfy { pull($0, in: page.table) }
        case .purged(let purge):
            self.purge(purge)
            return true
        case .sent(let operations): return operations.allSatisfy { send($0) }
        case .answered(let answer): return take(answer)
        case .resolved(let resolution): return resolve(resolution, number)
        case .discarded(let table, let id):
            put(Chain(), key(table, id))
            return true
        }
    }

    // MARK: Chains

    private func key(_ table: String, _ id: String) -> [UInt8] { RowKey.bytes(table, id, ids) }

    /// Replaces a row's chain.
    private mutating func put(_ chain: Chain, _ key: [UInt8]) {
        let before = chains[key] ?? Chain()
        let waits = chain.waits && !chain.links.isEmpty
        if before.waits != waits { waiting? += waits ? 1 : -1 }
        count(before, -1)
        chains[key] = chain.links.isEmpty ? nil : chain
        count(chain, 1)
    }

    /// Adds the operations of a chain to the counts, or subtracts them.
    private mutating func count(_ chain: Chain, _ sign: Int) {
        if let operations = chain.operations { known += sign * operations } else { unclear += sign }
    }

    // MARK: Events

    private mutating func foldLocal(_ reader: inout EventReader, _ number: UInt64) throws(SyncError) -> Bool {
        do throws(MalformedBytes) {
            _ = try reader.flag()
            var index: UInt32 = 0
            while !reader.isAtEnd {
                let change = try reader.encodedChange()
                var id = ByteReader(change.id)
                guard case .string(let text) = try id.value() else { throw MalformedBytes() }
                if !CompactorRule.isEmpty(change.kind, hasColumns: !change.shape.names.isEmpty) {
                    let (key, position) = (key(change.table, text), Position(event: number, index: index))
                    var chain = chains[key] ?? Chain()
                    chain.links.append(Link(position, change.kind, cancels: change.cancels))
                    put(chain, key)
                }
                index += 1
            }
        } catch {
            throw .malformed("an event of local changes")
        }
        return true
    }

    private mutating func undo(_ event: UInt64) -> Bool {
        guard chains.count <= OutboxOutline.undoLimit else { return false }
        for (key, found) in chains {
            var chain = found
            while let last = chain.links.last, last.position.event == event {
                chain.links.removeLast()
                // What can be undone was not frozen.
                if case .perhaps(let through) = chain.frozen, last.position <= through { chain.frozen = .none }
            }
            if found.links.count == chain.links.count { continue }
            // A delete that is the last change again may cancel an insert.
            if chain.links.last?.kind == .delete { return false }
            put(chain, key)
        }
        return true
    }

    /// Handles a page's row that has pending changes.
    private mutating func pull(_ pulled: PulledRow, in table: String) -> Bool {
        let key = key(table, pulled.id)
        guard var chain = chains[key], let last = chain.links.last else { return true }
        if case .through(let position, _) = chain.frozen {
            let kind = chain.links.last { $0.position <= position }?.kind
            // Both may have deleted it.
            return pulled.row != nil || kind != .delete
        }
        // The delete may cancel out, or be what the server did as well.
        if last.kind == .delete { return false }
        waiting = nil
        switch chain.frozen {
        case .none: chain.frozen = .perhaps(through: last.position)
        case .perhaps(let through) where through != last.position: chain.frozen = .unclear
        default: break
        }
        put(chain, key)
        return true
    }

    private mutating func purge(_ purge: Purge) {
        let prefix = RowKey.prefix(purge.table)
        let keys = purge.ids?.map { key(purge.table, $0) } ?? chains.keys.filter { $0.starts(with: prefix) }
        for key in keys { put(Chain(), key) }
    }

    private mutating func send(_ sent: SentOperation) -> Bool {
        let key = key(sent.table, sent.id)
        guard var chain = chains[key] else { return false }
        let taken = chain.links.prefix { $0.position <= sent.through }.count
        guard taken > 0 else { return false }
        chain.isRebuilt = true
        if sent.operationID == nil {
            chain.links.removeFirst(taken)
            chain.frozen = .none
        } else {
            chain.frozen = .through(chain.links[taken - 1].position, waits: false)
        }
        put(chain, key)
        return true
    }

    private mutating func take(_ answer: Answer) -> Bool {
        let key = key(answer.table, answer.id)
        guard var chain = chains[key], case .through(let through, _) = chain.frozen else { return false }
        chain.isRebuilt = true
        switch answer.outcome {
        case .conflict, .parked: chain.frozen = .through(through, waits: true)
        case .tombstone, .revived, .failing, .interrupted: return true
        case .notReceived: chain.frozen = .none
        case .done:
            let taken = chain.links.prefix { $0.position <= through }.count
            chain.links.removeFirst(taken)
            chain.frozen = .none
        }
        put(chain, key)
        return true
    }

    private mutating func resolve(_ resolution: Resolution, _ number: UInt64) -> Bool {
        let key = key(resolution.table, resolution.id)
        guard var chain = chains[key] else { return false }
        let through: Position
        switch chain.frozen {
        case .through(let position, _), .perhaps(let position): through = position
        case .none, .unclear: return false
        }
        let taken = chain.links.prefix { $0.position <= through }.count
        let place = chain.links[0].position
        chain.links.removeFirst(taken)
        chain.frozen = .none
        chain.isRebuilt = true
        if resolution.change == nil, resolution.choice == .row {
            chain.links.removeFirst(CompactorRule.discarded(from: chain.links.lazy.map(\.kind)))
        }
        if let change = resolution.change {
            // A row of the app's choosing includes later changes, and may cancel out with them.
            if resolution.choice == .row && !chain.links.isEmpty { return false }
            let position = resolution.choice == .row ? Position(event: number) : place
            chain.links.insert(Link(position, change.kind), at: 0)
        }
        put(chain, key)
        return true
    }
}

extension Declaration? {
    fileprivate var hasLocalColumns: Bool { self?.localColumns(missingIn: .none).isEmpty == false }
}
