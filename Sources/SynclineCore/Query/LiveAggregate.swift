// The groups of an aggregate, kept up to date from the rows that changed: each is taken back as it was, and added as it
// is. All rows are read again only if that can't tell, as when the largest value of a group leaves.

import SynclineGround

package struct LiveAggregate: LiveContent {
    private let aggregate: RowAggregate
    private var filter: FilterExpression?
    private var program: FilterProgram
    private var groups: RowGroups
    /// How many times all rows were read.
    package private(set) var loads = 0

    package init(_ aggregate: RowAggregate) {
        self.aggregate = aggregate
        filter = aggregate.filter
        program = FilterProgram(aggregate.filter)
        groups = RowGroups(aggregate)
    }

    package var tables: [String] { [aggregate.table] }
    package var result: [RowGroup] { groups.result }

    /// Reads all rows.
    package mutating func load(_ reader: StateReader) throws(StateError) {
        loads += 1
        filter = try reader.asServerDivides(aggregate.filter)
        program = FilterProgram(filter)
        groups = RowGroups(aggregate)
        try reader.add(to: &groups)
    }

    /// Takes changed rows into account. Returns whether the result may have changed.
    package mutating func update(_ changes: TableChanges) throws(StateError) -> Bool {
        if try changes.after.asServerDivides(aggregate.filter) != filter {
            try load(changes.after)
            return true
        }
        var isExact = true
        let isChanged = try changes.forEachMatch(of: program) { row, isPresent throws(StateError) in
            if try !groups.change(row, isAdded: isPresent) { isExact = false }
        }
        if !isExact { try load(changes.after) }
        return isChanged
    }
}

extension TableChanges {
    /// Calls `body` with each changed row that matches: as it was, then as it is. Returns whether there was one.
    fileprivate func forEachMatch(
        of filter: FilterProgram, _ body: (EncodedRowView, _ isPresent: Bool) throws(StateError) -> Void
    ) throws(StateError) -> Bool {
        var isFound = false
        let (before, after) = (RowVisitor(before, table), RowVisitor(after, table))
        for row in rows {
            for (value, visitor, isPresent) in [(row.before, before, false), (row.after, after, true)] {
                guard let value else { continue }
                try row.key.withBytes { key throws(StateError) in
                    try value.withBytes { value throws(StateError) in
                        try visitor.visit(key, value) { row throws(StateError) in
                            guard try filter.matches(row.sight) else { return }
                            isFound = true
                            try body(row.sight, isPresent)
                        }
                    }
                }
            }
        }
        return isFound
    }
}
