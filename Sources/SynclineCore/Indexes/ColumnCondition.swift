// What a condition on one column means in the order of an index: the intervals of it that can hold matches.

import SynclineGround

/// A condition on one column that every match satisfies.
struct ColumnCondition {
    private enum Test {
        case compare(FilterExpression.Comparison, Value)
        case oneOf([Value])
        case prefix(String)
    }

    let column: String
    private let test: Test

    /// Nil for a condition that says nothing about one column alone.
    init?(_ condition: FilterExpression) {
        switch condition {
        case .compare(let comparison, .column(let path), .literal(let value, _)) where path.count == 1:
            self.init(path[0], .compare(comparison, value))
        case .compare(let comparison, .literal(let value, _), .column(let path)) where path.count == 1:
            self.init(path[0], .compare(comparison.reversed, value))
        case .column(let path) where path.count == 1: self.init(path[0], .compare(.equal, .bool(true)))
        case .not(.column(let path)) where path.count == 1: self.init(path[0], .compare(.equal, .bool(false)))
        case .oneOf(.column(let path), let choices) where path.count == 1:
            var values: [Value] = []
            for choice in choices {
                guard case .literal(let value, _) = choice else { return nil }
                values.append(value)
            }
            self.init(path[0], .oneOf(values))
        case .call(.startswith, let arguments):
            guard arguments.count == 2, case .column(let path) = arguments[0], path.count == 1,
                case .literal(.string(let prefix), _) = arguments[1]
            else { return nil }
            self.init(path[0], .prefix(prefix))
        default: return nil
        }
    }

    private init(_ column: String, _ test: Test) {
        self.column = column
        self.test = test
    }

    /// The values it equals one of; nil if it is not such a condition.
    var choices: [Value]? {
        switch test {
        case .compare(.equal, let value): [value]
        case .oneOf(let values): values
        default: nil
        }
    }

    /// Appends the place that it leaves to a key; returns false if that is not a single one without other values.
    func appendPlace(_ index: TableIndex, to key: inout [UInt8]) -> Bool {
        guard case .compare(.equal, let value) = test else { return false }
        switch value {
        case .bool, .integer, .double, .number, .bytes: break
        // A string also compares with dates, as an instant.
        case .string(let text): if Timestamp(text) != nil { return false }
        case .null, .date, .array, .object: return false
        }
        var place = ByteWriter()
        guard index.isExact(value), place.append(placeOf: value, in: index) else { return false }
        place.withView { key.append(contentsOf: $0) }
        return true
    }

    /// Its intervals, in order and apart from each other; nil if the index can't tell.
    func intervals(_ index: TableIndex) -> [IndexInterval]? {
        switch test {
        case .compare(let comparison, let value): return ColumnCondition.intervals(comparison, value, index)
        case .prefix(let prefix):
            let place = index.placeOfPrefix(prefix)
            return [
                IndexInterval(
                    from: place.bytes, to: place.bytes.followed(by: IndexInterval.highest), isExact: place.isExact)
            ]
        case .oneOf(let values):
            var all: [IndexInterval] = []
            for value in values {
                guard let some = ColumnCondition.intervals(.equal, value, index) else { return nil }
                // Values that can't be told apart have one interval.
                all += some.filter { !all.contains($0) }
            }
            guard all.allSatisfy(\.isPoint) else { return nil }
            return all.sorted { IndexInterval.isBefore($0.low, $1.low) }
        }
    }

    private static func intervals(
        _ comparison: FilterExpression.Comparison, _ value: Value, _ index: TableIndex
    ) -> [IndexInterval]? {
        switch value {
        case .null:
            guard index.number != nil else { return nil }
            switch comparison {
            case .equal: return [IndexInterval(([SortTag.null], true))]
            case .notEqual:
                return [IndexInterval(from: [SortTag.null + 1], to: [IndexInterval.highest], isExact: true)]
            default: return []
            }
        case .bool, .integer, .double, .number, .bytes: return interval(comparison, value, index).map { [$0] }
        case .string(let text):
            // A string also compares with dates, as an instant.
            guard let date = Timestamp(text) else { return interval(comparison, value, index).map { [$0] } }
            guard let dates = interval(comparison, .date(date), index) else { return nil }
            return interval(comparison, value, index).map { [dates, $0] }
        case .date:
            // Strings with the form of a date compare as instants, so each has to be looked at.
            guard let dates = interval(comparison, value, index) else { return nil }
            return [dates, IndexInterval(from: [SortTag.string], to: [SortTag.string + 1], isExact: false)]
        case .array, .object: return nil
        }
    }

    /// The values of one kind for which a comparison holds.
    private static func interval(
        _ comparison: FilterExpression.Comparison, _ value: Value, _ index: TableIndex
    ) -> IndexInterval? {
        guard let place = index.place(of: value), let kind = place.bytes.first else { return nil }
        if comparison == .equal { return IndexInterval(place) }
        let end = place.bytes.followed(by: IndexInterval.highest)
        let afterKind = [kind + 1]
        return switch comparison {
        case .equal, .notEqual: nil
        case .greater:
            IndexInterval(from: place.isExact ? end : place.bytes, to: afterKind, isExact: place.isExact)
        case .greaterOrEqual: IndexInterval(from: place.bytes, to: afterKind, isExact: place.isExact)
        case .less: IndexInterval(from: [kind], to: place.isExact ? place.bytes : end, isExact: place.isExact)
        case .lessOrEqual: IndexInterval(from: [kind], to: end, isExact: place.isExact)
        }
    }
}

extension FilterExpression.Comparison {
    /// The comparison with its sides exchanged.
    fileprivate var reversed: FilterExpression.Comparison {
        switch self {
        case .equal, .notEqual: self
        case .greater: .less
        case .greaterOrEqual: .lessOrEqual
        case .less: .greater
        case .lessOrEqual: .greaterOrEqual
        }
    }
}
