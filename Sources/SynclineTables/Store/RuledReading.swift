// What a caller is told of the rows of a table with rules, in lists and among changes. Both stores find the rows; this
// says how each appears.

package import SynclineCore
import SynclineGround
package import SynclineWire

extension ChangePlan {
    /// The entry of a row among the changes; nil if the plan does not ask for its place. A departure has no more of the
    /// row than its id.
    /// - Parameters:
    ///   - place: A place of the row; nil for the row's own one.
    ///   - row: The row, needed only while the right is held.
    package func change(
        _ id: String, at known: Int64? = nil, _ right: RowRight, row: consuming TableRow?, _ filter: FilterExpression?,
        _ work: FilterWork
    ) -> TableChange? {
        guard let place = known ?? right.place(ofVersion: row.flatMap { RowVersion.change($0.version) } ?? 0),
            asksFor(place, id)
        else { return nil }
        switch right.standing {
        case .held(let since):
            guard var row = consume row else { return nil }
            row.show(since: since)
            let isInView = filter?.matches(row, work) ?? true
            if !isInView { row = row.bare }
            return TableChange(number: place, row: row, isInView: isInView, mayShareNumber: true)
        // A client that begins has no rows. Another one may have a row by other ways, such as its own write.
        case .lost(let end, let byDeletion) where end.change == place && self.since > 0:
            var change = TableChange(number: place, row: .departed(id, end), isInView: byDeletion)
            (change.isByRight, change.mayShareNumber) = (!byDeletion, true)
            return change
        case .never, .lost: return nil
        }
    }

    /// Whether a place is after the plan's cursor, and not after its end.
    package func asksFor(_ place: Int64, _ id: String) -> Bool {
        if let until, place > until { return false }
        if place != since { return place > since }
        guard let sinceID else { return false }
        return ExactString(sinceID) < ExactString(id)
    }
}

extension ListPlan {
    /// The entry of a row in the list; nil if it has none. A departure is a tombstone, whatever the filter says about
    /// columns that it does not have.
    /// - Parameter row: The row, needed only while the right is held.
    package func entry(
        _ id: String, _ right: RowRight, row: consuming TableRow?, _ filter: FilterExpression?, _ work: FilterWork
    ) -> TableRow? {
        guard isFinal(right, row) else { return nil }
        switch right.standing {
        case .held(let since):
            guard var row = consume row else { return nil }
            row.show(since: since)
            return filter?.matches(row, work) ?? true ? consume row : nil
        case .lost(let end, _) where includesDeleted:
            let departed = TableRow.departed(id, end)
            return filter?.aboutDepartures?.matches(departed, work) ?? true ? departed : nil
        default: return nil
        }
    }

    /// Whether the time of a row's place is closed.
    private func isFinal(_ right: RowRight, _ row: TableRow?) -> Bool {
        guard let until else { return true }
        switch right.standing {
        case .held(let since) where max(since.time, row?.updatedAt.milliseconds ?? 0) <= until.time: return true
        case .lost(let end, _) where end.time <= until.time: return true
        case .never: return true
        case .held, .lost:
            let version = row.flatMap { RowVersion.change($0.version) } ?? 0
            return right.place(ofVersion: version).map { $0 <= until.firstChange } ?? true
        }
    }

    /// The page of a list that has some rows.
    package func outcome(
        of found: [TableRow], _ table: ServedTable, _ limits: RowLimits
    ) -> ListOutcome {
        let keys = order.map { RowQuery.Key(table.exactName(of: $0.column), descending: $0.isDescending) }
        let query = RowQuery(table: self.table, order: keys)
        let sorted = found.sorted { query.areInOrder(($0.id, $0), ($1.id, $1), table.types) }
        let rest = sorted.drop { row in after.map { !$0.isBefore(row) } ?? false }
        var outcome = ListOutcome()
        outcome.count = counts ? found.count : nil
        var room = AnswerBudget(limits.answerBytes)
        for row in rest.dropFirst(skip) where !outcome.hasMore { outcome.add(row, limit, &room) }
        return outcome
    }
}

extension FilterExpression {
    /// A time before which no row matches; nil if there is none that is easily told.
    package var earliestTime: Int64? {
        switch self {
        case .and(let left, let right): [left.earliestTime, right.earliestTime].compactMap(\.self).max()
        case .compare(.greaterOrEqual, .column(let path), .literal(let value, _)),
            .compare(.greater, .column(let path), .literal(let value, _)):
            path.count == 1 && SystemColumn(anyCase: path[0]) == .updatedAt
                ? value.instant?.milliseconds : nil
        default: nil
        }
    }

    /// The part of a filter that a departure can answer: what it says about ids, times and deletion. Nil for nothing.
    fileprivate var aboutDepartures: FilterExpression? {
        switch self {
        case .and(let left, let right):
            guard let left = left.aboutDepartures else { return right.aboutDepartures }
            return right.aboutDepartures.map { .and(left, $0) } ?? left
        case .or(let left, let right):
            guard let left = left.aboutDepartures, let right = right.aboutDepartures else { return nil }
            return .or(left, right)
        default:
            let isKnown = columns.allSatisfy { column in
                SystemColumn(anyCase: column.text).map { [.id, .updatedAt, .deleted].contains($0) } ?? false
            }
            return isKnown ? self : nil
        }
    }
}

extension PagePlace {
    fileprivate func isBefore(_ row: TableRow) -> Bool {
        let now = row.updatedAt.milliseconds
        if let time, time != now { return time < now }
        return ExactString(id) < ExactString(row.id)
    }
}
