// Finds the rows that a variation of a replay can change, so that others are not folded: those of the events it leaves
// out, those with conflicts that its policy decides, and those of an event that turns out to be impossible.

package struct VariedRows {
    /// Their keys; nil for all rows.
    package private(set) var keys: Set<[UInt8]>? = []
    private let variation: ReplayVariation
    private let ids: IDComparison

    /// - Parameter start: The state that the replay begins with.
    package init(_ variation: ReplayVariation, from start: Projector) {
        self.variation = variation
        ids = start.state.ids
    }

    /// Takes an event of the history. `past` returns an earlier event.
    package mutating func add(_ event: Event, number: UInt64, past: (UInt64) throws -> Event?) rethrows {
        let isLeftOut = variation.without.contains(number)
        switch event.body {
        case .configured(let name, _):
            if let row = Hold.row(name), isLeftOut {
                add([(row.table, row.id)])
            } else if name == SettingName.ids || isLeftOut {
                addAll()
            }
        case .answered(let answer):
            var isConflict = false
            if case .conflict = answer.outcome { isConflict = true }
            if isLeftOut || isConflict && variation.policy != nil { add(event.rows) }
        case .resolved: if isLeftOut || variation.policy != nil { add(event.rows) }
        case .undone(let undone) where isLeftOut:
            if let made = try past(undone) { add(made.rows) } else { addAll() }
        case .opened: break
        default: if isLeftOut { addRows(of: event) }
        }
    }

    /// Adds what the impossible events of a replay would have changed; returns whether the replay has to be repeated.
    package mutating func add(impossible steps: [ReplayStep]) -> Bool {
        let before = keys?.count
        for step in steps {
            if case .impossible = step.outcome { addRows(of: step.event) }
        }
        return keys?.count != before
    }

    /// Treats all rows alike, because the log is damaged.
    package mutating func addAll() { keys = nil }

    private mutating func addRows(of event: Event) {
        if event.changesOthers { addAll() } else { add(event.rows) }
    }

    private mutating func add(_ rows: [(table: String, id: String)]) {
        for row in rows { keys?.insert(RowKey.bytes(row.table, row.id, ids)) }
    }
}

extension StateReader {
    /// The number of operations of some rows, by their keys, that a push sends.
    package func sentCount(of keys: some Sequence<[UInt8]>) throws(SyncError) -> Int {
        let held = try heldKeys()
        var count = 0
        for key in keys where !held.contains(key) { count += try entry(key: key).sentCount }
        return count
    }
}
