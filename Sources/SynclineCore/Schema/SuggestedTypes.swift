// Types for the columns of a table, proposed from the values that its rows have.

package import SynclineGround

/// The types that all values of a column fit.
private struct TypeCandidates {
    private var types: [ColumnType] = [.boolean, .integer, .decimal, .number, .uuid, .date, .string, .json]
    private var isMoney = true
    private var hasValues = false

    /// Decimals with more places are more likely measured than money.
    private static let moneyPlaces = -4

    mutating func take(_ value: Value) {
        if value.isNull { return }
        hasValues = true
        types.removeAll { !$0.fits(value) }
        // Any value is JSON, which says something of arrays and objects only.
        switch value {
        case .array, .object: break
        default: types.removeAll { $0 == .json }
        }
        guard let number = NumberDigits(number: value) else { return }
        if number.exponent - number.digits.count < TypeCandidates.moneyPlaces { isMoney = false }
        // A string that is a number is a string.
        if case .string = value { types.removeAll { $0 == .decimal } }
    }

    /// The narrowest of them; nil if there is none, or no value.
    var type: ColumnType? {
        hasValues ? types.first { isMoney || $0 != .decimal } : nil
    }
}

extension StateReader {
    /// Returns a type for each column without one whose values all fit one.
    package func suggestedTypes(of table: String) throws(SyncError) -> [TypedColumn] {
        let known = try types(of: table)
        var candidates: [ExactString: TypeCandidates] = [:]
        for form in RowKey.forms {
            try forEachRow(of: table, form: form) { row throws(SyncError) in
                for member in try row.row.members where known[member.name] == .any {
                    candidates[ExactString(member.name), default: TypeCandidates()].take(member.value)
                }
                return true
            }
        }
        return candidates.sorted { $0.key < $1.key }.compactMap { name, found in
            found.type.map { TypedColumn(name.text, $0) }
        }
    }

    /// How many values of each typed column of a table do not fit.
    package func unfitValues(of table: String) throws(SyncError) -> [ExactString: Int] {
        let typed = try types(of: table).columns.filter { !$0.type.isPlain }
        if typed.isEmpty { return [:] }
        var counts: [ExactString: Int] = [:]
        for form in RowKey.forms {
            try forEachRow(of: table, form: form) { row throws(SyncError) in
                for column in typed where !column.type.fits(row.value(ofColumn: column.name)) {
                    counts[ExactString(column.name), default: 0] += 1
                }
                return true
            }
        }
        return counts
    }
}
