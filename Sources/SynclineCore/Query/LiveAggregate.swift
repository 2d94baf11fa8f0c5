// The groups of an aggregate, kept up to date from the rows that changed: each is added as it is, and taken back as it
// was. All rows are read again only if that can't tell, as when the largest value of a group leaves.

import SynclineGround

package struct LiveAggregate: LiveContent {
    private let aggregate: RowAggregate
    private var filter: FilterExpression?
    /// The other tables that the filter and the order ask.
    private let relatedTables: [String]
    /// The commit of the state that it was loaded from.
    private var loaded: UInt64 = 0
    private var types = TableTypes()
    private var program: FilterProgram
    private var groups: RowGroups
    /// How many times all rows were read.
    package private(set) var loads = 0

    package init(_ aggregate: RowAggregate) {
        self.aggregate = aggregate
        filter = aggregate.filter
        relatedTables = .joined(aggregate.filter?.relatedTables ?? [], aggregate.order.relatedTables)
        program = FilterProgram(aggregate.filter, TableTypes())
        groups = RowGroups(aggregate, TableTypes())
    }

    package var tables: [String]? { .joined([aggregate.table], relatedTables) }
    package var result: [RowGroup] { groups.result }

    /// Reads all rows.
    package mutating func load(_ reader: StateReader) throws(SyncError) {
        loads += 1
        filter = try reader.resolved(aggregate.filter, in: aggregate.table)
        loaded = reader.snapshot.commit
        types = try reader.types(of: aggregate.table)
        program = FilterProgram(filter, types)
        groups = RowGroups(aggregate, types)
        try reader.add(to: &groups)
    }

    /// Takes changed rows into account. Returns whether the result may have changed.
    package mutating func update(_ changes: TableChanges) throws(SyncError) -> Bool {
        // Changes of several tables lead to one state, and another of them may have led there already.
        if changes.after.snapshot.commit == loaded { return false }
        if try mustLoad(changes) {
            try load(changes.after)
            return true
        }
        guard changes.table.hasSameBytes(as: aggregate.table) else { return false }
        var isExact = true
        let isChanged = try changes.forEachMatch(of: program) { row, isPresent throws(SyncError) in
            if try !groups.change(row, isAdded: isPresent) { isExact = false }
        }
        if !isExact { try load(changes.after) }
        return isChanged
    }

    /// Whether the columns or the filter have another meaning, or a row that changes may move others into the window, or out
    /// of it.
    private func mustLoad(_ changes: TableChanges) throws(SyncError) -> Bool {
        let isOwn = changes.table.hasSameBytes(as: aggregate.table)
        if isOwn || aggregate.order.relatedTables.containsExactly(changes.table), aggregate.hasWindow { return true }
        if isOwn, try changes.after.types(of: aggregate.table) != types { return true }
        guard let filter = aggregate.filter, filter.divides || relatedTables.containsExactly(changes.table) else {
            return false
        }
        return try changes.after.resolved(filter, in: aggregate.table) != self.filter
    }
}

extension [String] {
    /// The tables of two lists, each once.
    static func joined(_ first: [String], _ second: [String]) -> [String] {
        second.reduce(into: first) { all, name in if !all.containsExactly(name) { all.append(name) } }
    }
}

extension TableChanges {
    /// Calls `body` with each changed row that matches: first all as they are, so that a value that stays never leaves,
    /// then all as they were. Returns whether there was one.
    fileprivate func forEachMatch(
        of filter: FilterProgram, _ body: (EncodedRowView, _ isPresent: Bool) throws(SyncError) -> Void
    ) throws(SyncError) -> Bool {
        var isFound = false
        func visit(_ key: [UInt8], _ value: [UInt8], _ visitor: RowVisitor, isPresent: Bool) throws(SyncError) {
            try key.withBytes { key throws(SyncError) in
                try value.withBytes { value throws(SyncError) in
                    try visitor.visit(key, ValueView(value)) { row throws(SyncError) in
                        guard try filter.matches(row.place) else { return }
                        isFound = true
                        try body(row.sight, isPresent)
                    }
                }
            }
        }
        let (old, new) = (RowVisitor(before, table), RowVisitor(after, table))
        for row in try rows {
            if let value = row.after { try visit(row.key, value, new, isPresent: true) }
        }
        for row in try rows {
            if let value = row.before { try visit(row.key, value, old, isPresent: false) }
        }
        return isFound
    }
}
