// Finds the event that gave each field of a row its value: folds the events that concern the row again, and compares
// the row after each.

import SynclineGround

/// The event that last changed a field.
public struct FieldOrigin: Hashable, Sendable {
    /// The column.
    public var field: String
    /// The value it was set to.
    public var value: Value
    /// The event that set it.
    public var event: EventNumber
    /// Milliseconds since 1970.
    package var time: Int64
    /// What kind of event it was.
    public var cause: String
    /// What caused the change.
    public var provenance: Provenance
}

/// Watches one row while events are folded.
package struct Blame {
    private let focus: RowFocus
    private let projector: Projector
    private var row: Row?
    private var bytes: [UInt8]?
    private var wasPending = false
    private var origins: [ExactString: FieldOrigin] = [:]
    /// The number of pages of each query of the row's table.
    private var pages: [String?: Int] = [:]
    /// Whether the state ever held anything of the row.
    package private(set) var isKnown = false
    /// How the row disappeared from the app's view; nil for a row that is there or never was.
    package private(set) var disappearance: Disappearance?
    /// The last time an operation on the row was sent.
    package private(set) var attempt: PushAttempt?
    /// The event with which the right to the row was lost; nil if the server has sent the row since.
    package private(set) var lostRight: UInt64?

    /// - Parameter start: The state before the first event, which becomes the blame's own. What it has of the row was so
    ///   before the history begins.
    package init(table: String, id: String, from start: Projector) throws(SyncError) {
        focus = RowFocus(table: table, id: id)
        projector = start
        try look(Occasion(event: start.through, time: 0, provenance: .beginning), cause: "checkpoint")
    }

    /// Takes the next record; returns whether it concerned the row.
    @discardableResult
    package mutating func fold(_ record: UnsafeRawBufferPointer, number: UInt64) throws(SyncError) -> Bool {
        var reader = try EventReader(record, projector.shapes)
        if reader.kind == .page { try count(page: record) }
        guard focus.mayConcern(record, kind: reader.kind) else { return false }
        let event = try reader.event()
        try projector.apply(event, number: number, onlyTo: focus)
        var page = 0
        var cause: Disappearance.PullCause?
        if case .page(let pulled) = event.body {
            page = pages[pulled.queryID] ?? 0
            cause = pulled.isAudit ? .audit : departure(in: pulled)
        }
        note(event, number: number)
        if cause == .right { lostRight = number }
        let provenance = Provenance(event, row: focus, page: page)
        return try look(
            Occasion(event: number, time: event.time, provenance: provenance), cause: event.cause, cause,
            renames: renames(event))
    }

    private func departure(in page: PulledPage) -> Disappearance.PullCause {
        let key = projector.state.rowKey(focus.table, focus.id)
        let row = page.rows.last { $0.hasLeft && projector.state.rowKey(page.table, $0.id) == key }
        return row.map { $0.isByRight ? .right : .left } ?? .tombstone
    }

    /// The earlier names of columns that a migration renames, by the new ones.
    private func renames(_ event: Event) -> [ExactString: String] {
        guard case .declared(_, let steps) = event.body else { return [:] }
        var names: [ExactString: String] = [:]
        for case .renameColumn(let table, let from, let to) in steps where table == focus.table {
            names[to] = names.removeValue(forKey: ExactString(from)) ?? from
        }
        return names
    }

    /// Remembers when an operation on the row was sent, and its answer.
    private mutating func note(_ event: Event, number: UInt64) {
        let key = projector.state.rowKey(focus.table, focus.id)
        switch event.body {
        case .sent(let operations):
            for operation in operations where projector.state.rowKey(operation.table, operation.id) == key {
                attempt = PushAttempt(sent: number, time: event.time)
            }
        case .answered(let answer) where projector.state.rowKey(answer.table, answer.id) == key:
            attempt?.answered = number
            attempt?.answer = answer
        default: break
        }
    }

    private mutating func count(page record: UnsafeRawBufferPointer) throws(SyncError) {
        var reader = try EventReader(record, projector.shapes)
        let (table, queryID) = try reader.pageHead()
        if table == focus.table { pages[queryID, default: 0] += 1 }
    }

    @discardableResult
    private mutating func look(
        _ occasion: Occasion, cause: String, _ pull: Disappearance.PullCause? = nil,
        renames: [ExactString: String] = [:]
    ) throws(SyncError) -> Bool {
        let (entry, stored) = try projector.state.entry(projector.state.rowKey(focus.table, focus.id))
        let now = stored?.copy
        if now == bytes { return false }
        bytes = now
        isKnown = true
        if entry?.base != nil { lostRight = nil }
        let visible = entry?.visible
        let before = origins
        for name in visible?.columns ?? [] {
            let value = visible?[name] ?? .null
            if row?[name]?.isSame(as: value) == true {
                // Its members may be in another order.
                origins[name]?.value = value
            } else if let old = renames[name], row?[name] == nil, row?[old]?.isSame(as: value) == true {
                // A renamed column keeps the origin of its value.
                origins[name] = before[old]
                origins[name]?.field = name
            } else {
                origins[name] = FieldOrigin(
                    field: name, value: value, event: EventNumber(rawValue: occasion.event), time: occasion.time,
                    cause: cause,
                    provenance: occasion.provenance)
            }
        }
        if visible == nil { origins = [:] }
        if visible != nil {
            disappearance = nil
        } else if disappearance == nil {
            disappearance = Disappearance(occasion, pull)
        } else if wasPending {
            // Once nothing is pending, the reason is known.
            disappearance?.latest = occasion
        }
        wasPending = entry?.pending != nil
        row = visible
        return true
    }

    /// The origin of each field of the row, in its order; nil if there is no row.
    package var fields: [FieldOrigin]? {
        row.map { row in row.columns.compactMap { origins[$0] } }
    }

    /// The schema the store had recorded at this point.
    package var declaration: Declaration? { projector.declaration }

    /// Everything the state has about the row at this point.
    package var entry: RowEntry? {
        get throws(SyncError) { try projector.state.entry(projector.state.rowKey(focus.table, focus.id)).entry }
    }

    /// The types of the row's columns.
    package var types: TableTypes { projector.state.types[focus.table] }
}

extension Event {
    /// The kind of the event in a word.
    package var cause: String { kind.cause }
}

extension EventKind {
    /// The words of all kinds, each once.
    package static let causes = allCases.map(\.cause).reduce(into: [String]()) { causes, cause in
        if !causes.contains(cause) { causes.append(cause) }
    }

    /// The kind in a word.
    package var cause: String {
        switch self {
        case .opened: "opened"
        case .configured: "configured"
        case .local: "local"
        case .undone: "undo"
        case .page: "pull"
        case .purged: "purge"
        case .indexed: "indexed"
        case .typed: "typed"
        case .cursorReset: "cursor-reset"
        case .sent: "sent"
        case .answered: "answer"
        case .resolved: "resolution"
        case .declared: "declared"
        case .discarded: "drop"
        case .serverWorked: "server-worked"
        case .carried: "carried"
        }
    }
}
