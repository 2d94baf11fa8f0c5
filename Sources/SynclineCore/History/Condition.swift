// A condition on a state, as a person writes it to find the event that made it true:
//
//   TodoItem/7f3a                     the row is there              not TodoItem/7f3a   it is not
//   TodoItem/7f3a.title eq 'milk'     a field of it                 TodoItem/7f3a: done and n gt 3   a filter over it
//   TodoItem: n lt 0                  any row of a table            count(TodoItem: done) ge 10      a number of rows
//   pending gt 100                    operations of the outbox      conflicts ge 1      those that wait for a decision

import SynclineGround

package struct Condition: Hashable, Sendable {
    package enum Subject: Hashable, Sendable {
        /// A row, and the filter it must match; nil if it only must exist.
        case row(RowFocus, FilterExpression?)
        /// The number of matching rows of a table.
        case count(table: String, FilterExpression?)
        /// The number of operations in the outbox, as in the plan.
        case pending
        /// The number of operations that await a decision.
        case conflicts
    }

    package let subject: Subject
    private let isNegated: Bool
    private let comparison: FilterExpression.Comparison
    private let number: Int

    private init(
        _ subject: Subject, isNegated: Bool = false, _ comparison: FilterExpression.Comparison = .greaterOrEqual,
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
        if focus != nil { return nil }
        let counts = [0, number &- 1, number, number &+ 1].filter { $0 >= 0 }
        let answers = Set(counts.map { holds($0) })
        return answers.count == 1 ? answers.first : nil
    }

    /// Returns whether it holds for a count; a row counts as one if it exists and matches.
    package func holds(_ count: Int) -> Bool {
        comparison.holds(Value.compare(.integer(Int64(count)), .integer(Int64(number)))) != isNegated
    }
}

// MARK: Counting

extension Condition {
    /// Counts the subject in a state.
    package func count(in reader: StateReader) throws(StateError) -> Int {
        switch subject {
        case .row(let focus, let filter):
            return Condition.matches(try reader.entry(focus.table, focus.id), focus.id, filter) ? 1 : 0
        case .count(let table, let filter): return try reader.count(RowQuery(table: table, filter: filter))
        case .pending: return try PushPlan(reader).operations.count
        case .conflicts: return try reader.conflicts().count
        }
    }

    /// Returns whether an event of this kind may change the count.
    func mayChange(with kind: EventKind) -> Bool {
        switch (subject, kind) {
        case (_, .opened), (_, .configured), (_, .cursorReset), (_, .indexed), (_, .serverWorked), (_, .carried): false
        // Sending changes nothing that an app sees, and only what a server said causes a conflict.
        case (.row, .sent), (.count, .sent), (.conflicts, .sent), (.conflicts, .local): false
        default: true
        }
    }

    /// The changes of an event that are examined.
    var scope: StateChanges.Scope { table.map { .rows(of: $0) } ?? .pendingRows }

    /// Returns what an event adds to the count.
    package func difference(_ changes: StateChanges) -> Int {
        switch subject {
        case .row(let focus, let filter):
            changes.rows.reduce(0) { sum, row in
                guard row.table == focus.table, row.id.hasSameBytes(as: focus.id) else { return sum }
                return sum + difference(row, filter)
            }
        case .count(let table, let filter):
            changes.rows.reduce(0) { $1.table == table ? $0 + difference($1, filter) : $0 }
        case .pending:
            changes.rows.reduce(0) { $0 + $1.after.operationCount - $1.before.operationCount }
        case .conflicts:
            changes.rows.reduce(0) { $0 + ($1.after.waits ? 1 : 0) - ($1.before.waits ? 1 : 0) }
        }
    }

    private func difference(_ row: RowChange, _ filter: FilterExpression?) -> Int {
        (Condition.matches(row.after, row.id, filter) ? 1 : 0) - (Condition.matches(row.before, row.id, filter) ? 1 : 0)
    }

    private static func matches(_ entry: RowEntry?, _ id: String, _ filter: FilterExpression?) -> Bool {
        guard let visible = entry?.visible else { return false }
        return filter?.matches(IdentifiedRow(id: id, row: visible)) ?? true
    }
}

/// A row with its id, which filters may use as well.
private struct IdentifiedRow: FilterSubject {
    let id: String
    let row: Row

    func value(ofColumn name: String) -> Value { name == "id" ? .string(id) : row.value(ofColumn: name) }
}

extension RowEntry? {
    /// Whether an operation of the row awaits a decision.
    fileprivate var waits: Bool {
        guard let status = self?.pending?.frozen?.status else { return false }
        return status != .inFlight
    }
}

// MARK: Reading

extension Condition {
    private static let comparisons = FilterExpression.Comparison.allCases.map { " \($0.rawValue) " }

    /// Parses a condition.
    package init(parsing text: String) throws(FilterError) {
        let text = text.trimmed
        if text.hasPrefix("not ") {
            let inner = try Condition(parsing: String(text.dropFirst(4)))
            self.init(inner.subject, isNegated: !inner.isNegated, inner.comparison, inner.number)
        } else if text.hasPrefix("count(") {
            guard let end = text.lastIndex(of: ")") else {
                throw FilterError(position: text.count, message: "the parenthesis of count( is not closed")
            }
            let inside = text[text.index(text.startIndex, offsetBy: 6)..<end]
            let (comparison, number) = try Condition.bound(text[text.index(after: end)...])
            self.init(try Condition.rows(inside), comparison, number)
        } else if text.hasPrefix("pending ") || text.hasPrefix("conflicts ") {
            let isPending = text.hasPrefix("pending ")
            let (comparison, number) = try Condition.bound(text.dropFirst(isPending ? 7 : 9))
            self.init(isPending ? .pending : .conflicts, comparison, number)
        } else if let slash = text.firstIndex(of: "/"), !text[..<slash].contains(":") {
            self.init(try Condition.row(table: String(text[..<slash]), text[text.index(after: slash)...]))
        } else if text.contains(":") {
            self.init(try Condition.rows(text[...]))
        } else {
            throw FilterError(
                position: 0,
                message: "a condition must name a row (TABLE/ID), a table (TABLE: FILTER), a count, "
                    + "pending or conflicts")
        }
    }

    /// ` ge 10`
    private static func bound(_ text: Substring) throws(FilterError) -> (FilterExpression.Comparison, Int) {
        let words = text.split(separator: " ")
        guard words.count == 2, let comparison = FilterExpression.Comparison(rawValue: String(words[0])),
            let number = Int(words[1])
        else { throw FilterError(position: 0, message: "compare a count with a number, as in `count(T) ge 10`") }
        return (comparison, number)
    }

    /// A condition is evaluated on states with and without a server, so `div` has the same meaning in all of them.
    private static func filter(_ text: Substring) throws(FilterError) -> FilterExpression {
        try FilterExpression(parsing: String(text)).dividingAsDoubles
    }

    /// `TodoItem: done`
    private static func rows(_ text: Substring) throws(FilterError) -> Subject {
        guard let colon = text.firstIndex(of: ":") else { return .count(table: String(text).trimmed, nil) }
        return .count(
            table: String(text[..<colon]).trimmed, try filter(text[text.index(after: colon)...]))
    }

    /// Parses what follows `TodoItem/`. A value may contain a colon or a comparison's name, so the first one counts.
    private static func row(table: String, _ text: Substring) throws(FilterError) -> Subject {
        let comparison = comparisons.compactMap { text.firstRange(of: $0)?.lowerBound }.min()
        if let colon = text[..<(comparison ?? text.endIndex)].firstIndex(of: ":") {
            let filter = try filter(text[text.index(after: colon)...])
            return .row(RowFocus(table: table, id: String(text[..<colon]).trimmed), filter)
        }
        if let comparison, let dot = text[..<comparison].lastIndex(of: ".") {
            let filter = try filter(text[text.index(after: dot)...])
            return .row(RowFocus(table: table, id: String(text[..<dot])), filter)
        }
        if comparisons.contains(where: { text.hasSuffix($0.dropLast()) }) {
            throw FilterError(position: text.count, message: "a value is missing after the comparison")
        }
        return .row(RowFocus(table: table, id: String(text)), nil)
    }
}

extension String {
    fileprivate var trimmed: String {
        String(drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }
}
