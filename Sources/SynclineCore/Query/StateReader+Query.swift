// Runs a query on the state: walks a table's rows in key order, filters and sorts them, and cuts the window. Rows
// stay encoded until they are known to be part of the result.

import SynclineGround

/// The result of a query.
public struct QueryResult: Hashable, Sendable {
    /// The rows, in order.
    public var rows: [StoredRow]
    /// The number of matching rows, ignoring the window, if the query asked for it.
    public var count: Int?
}

extension StateReader {
    package func run(_ query: RowQuery) throws(StateError) -> QueryResult {
        var matches: [Match] = []
        var total = 0
        // Without a sort order, the rows of one id form are sorted by id, so no more than the window is needed of
        // each.
        let isByKey = query.order.isEmpty && !spellsIDs
        let needed = isByKey && !query.countsAll ? query.top.map { $0.addingReportingOverflow(query.skip) } : nil
        let limit = needed.map { $0.overflow ? .max : $0.partialValue }
        var inForm = 0
        var isSorted = isByKey
        try forEachMatch(query) { view, isNewForm throws(StateError) in
            if isNewForm {
                isSorted = isByKey && matches.isEmpty
                inForm = 0
            }
            total += 1
            inForm += 1
            matches.append(Match(view, query))
            return limit.map { inForm < $0 } ?? true
        }
        if !isSorted { matches.sort { $0.isBefore($1, query.order) } }
        let window = matches.dropFirst(query.skip).prefix(query.top ?? .max)
        return QueryResult(
            rows: window.map { StoredRow(id: $0.id, columns: $0.row) }, count: query.countsAll ? total : nil)
    }

    /// Returns the number of matching rows.
    package func count(_ query: RowQuery) throws(StateError) -> Int {
        var total = 0
        try forEachMatch(query) { _, _ throws(StateError) in
            total += 1
            return true
        }
        return total
    }

    /// Calls the body with every matching row. Rows whose ids have the same form come together, sorted by id. The
    /// body is told when a form begins, and may skip the rest of it.
    private func forEachMatch(
        _ query: RowQuery, _ body: (EncodedRowView, Bool) throws(StateError) -> Bool
    ) throws(StateError) {
        let filter = FilterProgram(try asServerDivides(query.filter))
        let candidates = try candidates(query)
        for form in RowKey.forms {
            var isNewForm = true
            let visit = { (view: EncodedRowView) throws(StateError) -> Bool in
                guard try filter.matches(view) else { return true }
                defer { isNewForm = false }
                return try body(view, isNewForm)
            }
            if let candidates {
                try forEachRow(of: query.table, form: form, among: candidates, visit)
            } else {
                try forEachRow(of: query.table, form: form, visit)
            }
        }
    }

    private func forEachRow(
        of table: String, form: UInt8, among keys: [[UInt8]], _ body: (EncodedRowView) throws(StateError) -> Bool
    ) throws(StateError) {
        let length = table.utf8.count + 2
        let known = shapes.list
        defer { withExtendedLifetime(known) {} }
        for key in keys where key[length] == form {
            guard let stored = try value(key) else { continue }
            let goesOn = try key.withBytes { key throws(StateError) in
                try stored.withBytes { value throws(StateError) in
                    try visit(key, value, prefix: length, known, body)
                }
            }
            if !goesOn { return }
        }
    }

    private struct Match {
        let id: String
        let row: Row
        let keys: [Value]

        init(_ view: EncodedRowView, _ query: RowQuery) {
            id = view.id
            row = query.select.map { view.row(selecting: $0) } ?? view.row
            keys = query.order.map { view.value(ofColumn: $0.column) }
        }

        func isBefore(_ other: Match, _ order: [RowQuery.Key]) -> Bool {
            for (index, key) in order.enumerated() {
                switch Value.sortOrder(keys[index], other.keys[index]) {
                case .less: return !key.isDescending
                case .greater: return key.isDescending
                case .equal, .none: continue
                }
            }
            return Value.compare(.string(id), .string(other.id)) == .less
        }
    }

    /// Calls the body with every row of a table that an app sees and whose id has one form, in order.
    package func forEachRow(
        of table: String, form: UInt8, _ body: (EncodedRowView) throws(StateError) -> Bool
    ) throws(StateError) {
        var prefix = ByteWriter()
        prefix.append(tablePrefix: table)
        let length = prefix.count
        prefix.append(form)
        // A snapshot uses no shape that was added after it.
        let known = shapes.list
        defer { withExtendedLifetime(known) {} }
        try snapshot.forEach(prefix: prefix.bytes) { key, value throws(StateError) in
            try visit(key, value, prefix: length, known, body)
        }
    }

    /// Calls `body` with a row, if an app sees it.
    private func visit(
        _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, prefix: Int, _ known: ShapeList,
        _ body: (EncodedRowView) throws(StateError) -> Bool
    ) throws(StateError) -> Bool {
        if EncodedRowView.isFrozen(value) {
            let entry = try RowEntry(value, shapes)
            guard let row = entry.visible else { return true }
            var id = try RowKey(malformed: [UInt8](key)).id
            if let spelling = entry.spelling { id = spelling }
            return try row.withView { view throws(StateError) in
                try Array(id.utf8).withBytes { id throws(StateError) in try body(EncodedRowView(id: id, row: view)) }
            }
        }
        guard let view = try EncodedRowView(table: prefix, key: key, value: value, known) else { return true }
        return try body(view)
    }
}

extension RowKey {
    /// The forms of an id in a key.
    package static let forms: [UInt8] = [1, 2, 3]
}
