// What is left to be pushed or decided, kept up to date. The outbox is searched again only if an operation that awaits a
// decision came, went, or stands on a row that changed.

import SynclineGround

package struct LiveOutlook: LiveContent {
    package struct Outlook: Hashable, Sendable {
        /// The operations that await a decision, in plan order.
        package var conflicts: [Conflict] = []
        /// The number of changes in the outbox, if it is observed.
        package var pending = 0

        package init() {}
    }

    private let table: String?
    private let countsPending: Bool
    package private(set) var result = Outlook()
    /// How many times the outbox was searched.
    package private(set) var loads = 0

    /// - Parameter table: The table whose operations are observed; nil for all tables.
    package init(table: String? = nil, countsPending: Bool = false) {
        self.table = table
        self.countsPending = countsPending
    }

    package var tables: [String]? { table.map { [$0] } }

    package mutating func load(_ reader: StateReader) throws(SyncError) {
        loads += 1
        let all = try reader.conflicts()
        result.conflicts = table.map { table in all.filter { $0.table.hasSameBytes(as: table) } } ?? all
        if countsPending { result.pending = try reader.pendingCount }
    }

    package mutating func update(_ changes: TableChanges) throws(SyncError) -> Bool {
        if try changes.concernDecisions {
            try load(changes.after)
            return true
        }
        let old = result.pending
        if countsPending { result.pending = try changes.after.pendingCount }
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
