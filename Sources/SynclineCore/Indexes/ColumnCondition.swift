// A condition on one column, as intervals of an index's order that can hold matches.

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

    /// Whether the column equals a value, or one of a list.
    var isEquality: Bool { choices != nil }

    /// Appends the place that it leaves to a key; returns false if that is not a single one without other values.
    func appendPlace(_ index: TableIndex, to key: inout [UInt8]) -> Bool {
        guard case .compare(.equal, let value) = test else { return false }
        let meaning = Meaning(value, as: index.type(of: column))
        switch meaning {
        case .null, .unfit, .plain(.date), .plain(.array), .plain(.object): return false
        default: break
        }
        guard meaning.hasOwnPlace else { return false }
        var place = ByteWriter()
        place.append(sortOf: meaning)
        place.withView { key.append(contentsOf: $0) }
        return true
    }

    /// Its intervals, in order and apart from each other; nil if the index can't tell.
    func intervals(_ index: TableIndex) -> [IndexInterval]? {
        let type = index.type(of: column)
        switch test {
        case .compare(let comparison, let value): return ColumnCondition.intervals(comparison, value, type)
        case .prefix(let prefix):
            // In other columns, a string function reads the spelling, and the index has the meaning.
            guard type == .string || type == .any else { return nil }
            let place = IndexPlace(prefix: prefix)
            return [
                IndexInterval(
                    from: place.bytes, to: place.bytes.followed(by: IndexInterval.highest), isExact: place.isExact)
            ]
        case .oneOf(let values):
            var all: [IndexInterval] = []
            for value in values {
                guard let some = ColumnCondition.intervals(.equal, value, type) else { return nil }
                // Values that can't be told apart have one interval.
                all += some.filter { !all.contains($0) }
            }
            guard all.allSatisfy(\.isPoint) else { return nil }
            return all.sorted { IndexInterval.isBefore($0.low, $1.low) }
        }
    }

    private static func intervals(
        _ comparison: FilterExpression.Comparison, _ value: Value, _ type: ColumnType
    ) -> [IndexInterval]? {
        let meaning = Meaning(value, as: type)
        switch meaning {
        case .null:
            switch comparison {
            case .equal: return [IndexInterval(IndexPlace(.null))]
            case .notEqual:
                return [IndexInterval(from: [SortTag.null + 1], to: [IndexInterval.highest], isExact: true)]
            default: return []
            }
        case .plain(.date):
            // Strings with the form of a date compare as instants, so each has to be looked at. Null differs from them.
            if comparison == .notEqual { return nil }
            return [IndexInterval(from: [SortTag.string], to: [SortTag.string + 1], isExact: false)]
        case .plain(.array), .plain(.object), .unfit(.array), .unfit(.object): return nil
        case .unfit(let value) where type.isNumeric && value.isNumber:
            // A number that the type can't hold also meets those that it holds.
            guard let others = interval(comparison, meaning) else { return nil }
            return number(value, as: type).flatMap { interval(comparison, $0) }.map { [$0, others] }
        default: return interval(comparison, meaning).map { [$0] }
        }
    }

    /// The place of a number among those that a type holds; nil if it can't be told.
    private static func number(_ value: Value, as type: ColumnType) -> Meaning? {
        type.isDecimal ? NumberDigits(number: value).map { .decimal($0) } : .plain(value)
    }

    /// The values of one kind for which a comparison holds.
    private static func interval(_ comparison: FilterExpression.Comparison, _ meaning: Meaning) -> IndexInterval? {
        let place = IndexPlace(meaning)
        if comparison == .equal { return IndexInterval(place) }
        let kind = place.kind
        let end = place.bytes.followed(by: IndexInterval.highest)
        return switch comparison {
        case .equal, .notEqual: nil
        case .greater:
            IndexInterval(from: place.isExact ? end : place.bytes, to: kind.after, isExact: place.isExact)
        case .greaterOrEqual: IndexInterval(from: place.bytes, to: kind.after, isExact: place.isExact)
        case .less: IndexInterval(from: kind.first, to: place.isExact ? place.bytes : end, isExact: place.isExact)
        case .lessOrEqual: IndexInterval(from: kind.first, to: end, isExact: place.isExact)
        }
    }
}

extension IndexPlace {
    /// The first bytes of the places of its kind, and the first bytes after them.
    fileprivate var kind: (first: [UInt8], after: [UInt8]) {
        if bytes[0] == SortTag.unfit { return ([SortTag.unfit, bytes[1]], [SortTag.unfit, bytes[1] + 1]) }
        return ([bytes[0]], [bytes[0] + 1])
    }
}

extension FilterExpression.Comparison {
    /// The comparison with its sides exchanged.
    package var reversed: FilterExpression.Comparison {
        switch self {
        case .equal, .notEqual: self
        case .greater: .less
        case .greaterOrEqual: .lessOrEqual
        case .less: .greater
        case .lessOrEqual: .greaterOrEqual
        }
    }
}
