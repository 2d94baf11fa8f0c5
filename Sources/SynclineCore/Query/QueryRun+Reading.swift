// The reading of a query: entries of an index, the rows they lead to, and whole tables.

import SynclineGround

extension QueryRun {
    /// Calls `body` with the entries of a scan, in order, until it returns false.
    private func forEachEntry(
        of scan: IndexScan, _ body: (Bytes, Bytes) throws(SyncError) -> Bool
    ) throws(SyncError) {
        guard scan.isWhole else { return try forEachEntry(scan.ranges, isBackward: false, body) }
        try scan.pinnedPrefix.withBytes { prefix throws(SyncError) in
            var place = try reader.snapshot.cursor(from: prefix)
            while let key = place.key, let value = place.value, key.begins(with: prefix) {
                guard try body(key, value) else { return }
                try place.advance()
            }
        }
    }

    func forEachEntry(
        _ ranges: [IndexRange], isBackward: Bool, _ body: (Bytes, Bytes) throws(SyncError) -> Bool
    ) throws(SyncError) {
        for range in isBackward ? ranges.reversed() : ranges {
            var goesOn = true
            if isBackward {
                try reader.snapshot.forEachBackward(from: range.start, before: range.end) {
                    key, value throws(SyncError) in
                    goesOn = try body(key, value)
                    return goesOn
                }
            } else {
                goesOn = try forEachEntry(range, body)
            }
            if !goesOn { return }
        }
    }

    /// Returns false if the body did.
    @inline(__always)
    private func forEachEntry(
        _ range: IndexRange, _ body: (Bytes, Bytes) throws(SyncError) -> Bool
    ) throws(SyncError) -> Bool {
        var place = try range.start.withBytes { start throws(SyncError) in try reader.snapshot.cursor(from: start) }
        return try range.end.withBytes { end throws(SyncError) in
            while let key = place.key, let value = place.value, key.compare(end) < 0 {
                guard try body(key, value) else { return false }
                try place.advance()
            }
            return true
        }
    }

    /// Calls `body` with each match that an index finds. Returns false if the index has too many entries.
    @inline(__always)
    func forEachMatch(
        _ scan: IndexScan, _ isCovering: Bool, _ body: (borrowing VisitedRow) throws(SyncError) -> Void
    ) throws(SyncError) -> Bool {
        guard isCovering else { return try look(scan, body) }
        let filter = scan.isExact ? nil : try filter
        try forEachEntry(of: scan) { key, value throws(SyncError) in
            plan.entriesRead += 1
            try visit(entry: try scan.rowID(in: key), value, filter, body)
            return true
        }
        return true
    }

    /// Looks up the rows that an index finds. Returns false if the index has too many entries.
    private func look(
        _ scan: IndexScan, _ body: (borrowing VisitedRow) throws(SyncError) -> Void
    ) throws(SyncError) -> Bool {
        guard let keys = try keys(scan) else { return false }
        try forEach(keys, areKnown: true, areMatches: scan.isExact, body)
        return true
    }

    /// The keys of the rows that an index finds, sorted; nil if the index has too many entries.
    func keys(_ scan: IndexScan) throws(SyncError) -> RowKeys? {
        let before = plan.entriesRead
        var keys = RowKeys(prefix: visitor.prefix)
        let budget = reader.lookupBudget
        try forEachEntry(of: scan) { key, _ throws(SyncError) in
            plan.entriesRead += 1
            keys.append(id: try scan.rowID(in: key))
            return plan.entriesRead - before <= budget
        }
        guard plan.entriesRead - before <= budget else {
            plan.givenUp.append(scan.index.columns)
            return nil
        }
        if !scan.isPinned { keys.sort() }
        return keys
    }

    /// Calls `body` with what an entry of an index keeps of a row, if the row matches.
    func visit(
        entry id: Bytes, _ value: Bytes, _ filter: Unmanaged<FilterProgram>?,
        _ body: (borrowing VisitedRow) throws(SyncError) -> Void
    ) throws(SyncError) {
        try visitor.visit(entry: id, value) { row throws(SyncError) in try show(row, filter, body) }
    }

    /// Calls `body` with each match among the rows of some keys.
    /// - Parameters:
    ///   - areKnown: Whether the keys are known to have values.
    ///   - areMatches: Whether all of the rows are known to match.
    func forEach(
        _ keys: RowKeys, areKnown: Bool = false, areMatches: Bool,
        _ body: (borrowing VisitedRow) throws(SyncError) -> Void
    ) throws(SyncError) {
        let filter = areMatches ? nil : try filter
        try keys.forEachValue(in: reader.snapshot, areKnown: areKnown) { key, value, _ throws(SyncError) in
            try visit(row: key, value, filter, body)
        }
    }

    /// Calls `body` with a row that was looked up, if it matches.
    func visit(
        row key: Bytes, _ value: ValueView, _ filter: Unmanaged<FilterProgram>?,
        _ body: (borrowing VisitedRow) throws(SyncError) -> Void
    ) throws(SyncError) {
        plan.rowsRead += 1
        try visitor.visit(key, value) { row throws(SyncError) in try show(row, filter, body) }
    }

    /// Calls `body` with each match of the table in the order of keys, which may skip the rest of an id form.
    func forEachByKey(_ body: (borrowing VisitedRow) throws(SyncError) -> Bool) throws(SyncError) {
        let (filter, wanted) = (try filter, try blockFilter())
        defer { plan.rowsRead += wanted.leftOut }
        for form in RowKey.forms {
            try visitor.forEachRow(form: form, wanted) { row throws(SyncError) in
                plan.rowsRead += 1
                return try isMatch(row, filter) ? try body(row) : true
            }
        }
    }

    /// Calls `body` with each match of the table in no order, unless blocks take it.
    @inline(__always)
    func forEachInTable(
        _ wanted: BlockFilter, _ body: (borrowing VisitedRow) throws(SyncError) -> Void
    ) throws(SyncError) {
        let filter = try filter
        defer { plan.rowsRead += wanted.leftOut + wanted.taken }
        for form in RowKey.forms {
            try visitor.forEachRowByLayer(form: form, wanted) { row throws(SyncError) in
                plan.rowsRead += 1
                if try isMatch(row, filter) { try body(row) }
                return true
            }
        }
    }

    private func show(
        _ row: borrowing VisitedRow, _ filter: Unmanaged<FilterProgram>?,
        _ body: (borrowing VisitedRow) throws(SyncError) -> Void
    ) throws(SyncError) {
        if try isMatch(row, filter) { try body(row) }
    }

    /// - Parameter filter: Nil if only matches are found.
    @inline(__always)
    private func isMatch(_ row: borrowing VisitedRow, _ filter: Unmanaged<FilterProgram>?) throws(SyncError) -> Bool {
        if let filter, !row.value.isWanted,
            try !filter.borrowed({ filter throws(SyncError) in try filter.matches(row.place) })
        {
            return false
        }
        matches += 1
        return true
    }
}
