// The groups of an aggregate, kept up to date from the rows that changed: each is added as it is, and taken back as it
// was. All rows are read again only if that can't tell, as when the largest value of a group leaves.

import SynclineGround

package struct LiveAggregate: LiveContent {
    private let aggregate: RowAggregate
    private var filter: FilterExpression?
    private var types = TableTypes()
    private var program: FilterProgram
    private var groups: RowGroups
    /// How many times all rows were read.
    package private(set) var loads = 0

    package init(_ aggregate: RowAggregate) {
        self.aggregate = aggregate
        filter = aggregate.filter
        program = FilterProgram(aggregate.filter, TableTypes())
        groups = RowGroups(aggregate, TableTypes())
    }

    package var tables: [String]? { [aggregate.table] }
    package var result: [RowGroup] { groups.result }

    /// Reads all rows.
    package mutating func load(_ reader: StateReader) throws(SyncError) {
        loads += 1
        filter = try reader.asServerDivides(aggregate.filter)
        types = try reader.types(of: aggregate.table)
        program = FilterProgram(filter, types)
        groups = RowGroups(aggregate, types)
        try reader.add(to: &groups)
    }

    /// Takes changed rows into account. Returns whether the result may have changed.
    package mutating func update(_ changes: TableChanges) throws(SyncError) -> Bool {
        let (types, filter) = (
            try changes.after.types(of: aggregate.table), try changes.after.asServerDivides(aggregate.filter)
        )
        // A row that changes may move others into the window, or out of it.
        if types != self.types || filter != self.filter || aggregate.hasWindow {
            try load(changes.after)
            return true
        }
        var isExact = true
        let isChanged = try changes.forEachMatch(of: program) { row, isPresent throws(SyncError) in
            if try !groups.change(row, isAdded: isPresent) { isExact = false }
        }
        if !isExact { try load(changes.after) }
        return isChanged
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
