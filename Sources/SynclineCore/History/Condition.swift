// A condition on a state, as a person writes it to find the event that made it true:
//
//   TodoItem/7f3a                     the row is there              not TodoItem/7f3a   it is not
//   TodoItem/7f3a.title eq 'milk'     a field of it                 TodoItem/7f3a: done and n gt 3   a filter over it
//   TodoItem: n lt 0                  any row of a table            count(TodoItem: done) ge 10      a number of rows
//   pending gt 100                    operations to push            conflicts ge 1      those that wait for a decision
//
// A count without a comparison, as `pending` or `count(TodoItem: done)`, stands for each of its changes.
// `=` and `==` are read as `eq`. Whatever is not a part of a condition is refused with its place.

import SynclineGround

package struct Condition: Hashable, Sendable {
    package enum Subject: Hashable, Sendable {
        /// A row, and the filter it must match; nil if it only must exist.
        case row(RowFocus, FilterExpression?)
        /// The number of matching rows of a table.
        case count(table: String, FilterExpression?)
        /// The number of operations that a push would send.
        case pending
        /// The number of operations that await a decision.
        case conflicts
    }

    package let subject: Subject
    private let isNegated: Bool
    /// Nil for a count whose changes are looked for.
    private let comparison: FilterExpression.Comparison?
    private let number: Int

    private init(
        _ subject: Subject, isNegated: Bool = false, _ comparison: FilterExpression.Comparison? = .greaterOrEqual,
        _ number: Int = 1
    ) {
        self.subject = subject
        self.isNegated = isNegated
        self.comparison = comparison
        self.number = number
    }

    /// The row it is about, if it is about one row.
    package var focus: RowFocus? {
        if case .row(let focus, _) = subject { return focus }
        return nil
    }

    /// Whether it is about operations, not rows.
    var isOnOutbox: Bool { subject == .pending || subject == .conflicts }

    /// The table it is about, if it is about one table.
    package var table: String? {
        switch subject {
        case .row(let focus, _): focus.table
        case .count(let table, _): table
        case .pending, .conflicts: nil
        }
    }

    /// The filter over the rows it is about, if there is one.
    package var filter: FilterExpression? {
        switch subject {
        case .row(_, let filter), .count(_, let filter): filter
        case .pending, .conflicts: nil
        }
    }

    /// Whether it is always true or always false; nil if it can be either.
    package var constant: Bool? {
        if focus != nil || isOnChanges { return nil }
        let counts = [0, number &- 1, number, number &+ 1].filter { $0 >= 0 }
        let answers = Set(counts.map { holds($0) })
        return answers.count == 1 ? answers.first : nil
    }

    /// Returns whether it holds for a count; a row counts as one if it exists and matches.
    package func holds(_ count: Int) -> Bool {
        guard let comparison else { return false }
        return comparison.holds(Value.compare(.integer(Int64(count)), .integer(Int64(number)))) != isNegated
    }

    /// Whether it is a count without a comparison, which is neither true nor false.
    package var isOnChanges: Bool { comparison == nil }

    /// Whether an event is one that is looked for: it made the condition true, or changed the count.
    package func finds(_ before: Int, _ after: Int) -> Bool {
        isOnChanges ? before != after : !holds(before) && holds(after)
    }
}

// MARK: Counting

extension Condition {
    /// Counts the subject in a state.
    package func count(in reader: StateReader) throws(SyncError) -> Int {
        switch subject {
        case .row(let focus, let filter):
            let work = FilterWork(try reader.types(of: focus.table))
            return Condition.matches(try reader.entry(focus.table, focus.id), focus.id, filter, work) ? 1 : 0
        case .count(let table, let filter): return try reader.count(RowQuery(table: table, filter: filter))
        case .pending: return try PushCounts(reader).toPush
        case .conflicts: return try reader.conflicts().count
        }
    }

    /// Returns whether an event of this kind may change the count.
    func mayChange(with kind: EventKind) -> Bool {
        switch (subject, kind) {
        case (.pending, .configured): true
        case (_, .opened), (_, .configured), (_, .cursorReset), (_, .indexed), (_, .typed), (_, .serverWorked),
            (_, .carried):
            false
        // Sending changes nothing that an app sees, and only what a server said causes a conflict.
        case (.row, .sent), (.count, .sent), (.conflicts, .sent), (.conflicts, .local): false
        default: true
        }
    }

    /// The changes of an event that are examined.
    var scope: StateChanges.Scope { table.map { .rows(of: $0) } ?? .pendingRows }

    /// Returns what an event adds to the count.
    /// - Parameter types: Those of the subject's table.
    package func difference(_ changes: StateChanges, held: Set<[UInt8]> = [], _ types: TableTypes) -> Int {
        let work = FilterWork(types)
        switch subject {
        case .row(let focus, let filter):
            return changes.rows.reduce(0) { sum, row in
                guard row.table == focus.table, row.id.hasSameBytes(as: focus.id) else { return sum }
                return sum + difference(row, filter, work)
            }
        case .count(let table, let filter):
            return changes.rows.reduce(0) { $1.table == table ? $0 + difference($1, filter, work) : $0 }
        case .pending:
            return changes.rows.reduce(0) { held.contains($1.key) ? $0 : $0 + $1.after.sentCount - $1.before.sentCount }
        case .conflicts:
            func undecided(_ entry: RowEntry?) -> Int { entry?.isUndecided == true ? 1 : 0 }
            return changes.rows.reduce(0) { $0 + undecided($1.after) - undecided($1.before) }
        }
    }

    private func difference(_ row: RowChange, _ filter: FilterExpression?, _ work: FilterWork) -> Int {
        (Condition.matches(row.after, row.id, filter, work) ? 1 : 0)
            - (Condition.matches(row.before, row.id, filter, work) ? 1 : 0)
    }

    private static func matches(
        _ entry: RowEntry?, _ id: String, _ filter: FilterExpression?, _ work: FilterWork
    ) -> Bool {
        guard let visible = entry?.visible else { return false }
        return filter?.matches(IdentifiedRow(id: id, row: visible), work) ?? true
    }
}

/// A row with its id, which filters may use as well.
private struct IdentifiedRow: FilterSubject {
    let id: String
    let row: Row

    func value(ofColumn name: String) -> Value { name == "id" ? .string(id) : row.value(ofColumn: name) }
}

// MARK: Reading

extension Condition {
    private static let signs = FilterExpression.Comparison.allCases.map(\.rawValue) + ["=", "=="]
    /// What comes after a field.
    private static let operators = (signs + ["in"]).map { " \($0) " }

    /// Parses a condition.
    package init(parsing text: String) throws(FilterError) {
        try self.init(text[...].trimmed)
    }

    private init(_ text: Substring) throws(FilterError) {
        if text.hasPrefix("not ") {
            let inner = try Condition(text.dropFirst(4).trimmed)
            if inner.isOnChanges {
                throw text.error("compare the count with a number: only a condition has an opposite", at: text.endIndex)
            }
            self.init(inner.subject, isNegated: !inner.isNegated, inner.comparison, inner.number)
        } else if text.hasPrefix("count(") {
            guard let end = text.lastIndex(of: ")") else {
                throw text.error("the parenthesis of count( is not closed", at: text.endIndex)
            }
            let (comparison, number) = try Condition.bound(text[text.index(after: end)...])
            self.init(try Condition.rows(text[text.index(text.startIndex, offsetBy: 6)..<end]), comparison, number)
        } else if let count = ["pending", "conflicts"].first(where: { text == $0 || text.hasPrefix($0 + " ") }) {
            let (comparison, number) = try Condition.bound(text.dropFirst(count.count))
            self.init(count == "pending" ? .pending : .conflicts, comparison, number)
        } else if let slash = text.firstIndex(of: "/"), !text[..<slash].contains(":") {
            self.init(try Condition.row(table: String(text[..<slash]), text[text.index(after: slash)...]))
        } else if text.contains(":") {
            self.init(try Condition.rows(text))
        } else {
            throw text.error(
                "a condition must name a row (TABLE/ID), a table (TABLE: FILTER), a count, pending or conflicts")
        }
    }

    /// ` ge 10`, or nothing
    private static func bound(_ text: Substring) throws(FilterError) -> (FilterExpression.Comparison?, Int) {
        let words = text.split(separator: " ")
        guard let sign = words.first else { return (nil, 0) }
        guard signs.contains(String(sign)) else { throw sign.error("unexpected `\(sign)`: write one of \(all)") }
        guard words.count > 1 else {
            throw text.error("a number is missing after the comparison", at: text.endIndex)
        }
        guard let number = Int(words[1]) else { throw words[1].error("`\(words[1])` is not a whole number") }
        guard words.count == 2 else {
            throw words[2].error("unexpected `\(words[2])`: one count is compared with one number")
        }
        return (FilterExpression.Comparison(rawValue: String(sign)) ?? .equal, number)
    }

    private static var all: String { signs.joined(separator: ", ") }

    /// A condition is evaluated on states with and without a server, so `div` has the same meaning in all of them.
    private static func filter(_ text: Substring) throws(FilterError) -> FilterExpression {
        do throws(FilterError) {
            return try FilterParser.parse(String(text), takesEqualSigns: true).dividingAsDoubles
        } catch {
            throw FilterError(position: text.position() + error.position, message: error.message)
        }
    }

    /// `TodoItem: done`
    private static func rows(_ text: Substring) throws(FilterError) -> Subject {
        guard let colon = text.firstIndex(of: ":") else { return .count(table: String(text.trimmed), nil) }
        return .count(table: String(text[..<colon].trimmed), try filter(text[text.index(after: colon)...]))
    }

    /// Parses what follows `TodoItem/`. A value may contain a colon or a comparison's name, so the first one counts.
    private static func row(table: String, _ text: Substring) throws(FilterError) -> Subject {
        let comparison = operators.compactMap { text.firstRange(of: $0)?.lowerBound }.min()
        if let colon = text[..<(comparison ?? text.endIndex)].firstIndex(of: ":") {
            let filter = try filter(text[text.index(after: colon)...])
            return .row(RowFocus(table: table, id: String(text[..<colon].trimmed)), filter)
        }
        if let comparison {
            guard let dot = text[..<comparison].lastIndex(of: ".") else {
                throw text.error(
                    "a field is missing before the comparison: write TABLE/ID.FIELD", at: text.index(after: comparison))
            }
            let filter = try filter(text[text.index(after: dot)...])
            return .row(RowFocus(table: table, id: String(text[..<dot])), filter)
        }
        if operators.contains(where: { text.hasSuffix($0.dropLast()) }) {
            throw text.error("a value is missing after the comparison", at: text.endIndex)
        }
        if let word = text.split(separator: " ").dropFirst().first {
            throw word.error(
                "unexpected `\(word)` after a row: write TABLE/ID.FIELD and one of \(all), or TABLE/ID: FILTER")
        }
        if text.isEmpty { throw text.error("an id is missing after `\(table)/`") }
        return .row(RowFocus(table: table, id: String(text)), nil)
    }
}

extension Substring {
    fileprivate var trimmed: Substring {
        var rest = drop { $0 == " " }
        while rest.last == " " { rest.removeLast() }
        return rest
    }

    /// A place in the whole text, in characters.
    fileprivate func position(of index: Index? = nil) -> Int {
        base.distance(from: base.startIndex, to: index ?? startIndex)
    }

    fileprivate func error(_ message: String, at index: Index? = nil) -> FilterError {
        FilterError(position: position(of: index), message: message)
    }
}
