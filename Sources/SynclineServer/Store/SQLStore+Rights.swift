// Reads of tables with rules. The caller's buckets come first; each of them has its rows in order, and the pages are
// merged from these orders, so a reader of one list reads none of the others.

import SynclineCore
import SynclineGround
import SynclineTables
import SynclineWire

/// A read of a table with rules, by one caller.
struct RuledRead {
    private let statements: TableSQL
    private let connection: any SQLConnection
    private let source: SQLRights
    private let judge: RightsJudge<SQLRights>
    private let caller: CallerRights
    private let limits: RowLimits

    init(
        _ statements: TableSQL, _ rights: TableRights, subject: String?, _ limits: RowLimits,
        _ connection: any SQLConnection
    ) {
        (self.statements, self.connection, self.limits) = (statements, connection, limits)
        source = SQLRights(
            connection: connection, dialect: statements.dialect, rights: rights, table: statements.schema.name)
        judge = RightsJudge(statements.schema.definition, rights, subject: subject, source)
        caller = CallerRights(subject ?? "", rights.terms)
    }

    private var dialect: SQLDialect { statements.dialect }

    private func spans() throws(StoreFailure) -> [BucketSpan] {
        try caller.buckets(source).flatMap { right in
            let number = RightsSQL.number(right.bucket, of: statements.schema.name)
            return right.intervals.list.map { BucketSpan(bucket: number, name: right.name, interval: $0) }
        }
    }

    func row(id: String) throws(StoreFailure) -> TableRow? {
        guard statements.schema.mayHave(id: id), let row = try found(id) else { return nil }
        return try judge.sight(of: row)
    }

    private func found(_ id: String) throws(StoreFailure) -> TableRow? {
        try connection.first(statements.row(id: id)) { statements.row($0).row }
    }

    // MARK: Lists

    func list(_ plan: ListPlan) throws(StoreFailure) -> ListOutcome {
        let filter = plan.filter?.asServerReads(statements.schema)
        let work = FilterWork(statements.schema, within: WorkLimit.current)
        var ids: Set<ExactString> = []
        for span in try spans() where plan.includesDeleted || span.interval.end == nil {
            try connection.run(RightsSQL.ids(span, isPresent: !plan.includesDeleted, dialect)) { row in
                ids.insert(ExactString(row.value(0).text))
                return true
            }
        }
        var rows: [TableRow] = []
        for id in ids {
            let right = try judge.right(to: id.text)
            let row = right.isHeld ? try found(id.text) : nil
            if let row = plan.entry(id.text, right, row: row, filter, work) { rows.append(row) }
            if rows.count % 256 == 0 { try WorkLimit.current?.check() }
        }
        try work.check(within: WorkLimit.current)
        return plan.outcome(of: rows, statements.schema, limits)
    }

    // MARK: Changes

    /// A row, and the place at which it may be told.
    private struct Candidate: Hashable {
        var place: Int64
        var id: String
        /// The right, if the row's stay alone shows it.
        var right: RowRight?

        func isBefore(_ other: Candidate) -> Bool {
            place != other.place ? place < other.place : ExactString(id) < ExactString(other.id)
        }
    }

    /// Candidates in order, and the last one up to which they are complete; nil if nothing follows.
    private struct Candidates {
        var found: [Candidate] = []
        var bound: Candidate?

        mutating func add(_ some: [Candidate], limit: Int) {
            found += some
            guard some.count == limit, let last = some.last else { return }
            if bound.map({ last.isBefore($0) }) ?? true { bound = last }
        }
    }

    func changes(_ plan: ChangePlan, _ mark: ChangeMark) throws(StoreFailure) -> ChangeOutcome {
        var plan = plan
        plan.until = min(plan.until ?? .max, mark.change)
        let filter = plan.filter?.asServerReads(statements.schema)
        let work = FilterWork(statements.schema, within: WorkLimit.current)
        let spans = try spans()
        let limit = plan.counts ? 1000 : min(plan.limit, 1000) + 1
        var window = RightsSQL.Window(
            since: plan.since, sinceID: plan.sinceID, until: plan.until ?? .max, limit: limit)
        var outcome = ChangeOutcome(count: nil, mark)
        var room = AnswerBudget(limits.answerBytes)
        var (count, told) = (0, Set<ExactString>())
        while true {
            let candidates = try candidates(spans, window)
            let complete = candidates.found.sorted { $0.isBefore($1) }
            for candidate in complete {
                if let bound = candidates.bound, bound.isBefore(candidate) { break }
                if told.contains(ExactString(candidate.id)) { continue }
                guard let change = try change(candidate, plan, filter, work) else { continue }
                told.insert(ExactString(candidate.id))
                count += 1
                outcome.add(change, plan.limit, &room)
                if outcome.hasMore, !plan.counts { break }
            }
            try work.check(within: WorkLimit.current)
            try WorkLimit.current?.check()
            guard let bound = candidates.bound, plan.counts || !outcome.hasMore else { break }
            (window.since, window.sinceID) = (bound.place, bound.id)
        }
        outcome.count = plan.counts ? count : nil
        return outcome
    }

    /// The entry of a candidate; nil if the row is told at another place, or not at all.
    private func change(
        _ candidate: Candidate, _ plan: ChangePlan, _ filter: FilterExpression?, _ work: FilterWork
    ) throws(StoreFailure) -> TableChange? {
        let right: RowRight
        if let known = candidate.right { right = known } else { right = try judge.right(to: candidate.id) }
        let row = right.isHeld ? try found(candidate.id) : nil
        guard let change = plan.change(candidate.id, right, row: row, filter, work), change.number == candidate.place
        else { return nil }
        return change
    }

    private func candidates(_ spans: [BucketSpan], _ window: RightsSQL.Window) throws(StoreFailure) -> Candidates {
        var all = Candidates()
        func isAsked(_ place: Int64) -> Bool {
            place <= window.until && (place > window.since || place == window.since && window.sinceID != nil)
        }
        var seen: Set<BucketSpan> = []
        for span in spans {
            let begin = span.interval.begin.change
            if let end = span.interval.end?.change {
                if isAsked(end) {
                    let after = end == window.since ? window.sinceID : nil
                    let some = try run(RightsSQL.lost(span, after: after, limit: window.limit, dialect)) { row in
                        Candidate(place: end, id: row.value(2).text)
                    }
                    all.add(some, limit: window.limit)
                }
            } else {
                if isAsked(begin) {
                    let after = begin == window.since ? window.sinceID : nil
                    let some = try run(RightsSQL.gained(span, after: after, limit: window.limit, dialect)) { row in
                        Candidate(place: begin, id: row.value(2).text, right: right(span, row))
                    }
                    all.add(some, limit: window.limit)
                }
                let some = try run(RightsSQL.touched(span, window, dialect)) { row in
                    Candidate(place: row.value(3).integer, id: row.value(2).text, right: right(span, row))
                }
                all.add(some, limit: window.limit)
            }
            var bucket = span
            bucket.interval = .always
            guard seen.insert(bucket).inserted else { continue }
            let some = try run(RightsSQL.left(span, window, dialect)) { row in
                Candidate(place: row.value(6).integer, id: row.value(2).text)
            }
            all.add(some, limit: window.limit)
        }
        return all
    }

    private func run(
        _ statement: SQLStatement, _ make: (any SQLRow) -> Candidate
    ) throws(StoreFailure) -> [Candidate] {
        var found: [Candidate] = []
        try connection.run(statement) { row in
            found.append(make(row))
            return true
        }
        return found
    }

    /// The right by a row's stay in an open span. With several alternatives the row may have others.
    private func right(_ span: BucketSpan, _ row: any SQLRow) -> RowRight? {
        guard caller.terms.count == 1, let common = span.interval.intersection(RightInterval(row, at: 4)) else {
            return nil
        }
        var right = RowRight()
        var stay = RowStay(caller.terms[0].alternative.bucket, span.name, common)
        stay.interval = common
        right.add(RightIntervals(common), stay)
        return right
    }
}
