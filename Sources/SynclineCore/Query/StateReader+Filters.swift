// Gives a local filter its meaning in a state: it divides numbers as the store's server does, and a condition on related rows
// is one on the values that these rows have.

import SynclineGround

extension StateReader {
    /// Returns what a filter on a table means in this state.
    func resolved(_ filter: FilterExpression?, in table: String) throws(SyncError) -> FilterExpression? {
        guard var filter, filter.dependsOnState else { return filter }
        if filter.divides, try setting(SettingName.serverProtocol) != .string(ServerProtocol.datasync3.rawValue) {
            filter = filter.dividingAsDoubles
        }
        guard filter.asksOthers else { return filter }
        return try expanded(filter, try types(of: table))
    }

    /// Replaces conditions on related rows.
    private func expanded(_ filter: FilterExpression, _ types: TableTypes) throws(SyncError) -> FilterExpression {
        if case .related(let column, let selection) = filter {
            return .oneOf(.column(column), try values(selection, types[column]).map { .literal($0) })
        }
        var failure: SyncError?
        let expanded = filter.mapParts { part in
            do throws(SyncError) {
                return try self.expanded(part, types)
            } catch {
                failure = failure ?? error
                return part
            }
        }
        if let failure { throw failure }
        return expanded
    }

    /// The values of a selection, each once, as a column has them.
    private func values(
        _ selection: FilterExpression.Selection, _ type: ColumnType
    ) throws(SyncError) -> [Value] {
        try declaration.check(selection.table)
        var query = RowQuery(table: selection.table, filter: selection.filter)
        query.select = [selection.column]
        var known: Set<Value> = []
        for row in try run(query).rows {
            switch row.value(ofColumn: selection.column) {
            case .string(let id) where selection.column == "id" && selection.hasNumbers:
                if let number = Int64(id) { known.insert(.integer(number)) }
            case .string(let text):
                known.insert(.string(text))
                // The id of a row may be in another case than a reference to it.
                guard !type.isUUID, let digits = Array(text.utf8).withBytes({ UUIDDigits(anyCase: $0) }) else {
                    continue
                }
                known.insert(.string(digits.text))
                known.insert(.string(UUIDDigits(first: digits.first, second: digits.second, isUpper: false).text))
            case .integer(let number): known.insert(.string(String(number)))
            default: continue
            }
        }
        // The same rows make the same filter.
        return known.sorted { $0.encoded.lexicographicallyPrecedes($1.encoded) }
    }
}

extension FilterExpression {
    /// Whether it has a condition on related rows.
    var asksOthers: Bool { contains { if case .related = $0 { true } else { false } } }

    /// The tables on whose rows it has conditions, each once, besides the table that it is asked of.
    var relatedTables: [String] {
        guard asksOthers else { return [] }
        var names: Set<ExactString> = []
        addRelated(to: &names)
        return names.sorted().map(\.text)
    }

    private func addRelated(to names: inout Set<ExactString>) {
        if case .related(_, let selection) = self {
            names.insert(ExactString(selection.table))
            selection.filter?.addRelated(to: &names)
        }
        var parts: [FilterExpression] = []
        _ = mapParts {
            parts.append($0)
            return $0
        }
        for part in parts { part.addRelated(to: &names) }
    }
}
