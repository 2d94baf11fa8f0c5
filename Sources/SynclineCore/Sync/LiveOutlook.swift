// What is left to be pushed or decided, kept up to date. The state is searched again only if an operation that awaits a
// decision, a hold or a row that can't be read came, went, or is of a row that changed.

import SynclineGround

package struct LiveOutlook: LiveContent {
    package struct Outlook: Hashable, Sendable {
        /// What needs a person: the operations that await a decision, in plan order, then the rest, if it is observed.
        package var issues: [SyncIssue] = []
        /// The number of changes in the outbox, if it is observed.
        package var pending = 0

        /// The operations that await a decision.
        package var conflicts: [Conflict] { issues.compactMap(\.conflict) }

        package init() {}
    }

    private let table: String?
    private let isWhole: Bool
    package private(set) var result = Outlook()
    /// How many times the state was searched.
    package private(set) var loads = 0

    /// Observes the operations that await a decision.
    /// - Parameter table: The table whose operations are observed; nil for all tables.
    package init(table: String?) { (self.table, isWhole) = (table, false) }

    /// Observes everything that needs a person, and the number of changes in the outbox.
    package init() { (table, isWhole) = (nil, true) }

    package var tables: [String]? { table.map { [$0] } }

    package mutating func load(_ reader: StateReader) throws(SyncError) {
        loads += 1
        if isWhole {
            (result.issues, result.pending) = (try reader.issues(), try reader.pendingCount)
        } else {
            let all = try reader.conflicts().map { SyncIssue($0) }
            result.issues = table.map { table in all.filter { $0.table?.hasSameBytes(as: table) ?? false } } ?? all
        }
    }

    package mutating func update(_ changes: TableChanges) throws(SyncError) -> Bool {
        var mustLoad = try changes.concernDecisions
        if isWhole, !mustLoad { mustLoad = try changes.concernOtherIssues }
        if mustLoad {
            try load(changes.after)
            return true
        }
        let old = result.pending
        if isWhole { result.pending = try changes.after.pendingCount }
        return result.pending != old
    }
}

extension TableChanges {
    /// Whether an operation on one of the rows awaits a decision, or did.
    fileprivate var concernDecisions: Bool {
        get throws(SyncError) {
            // Without changes in the outbox no row has to be read.
            if try before.pendingCount == 0, try after.pendingCount == 0 { return false }
            for row in try rows {
                if try before.awaitsDecision(row.before) { return true }
                if try after.awaitsDecision(row.after) { return true }
            }
            return false
        }
    }

    /// Whether one of the rows is held or can't be read, or was.
    fileprivate var concernOtherIssues: Bool {
        get throws(SyncError) {
            for reader in [before, after] {
                let (hasHolds, hasUnreadable) = (try reader.hasHolds, try reader.hasUnreadableRows)
                if !hasHolds, !hasUnreadable { continue }
                for row in try rows {
                    if hasUnreadable, try reader.isUnreadable(row.key) { return true }
                    // The key of a row without an id can't be held.
                    if hasHolds, (try? RowKey(malformed: row.key)) != nil, try reader.isHeld(row.key) { return true }
                }
            }
            return false
        }
    }
}

extension StateReader {
    fileprivate func awaitsDecision(_ row: [UInt8]?) throws(SyncError) -> Bool {
        guard let row else { return false }
        return try row.withBytes { bytes throws(SyncError) in
            guard RowEntry.hasPending(bytes) else { return false }
            let frozen = try RowEntry(bytes, shapes).pending?.frozen
            return frozen.map { $0.status != .inFlight } ?? false
        }
    }
}
