// Which event gave each field of a row its value: the fold is run again, and the row is looked at after each event.

/// An event that changed a field.
public struct FieldOrigin: Hashable, Sendable {
    /// The column.
    public var field: String
    /// What it was given.
    public var value: Value
    /// The event that gave it.
    public var event: UInt64
    /// Milliseconds since 1970.
    public var time: Int64
    /// What kind of event it was.
    public var cause: String
}

/// Watches one row while events are folded.
package struct Blame {
    private let table: String
    private let id: String
    private let projector: Projector
    private var row: Row?
    private var bytes: [UInt8]?
    private var origins: [String: FieldOrigin] = [:]

    /// - Parameter start: The state before the first event, which becomes the blame's own. What it has of the row was so
    ///   before the history begins.
    package init(table: String, id: String, from start: Projector) throws(StateError) {
        self.table = table
        self.id = id
        projector = start
        try look(at: start.through, time: 0, cause: "checkpoint")
    }

    /// Folds one more event.
    package mutating func fold(_ event: Event, number: UInt64) throws(StateError) {
        try projector.apply(event, number: number)
        projector.store.endCommit()
        try look(at: number, time: event.time, cause: event.cause)
    }

    private mutating func look(at number: UInt64, time: Int64, cause: String) throws(StateError) {
        let (entry, stored) = try projector.entry(projector.rowKey(table, id))
        let now = stored?.copy
        if now == bytes { return }
        bytes = now
        let visible = entry?.visible
        for name in visible?.columns ?? [] where visible?[name] != row?[name] || row == nil {
            origins[name] = FieldOrigin(
                field: name, value: visible?[name] ?? .null, event: number, time: time, cause: cause)
        }
        if visible == nil { origins = [:] }
        row = visible
    }

    /// The origin of each field the row has, in its order; nil if there is no row.
    package var fields: [FieldOrigin]? {
        row.map { row in row.columns.compactMap { origins[$0] } }
    }
}

extension Event {
    /// The words for what an event can be.
    package static let causes = [
        "opened", "configured", "local", "undo", "pull", "purge", "indexed", "cursor-reset", "sent", "answer",
        "resolution", "declared",
    ]

    /// What kind of event it is, in a word.
    package var cause: String {
        switch body {
        case .opened: "opened"
        case .configured: "configured"
        case .local: "local"
        case .undone: "undo"
        case .page: "pull"
        case .purged: "purge"
        case .indexed: "indexed"
        case .cursorReset: "cursor-reset"
        case .sent: "sent"
        case .answered: "answer"
        case .resolved: "resolution"
        case .declared: "declared"
        }
    }
}
