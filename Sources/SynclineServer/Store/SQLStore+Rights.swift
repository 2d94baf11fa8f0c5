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

    private func known() throws(StoreFailure) -> KnownRights { KnownRights(try caller.buckets(source)) }

    private func spans(_ known: KnownRights) -> [BucketSpan] {
        known.buckets.flatMap { right in
            let number = RightsSQL.number(right.bucket, of: statements.schema.name)
            return right.intervals.list.map { BucketSpan(bucket: number, name: ExactString(right.name), interval: $0) }
        }
    }

    func row(id: String) throws(StoreFailure) -> TableRow? {
        guard statements.schema.mayHave(id: id), let row = try found(id) else { return nil }
        return try judge.sight(of: row)
    }

    func permitted(id: String) throws(StoreFailure) -> Set<RuleOperation>? {
        guard statements.schema.mayHave(id: id), let row = try found(id) else { return nil }
        return try judge.permitted(on: row)
    }

    private func found(_ id: String) throws(StoreFailure) -> TableRow? {
        try connection.first(statements.row(id: id)) { statements.row($0).row }
    }

    // MARK: Lists

    /// The rows as the caller sees them, each of which he may see.
    func shown(_ rows: [TableRow]) throws(StoreFailure) -> [TableRow] {
        if rows.isEmpty { return [] }
        let (known, stays) = (try known(), try source.stays(of: rows.map(\.id)))
        return rows.map { row in
            guard case .held(let since) = known.right(to: stays[ExactString(row.id)] ?? []).standing else { return row }
            return row.shown(since: since)
        }
    }

    /// A list of rows and departures, or one that asks for times: both are found in the order of the times at which the
    /// caller saw something new.
    func list(_ plan: ListPlan) throws(StoreFailure) -> ListOutcome {
        let filter = plan.filter?.asServerReads(statements.schema)
        let work = FilterWork(statements.schema, within: WorkLimit.current)
        let known = try known()
        // Only a list in this order ends with its page.
        let endsEarly = plan.isByTime && !plan.counts
        let (page, isEndless) = plan.skip.addingReportingOverflow(plan.limit + 1)
        let wanted = endsEarly && !isEndless ? page : .max
        var window = RightsSQL.Window(
            axis: .time, since: plan.filter?.earliestTime.map { $0 - 1 } ?? .min, limit: min(wanted, 1000))
        if endsEarly, let after = plan.after, let time = after.time, time >= window.since {
            (window.since, window.sinceID) = (time, after.id)
        }
        var rows: [TableRow] = []
        var told = Set<ExactString>()
        try forEachPortion(known, window, withDepartures: plan.includesDeleted) { portion throws(StoreFailure) in
            for (candidate, right, row) in portion where !told.contains(ExactString(candidate.id)) {
                guard let row = plan.entry(candidate.id, right, row: row, filter, work),
                    row.updatedAt.milliseconds == candidate.place
                else { continue }
                told.insert(ExactString(candidate.id))
                rows.append(row)
            }
            try work.check(within: WorkLimit.current)
            return rows.count < wanted
        }
        return plan.outcome(of: rows, statements.schema, limits)
    }

    // MARK: Changes

    func changes(_ plan: ChangePlan, _ mark: ChangeMark) throws(StoreFailure) -> ChangeOutcome {
        var plan = plan
        plan.until = min(plan.until ?? .max, mark.change)
        let filter = plan.filter?.asServerReads(statements.schema)
        let work = FilterWork(statements.schema, within: WorkLimit.current)
        let window = RightsSQL.Window(
            axis: .number, since: plan.since, sinceID: plan.sinceID, until: plan.until ?? .max,
            limit: plan.counts ? 1000 : min(plan.limit, 1000) + 1)
        var outcome = ChangeOutcome(count: nil, mark)
        var room = AnswerBudget(limits.answerBytes)
        var told = Set<ExactString>()
        try forEachPortion(try known(), window, withDepartures: true) { portion throws(StoreFailure) in
            for (candidate, right, row) in portion where !told.contains(ExactString(candidate.id)) {
                guard let change = plan.change(candidate.id, right, row: row, filter, work),
                    change.number == candidate.place
                else { continue }
                told.insert(ExactString(candidate.id))
                outcome.add(change, plan.limit, &room)
                if outcome.hasMore, !plan.counts { break }
            }
            try work.check(within: WorkLimit.current)
            return plan.counts || !outcome.hasMore
        }
        outcome.count = plan.counts ? told.count : nil
        return outcome
    }

    // MARK: Candidates

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
        private var found: [Candidate] = []
        private(set) var bound: Candidate?

        mutating func add(_ some: [Candidate], limit: Int) {
            found += some
            guard some.count == limit, let last = some.last else { return }
            if bound.map({ last.isBefore($0) }) ?? true { bound = last }
        }

        var complete: [Candidate] {
            let sorted = found.sorted { $0.isBefore($1) }
            guard let bound else { return sorted }
            return Array(sorted.prefix { !bound.isBefore($0) })
        }
    }

    private typealias Portion = [(candidate: Candidate, right: RowRight, row: TableRow?)]

    /// Calls the body with what is at the places of a window, in order, until it wants no more. A row may be at several
    /// places, and is told at one of them.
    private func forEachPortion(
        _ known: KnownRights, _ window: RightsSQL.Window, withDepartures: Bool,
        _ body: (Portion) throws(StoreFailure) -> Bool
    ) throws(StoreFailure) {
        let spans = spans(known).filter { withDepartures || $0.interval.end == nil }
        // Each bucket has its part of a page; one that has more is asked again.
        let page = window.limit
        var window = window
        window.limit = min(window.limit, 32 + 2 * window.limit / max(1, spans.count))
        while true {
            let candidates = try candidates(spans, window, withDepartures)
            try WorkLimit.current?.check()
            var rest = candidates.complete[...]
            while !rest.isEmpty {
                if try !body(try portion(rest.prefix(page), known)) { return }
                rest = rest.dropFirst(page)
            }
            guard let bound = candidates.bound else { return }
            (window.since, window.sinceID) = (bound.place, bound.id)
        }
    }

    private func portion(_ candidates: ArraySlice<Candidate>, _ known: KnownRights) throws(StoreFailure) -> Portion {
        let stays = try source.stays(of: candidates.filter { $0.right == nil }.map(\.id))
        let rights = candidates.map { $0.right ?? known.right(to: stays[ExactString($0.id)] ?? []) }
        let held = zip(candidates, rights).filter(\.1.isHeld).map(\.0.id)
        var rows: [ExactString: TableRow] = [:]
        if !held.isEmpty {
            try connection.run(statements.rows(ids: held)) { values in
                let row = statements.row(values).row
                rows[ExactString(row.id)] = row
                return true
            }
        }
        return zip(candidates, rights).map { ($0, $1, rows[ExactString($0.id)]) }
    }

    private func candidates(
        _ spans: [BucketSpan], _ window: RightsSQL.Window, _ withDepartures: Bool
    ) throws(StoreFailure) -> Candidates {
        var all = Candidates()
        let axis = window.axis
        let active = try active(spans, window)
        var seen: Set<BucketSpan> = []
        for span in spans {
            let isActive = active.map { $0.contains(span.inBucket) } ?? true
            if let end = span.interval.end.map(axis.value) {
                if window.has(end) {
                    let after = end == window.since ? window.sinceID : nil
                    let some = try run(RightsSQL.lost(span, after: after, limit: window.limit, dialect)) { row in
                        Candidate(place: end, id: row.value(2).text)
                    }
                    all.add(some, limit: window.limit)
                }
            } else {
                let begin = axis.value(of: span.interval.begin)
                if window.has(begin) {
                    let after = begin == window.since ? window.sinceID : nil
                    let some = try run(RightsSQL.gained(span, after: after, window, dialect)) { row in
                        Candidate(place: begin, id: row.value(2).text, right: right(span, row))
                    }
                    all.add(some, limit: window.limit)
                }
                if isActive {
                    let some = try run(RightsSQL.touched(span, window, dialect)) { row in
                        Candidate(
                            place: row.value(axis == .number ? 3 : 4).integer, id: row.value(2).text,
                            right: right(span, row))
                    }
                    all.add(some, limit: window.limit)
                }
            }
            guard withDepartures, isActive, seen.insert(span.inBucket).inserted else { continue }
            let some = try run(RightsSQL.left(span, window, dialect)) { row in
                Candidate(place: row.value(axis == .number ? 7 : 8).integer, id: row.value(2).text)
            }
            all.add(some, limit: window.limit)
        }
        return all
    }

    /// The buckets where something happened since a window begins; nil if they are too few to ask, or all were empty then.
    private func active(_ spans: [BucketSpan], _ window: RightsSQL.Window) throws(StoreFailure) -> Set<BucketSpan>? {
        if spans.count < 4 || window.since <= 0 { return nil }
        var found: Set<BucketSpan> = []
        for (bucket, spans) in Dictionary(grouping: spans, by: \.bucket) {
            let names = Set(spans.map(\.name)).map(\.text)
            try connection.run(RightsSQL.active(names, of: bucket, window, dialect)) { row in
                found.insert(BucketSpan(bucket: bucket, name: ExactString(row.value(0).text), interval: .always))
                return true
            }
        }
        return found
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
        guard caller.terms.count == 1, let common = span.interval.intersection(RightInterval(row, at: 5)) else {
            return nil
        }
        var right = RowRight()
        var stay = RowStay(caller.terms[0].alternative.bucket, span.name.text, common)
        stay.interval = common
        right.add(RightIntervals(common), stay)
        return right
    }
}
