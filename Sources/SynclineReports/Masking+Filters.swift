// Masks filters: a literal is masked as a value of the column it is compared with. The results of functions and
// arithmetic have masks of their own, so such a condition may not hold for masked rows as it did.

package import SynclineCore
import SynclineGround

extension Masking {
    /// Masks a filter's text, in the protocol's spelling; returns fixed words for an invalid filter.
    package func mask(filter text: String, _ table: String, for dialect: ServerProtocol) -> String {
        if text.isEmpty { return text }
        guard let filter = try? FilterExpression(parsing: text),
            let masked = try? mask(filter, table).text(for: dialect)
        else { return mask(words: text) }
        return masked
    }

    package func mask(_ filter: FilterExpression, _ table: String) -> FilterExpression {
        switch filter {
        case .column(let path): return .column(mask(path, table))
        case .literal, .negate(.literal): return mask(filter, table, at: nil)
        case .compare(let comparison, let left, let right):
            let place = place(of: left, table) ?? place(of: right, table)
            return .compare(comparison, mask(left, table, at: place), mask(right, table, at: place))
        case .arithmetic, .negate, .not, .and, .or, .local: return filter.mapParts { mask($0, table) }
        case .oneOf(let value, let choices):
            let place = place(of: value, table)
            return .oneOf(mask(value, table), choices.map { mask($0, table, at: place) })
        case .related(let column, var selection):
            selection.filter = selection.filter.map { mask($0, selection.table) }
            selection.column = selection.column == "id" ? "id" : mask(column: selection.column)
            selection.table = mask(table: selection.table)
            return .related(column == "id" ? column : mask(column: column), selection)
        case .call(let function, let arguments):
            let place = place(of: filter, table)
            return .call(function, arguments.map { mask($0, table, at: place) })
        }
    }

    /// Masks one side of a comparison with the value at a place.
    private func mask(_ side: FilterExpression, _ table: String, at place: Place?) -> FilterExpression {
        let place = place ?? Place(table, ["\0"])
        switch side {
        case .literal(.string(let id), _) where place.path == ["id"]: return .literal(.string(mask(id: id)))
        case .literal(let value, let form):
            if place.path == ["id"] || place.isPlain { return side }
            let masked = mask(value, place)
            return masked == value ? .literal(value, form: form) : .literal(masked)
        case .negate(.literal(.integer(let number), _)) where number > .min:
            return mask(.literal(.integer(-number)), table, at: place)
        case .negate(.literal(.double(let number), _)):
            return mask(.literal(.double(-number)), table, at: place)
        case .negate(.literal(.number(let number), _)): return mask(.literal(number.negated), table, at: place)
        default: return mask(side, table)
        }
    }

    /// Returns the place of the values that a side of a comparison stands for; nil for a literal.
    private func place(of side: FilterExpression, _ table: String) -> Place? {
        switch side {
        case .column(let path): return Place(table, path)
        case .literal, .negate(.literal): return nil
        case .call(let function, let arguments):
            let place = arguments.lazy.compactMap { self.place(of: $0, table) }.first
            return place.map { $0.isPlain ? $0 : $0.below("\0" + function.rawValue) }
        default: return Place(table, ["\0"] + side.columns.sorted().map(\.text))
        }
    }

    private func mask(_ path: [String], _ table: String) -> [String] {
        var place = Place(table, [])
        return path.map { name in
            defer { place = place.below(name) }
            return place.path.isEmpty ? mask(column: name) : mask(key: name, place)
        }
    }
}
