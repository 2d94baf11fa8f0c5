// A range of a column in SQL's order, as parts of the order of an index. SQL has no Booleans, dates, arrays and objects, so
// a number can be a Boolean of the store, and a string can be a date, an array or an object. A number can also be a string,
// if SQL compares them as numbers.

import SynclineCore

struct ColumnRange {
    /// Nil for an open end.
    var lower: Operand?
    var upper: Operand?
    /// Whether both ends are the one value that is wanted.
    private var isOneValue = false

    init(lower: Operand?, upper: Operand?) {
        self.lower = lower
        self.upper = upper
    }

    init(equalTo value: Operand) {
        self.init(lower: value, upper: value)
        isOneValue = true
    }

    /// Whether strings that look like numbers can be in the range, too.
    var includesNumericStrings: Bool {
        if case .number = upper { lower != .null && lower != .blob } else { false }
    }

    /// The parts of an index's order that have every value in the range; they may have others.
    /// - Parameter content: What the column may have.
    func intervals(_ content: IndexContent) -> [IndexInterval] {
        IndexInterval.joined(
            parts(content).filter { content.contains(IndexContent($0.kind)) }.map {
                IndexInterval($0.kind, from: $0.first, through: $0.last)
            })
    }

    /// Values of one kind, of the store. Nil for the first or the last one of the kind.
    private struct Part {
        var kind: PlaceKind
        var first: Meaning?
        var last: Meaning?

        init(kind: PlaceKind, first: Value? = nil, last: Value? = nil) {
            self.init(kind: kind, from: first.map { .plain($0) }, through: last.map { .plain($0) })
        }

        init(kind: PlaceKind, from first: Meaning?, through last: Meaning?) {
            (self.kind, self.first, self.last) = (kind, first, last)
        }
    }

    private func parts(_ content: IndexContent) -> [Part] {
        // Null is in no range, and no string of the store equals one that is not UTF-8.
        if lower == .null || upper == .null || isOneValue && lower == .brokenText { return [] }
        // What does not fit its column may be anything.
        return numbers + decimals + strings(content) + uuids + bytes + [Part(kind: .unfit)]
    }

    /// Numbers, and the Booleans, which are 0 and 1.
    private var numbers: [Part] {
        guard lower?.order ?? .number == .number else { return [] }
        let flags = [(false, 0.0), (true, 1.0)].filter { _, number in
            number >= lower?.number?.rounded ?? number && number <= upper?.number?.rounded ?? number
        }
        return flags.map { flag, _ in Part(kind: .bool, first: .bool(flag), last: .bool(flag)) }
            + [Part(kind: .number, first: lower?.number?.widened(.down), last: upper?.number?.widened(.up))]
    }

    /// Decimals, which are strings in SQL if no double has their digits.
    private var decimals: [Part] {
        guard lower?.order ?? .number == .number, upper?.order ?? .number == .number else {
            return [Part(kind: .decimal)]
        }
        func digits(_ number: Operand.Number?, _ direction: FloatingPointRoundingRule) -> Meaning? {
            guard let number else { return nil }
            let edge = direction == .up ? number.rounded.nextUp : number.rounded.nextDown
            return NumberDigits(shortest: edge).map { .decimal($0) }
        }
        let (first, last) = (digits(lower?.number, .down), digits(upper?.number, .up))
        return [Part(kind: .decimal, from: first, through: last)]
    }

    /// UUIDs, whose case SQL ignores.
    private var uuids: [Part] {
        guard isOneValue, lower?.order == .string else { return [Part(kind: .uuid)] }
        guard let text = lower?.text, case .uuid(let digits) = Meaning(.string(text), as: .uuid) else { return [] }
        return [Part(kind: .uuid, from: .uuid(digits), through: .uuid(digits))]
    }

    private func strings(_ content: IndexContent) -> [Part] {
        guard lower?.order ?? .number <= .string else { return [] }
        guard upper?.order ?? .blob >= .string else {
            guard content.contains(.numericString) else { return [] }
            return [ColumnRange.numericStrings]
        }
        var parts = [Part(kind: .string, first: lower?.text.map(Value.string), last: upper?.text.map(Value.string))]
        if let dates = dates(content) { parts.append(dates) }
        // JSON begins with one of these.
        if mayBegin(with: "[") || mayBegin(with: "{") { parts.append(Part(kind: .structure)) }
        return parts
    }

    /// Every string that looks like a number: it begins with a space, a sign, a point or a digit.
    private static let numericStrings = Part(kind: .string, first: .string("\t"), last: .string(":"))

    /// A part with every string that looks like a number.
    static var numericStringIntervals: [IndexInterval] {
        [IndexInterval(.string, from: numericStrings.first, through: numericStrings.last)]
    }

    private func dates(_ content: IndexContent) -> Part? {
        let (first, last) = (lower?.text?.sqlMoment, upper?.text?.sqlMoment)
        // Dates have three decimals in SQL, and up to nine in the store.
        let end = content.contains(.fineDate) ? last?.nextMillisecond : last
        if isOneValue {
            guard let first, let end, first.description == lower?.text else { return nil }
            return Part(kind: .date, first: .date(first), last: .date(end))
        }
        guard "0123456789".utf8.contains(where: mayBegin) else { return nil }
        return Part(kind: .date, first: first.map(Value.date), last: end.map(Value.date))
    }

    private var bytes: [Part] { upper?.order ?? .blob == .blob ? [Part(kind: .bytes)] : [] }

    private func mayBegin(with character: Unicode.Scalar) -> Bool { mayBegin(with: UInt8(ascii: character)) }

    /// Whether a string that begins with a byte can be in the range.
    private func mayBegin(with beginning: UInt8) -> Bool {
        if let lower = lower?.text, !lower.utf8.lexicographicallyPrecedes([beginning + 1]) { return false }
        guard let upper = upper?.text else { return true }
        return !upper.utf8.lexicographicallyPrecedes([beginning])
    }
}

extension Operand {
    /// The order of values of different types in SQL.
    fileprivate enum Order: Comparable {
        case number, string, blob
    }

    fileprivate var order: Order {
        switch self {
        case .null, .number: .number
        case .text, .brokenText: .string
        case .blob: .blob
        }
    }

    fileprivate var number: Number? { if case .number(let number) = self { number } else { nil } }

    fileprivate var text: String? { if case .text(let text) = self { text } else { nil } }
}

extension Timestamp {
    fileprivate var nextMillisecond: Timestamp { Timestamp(.init(milliseconds: instant.milliseconds &+ 1)) }
}

extension String {
    /// The date that has this string in SQL, or the first one whose string begins with it, as with a day.
    fileprivate var sqlMoment: Timestamp? {
        guard let moment = Timestamp(self)?.sqlForm, moment.description.utf8.starts(with: utf8) else { return nil }
        return moment
    }
}
