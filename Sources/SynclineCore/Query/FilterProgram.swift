// A filter compiled for many rows: a column compared with a plain literal is decided on the encoded value;
// everything else is left to the evaluator. Both give the same results.

import SynclineGround

/// A filter, compiled.
final class FilterProgram {
    /// All of them are true of a row that matches.
    private let steps: [FilterStep]
    private let work: FilterWork
    /// Both again, to be used for each row without being retained.
    private let borrowedSteps: [Unmanaged<FilterStep>]
    private let borrowedWork: Unmanaged<FilterWork>

    /// Without a filter every row matches.
    init(_ filter: FilterExpression?, _ types: TableTypes) {
        work = FilterWork(types)
        steps = filter.map { FilterProgram.parts(of: $0).map { FilterProgram.compile($0, types) } } ?? []
        borrowedSteps = steps.map { .passUnretained($0) }
        borrowedWork = .passUnretained(work)
    }

    /// The filters that are joined by `and`, in their order.
    private static func parts(of filter: FilterExpression) -> [FilterExpression] {
        guard case .and(let left, let right) = filter else { return [filter] }
        return parts(of: left) + parts(of: right)
    }

    func matches(_ row: EncodedRowView) throws(SyncError) -> Bool {
        try withUnsafePointer(to: row) { row throws(SyncError) in try matches(row) }
    }

    func matches(_ row: RowPointer) throws(SyncError) -> Bool {
        let (matches, hasFailed) = borrowedWork.borrowed { work in
            work.beginRow()
            let matches = borrowedSteps.allSatisfy { step in step.borrowed { $0.truth(of: row, work) } == true }
            return (matches, work.failure != nil)
        }
        if !hasFailed { return matches }
        throw SyncError(
            .invalidQuery, "the filter makes more than \(FilterWork.textLimit >> 20) MiB of text from one row",
            hint: "Leave out functions that make long strings.")
    }

    /// Removes the rows of a block in columns that do not match. Returns whether all that are left match.
    func removeUnwanted(
        from bits: borrowing RowBits, of block: ColumnBlock, _ row: ColumnRow, _ shape: Unmanaged<RowShape>
    ) -> Bool {
        var isSure = true
        for step in borrowedSteps {
            if !step._withUnsafeGuaranteedRef({ $0.keepMatches(in: bits, of: block, row, shape) }) { isSure = false }
        }
        return isSure
    }

    private static func compile(_ filter: FilterExpression, _ types: TableTypes) -> FilterStep {
        switch filter {
        case .and(let left, let right):
            return JoinedSteps(compile(left, types), compile(right, types), decidedBy: false)
        case .or(let left, let right): return JoinedSteps(compile(left, types), compile(right, types), decidedBy: true)
        case .not(let inner): return NotStep(compile(inner, types))
        case .column(let path) where path.count == 1 && types[path[0]].mayHold(.bool(true)) && path[0] != "id":
            return FlagStep(path[0], .equal, true, filter)
        case .compare(let comparison, .column(let path), .literal(let value, _))
        where path.count == 1 && path[0] != "id":
            return comparisonStep(path[0], types[path[0]], comparison, value, filter) ?? FilterStep(filter)
        case .call(let function, let arguments):
            return PartStep(function, arguments, types, filter) ?? FilterStep(filter)
        case .oneOf(.column(let path), let choices) where path.count == 1:
            return ChoiceStep(path[0], types[path[0]], choices, filter)
                ?? UUIDChoiceStep(path[0], types[path[0]], choices, filter) ?? FilterStep(filter)
        default: return FilterStep(filter)
        }
    }

    /// A step that compares encoded values; nil if there is none for the column's type and the literal.
    private static func comparisonStep(
        _ column: String, _ type: ColumnType, _ comparison: FilterExpression.Comparison, _ value: Value,
        _ filter: FilterExpression
    ) -> FilterStep? {
        switch (value, Meaning(value, as: type)) {
        case (_, .date(let instant)):
            guard instant.nanoseconds % 1_000_000 == 0 else { return nil }
            return InstantStep(column, comparison, instant.milliseconds, filter)
        case (_, .uuid(let digits)): return UUIDStep(column, comparison, digits, filter)
        case (.integer(let number), _) where type.isPlain || type.isNumeric:
            if type == .number { return NumberStep(column, type, comparison, nil, Double(number), filter) }
            return NumberStep(column, type, comparison, number, Double(exactly: number), filter)
        case (.double(let number), _) where type.isPlain || type.isNumeric:
            guard NumberStep.isComparable(number, type) else { return nil }
            return NumberStep(column, type, comparison, nil, number, filter)
        case (.string(let text), _) where type.mayHold(.string("")):
            return TextStep(column, comparison, Array(text.utf8), filter)
        case (.bool(let flag), _) where comparison == .equal && type.mayHold(.bool(true)):
            return FlagStep(column, comparison, flag, filter)
        default: return nil
        }
    }
}

extension ColumnType {
    /// Whether values of a kind are compared with each other as in a column without a type.
    func mayHold(_ value: Value) -> Bool {
        switch self {
        case .any, .json: true
        case .string: FilterKind(of: value) == .text
        case .boolean: FilterKind(of: value) == .boolean
        default: false
        }
    }
}

/// A part of a filter; this base class leaves it to the evaluator.
class FilterStep {
    final let filter: FilterExpression

    init(_ filter: FilterExpression) { self.filter = filter }

    /// Returns true, false, or nil for unknown.
    func truth(of row: RowPointer, _ work: FilterWork) -> Bool? { filter.truth(of: row.pointee, work) }

    /// Keeps the rows of a block in columns for which it may be true. Returns whether it is true for all that are kept.
    func keepMatches(
        in bits: borrowing RowBits, of block: ColumnBlock, _ row: ColumnRow, _ shape: Unmanaged<RowShape>
    ) -> Bool { false }
}

/// What an encoded value decides alone.
enum Decision {
    case yes, no, unknown
    /// The evaluator decides.
    case open

    @inline(__always)
    init(_ truth: Bool?) { self = truth.map { $0 ? .yes : .no } ?? .unknown }
}

/// Two conditions, joined by `and` or `or`.
private final class JoinedSteps: FilterStep {
    private let left: FilterStep
    private let right: FilterStep
    /// The value of one that decides for both: false for `and`, true for `or`.
    private let decisive: Bool

    init(_ left: FilterStep, _ right: FilterStep, decidedBy decisive: Bool) {
        (self.left, self.right, self.decisive) = (left, right, decisive)
        super.init(decisive ? .or(left.filter, right.filter) : .and(left.filter, right.filter))
    }

    override func truth(of row: RowPointer, _ work: FilterWork) -> Bool? {
        .joined(left.truth(of: row, work), right.truth(of: row, work), decidedBy: decisive)
    }
}

private final class NotStep: FilterStep {
    private let inner: FilterStep

    init(_ inner: FilterStep) {
        self.inner = inner
        super.init(.not(inner.filter))
    }

    override func truth(of row: RowPointer, _ work: FilterWork) -> Bool? { inner.truth(of: row, work).map { !$0 } }
}

/// A column, or the id, compared with several literals: all of them strings, or all integers.
private final class ChoiceStep: FilterStep {
    @exclusivity(unchecked) private var column: RowColumn
    private let choices: Set<[UInt8]>
    private let areTexts: Bool

    /// Nil if the literals are of other kinds.
    init?(_ column: String, _ type: ColumnType, _ choices: [FilterExpression], _ filter: FilterExpression) {
        var encoded: Set<[UInt8]> = []
        var (texts, numbers) = (0, 0)
        for choice in choices {
            guard case .literal(let value, _) = choice else { return nil }
            switch value {
            case .string where type.mayHold(value): texts += 1
            case .integer where type.isPlain || type == .integer: numbers += 1
            default: return nil
            }
            encoded.insert(value.encoded)
        }
        guard (texts == 0) != (numbers == 0) else { return nil }
        self.column = RowColumn(column)
        self.choices = encoded
        areTexts = numbers == 0
        super.init(filter)
    }

    override func truth(of row: RowPointer, _ work: FilterWork) -> Bool? {
        guard let value = column.encoded(row.pointee), let tag = value.first else { return nil }
        var reader = ByteReader(value)
        guard isComparable(tag), (try? reader.skipValue()) != nil else { return filter.truth(of: row.pointee, work) }
        return choices.contains([UInt8](value.prefix(reader.offset)))
    }

    /// Whether a value has the same bytes as a choice if, and only if, it equals one.
    private func isComparable(_ tag: UInt8) -> Bool {
        switch tag {
        case ValueTag.shortText..., ValueTag.text, ValueTag.upperUUID, ValueTag.lowerUUID, ValueTag.hexadecimal,
            ValueTag.base64:
            areTexts
        case ValueTag.smallInteger..<ValueTag.shortText, ValueTag.integer: !areTexts
        default: false
        }
    }
}

/// A column of UUIDs compared with several.
private final class UUIDChoiceStep: FilterStep {
    @exclusivity(unchecked) private var column: RowColumn
    private let choices: Set<UUIDDigits>

    /// Nil if the column or a literal is of another kind.
    init?(_ column: String, _ type: ColumnType, _ choices: [FilterExpression], _ filter: FilterExpression) {
        guard type.isUUID, !choices.isEmpty else { return nil }
        var all: Set<UUIDDigits> = []
        for choice in choices {
            guard case .literal(let value, _) = choice, case .uuid(let digits) = Meaning(value, as: type) else {
                return nil
            }
            all.insert(UUIDDigits(first: digits.first, second: digits.second, isUpper: true))
        }
        self.column = RowColumn(column)
        self.choices = all
        super.init(filter)
    }

    override func truth(of row: RowPointer, _ work: FilterWork) -> Bool? {
        guard let value = column.encoded(row.pointee), let tag = value.first else { return nil }
        guard tag == ValueTag.upperUUID || tag == ValueTag.lowerUUID, value.count > 16 else {
            return filter.truth(of: row.pointee, work)
        }
        let first = value.loadUnaligned(fromByteOffset: 1, as: UInt64.self)
        let second = value.loadUnaligned(fromByteOffset: 9, as: UInt64.self)
        let digits = UUIDDigits(
            first: UInt64(littleEndian: first), second: UInt64(littleEndian: second), isUpper: true)
        return choices.contains(digits)
    }
}
