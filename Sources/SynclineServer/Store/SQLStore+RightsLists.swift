// Lists of rows with rules that name no times: those by id are merged from the orders of the caller's buckets, and all are
// found among all rows if the caller sees most of them.

import SynclineCore
import SynclineGround
import SynclineTables
import SynclineWire

/// A page that is being collected from rows in order.
private struct ListPage {
    private(set) var outcome = ListOutcome()
    private var skip: Int
    private let limit: Int
    private var room: AnswerBudget
    private var last: String?

    init(_ plan: ListPlan, _ limits: RowLimits) {
        (skip, limit, room) = (plan.skip, plan.limit, AnswerBudget(limits.answerBytes))
    }

    var wanted: Int { min(skip, 10_000) + min(limit - outcome.rows.count, 10_000) + 1 }

    /// Takes a row, as the caller sees it, unless it has just come. Returns whether more are wanted.
    mutating func take(_ row: TableRow, since: Stamp) -> Bool {
        if let last, last.hasSameBytes(as: row.id) { return true }
        last = row.id
        if skip > 0 {
            skip -= 1
        } else {
            var row = row
            row.show(since: since)
            outcome.add(row, limit, &room)
        }
        return !outcome.hasMore
    }

    mutating func count(_ rows: Int64?) { outcome.count = rows.map { Int($0) } }
}

/// A caller's buckets, whose rights may arrive with the first row.
private final class ArrivingBuckets {
    private let read: RuledRead
    private var found: SeenBuckets?
    private var failed: StoreFailure?

    init(_ read: RuledRead, _ known: KnownRights?) {
        self.read = read
        found = known.map { SeenBuckets($0, read.statements.schema) }
    }

    /// Nil if the rights can't be read.
    func seen() -> SeenBuckets? {
        if found == nil {
            do throws(StoreFailure) {
                found = SeenBuckets(try read.known(), read.statements.schema)
            } catch {
                failed = error
            }
        }
        return found
    }

    func check() throws(StoreFailure) { if let failed { throw failed } }
}

extension RuledRead {
    /// A list that one of the ways below finds; nil for others.
    func directList(_ plan: ListPlan) throws(StoreFailure) -> ListOutcome? {
        let filter = plan.filter.map { FilterSQL($0, statements.schema, dialect) }
        guard filter?.isExact ?? true else { return nil }
        var page = ListPage(plan, limits)
        if !plan.isByID { return try plan.counts ? nil : listOfMost(plan, filter, &page) }
        var after = plan.after?.id
        let looksAhead = !plan.counts && looksAhead && beginScan().wasWorthIt
        if looksAhead, try scan(filter, nil, &page, &after) { return page.outcome }
        let known = try known()
        let open = spans(known).filter { $0.interval.end == nil }
        // PostgreSQL chooses well among more orders than one statement merges.
        if dialect == .postgres, open.count > RuledRead.spansAtATime { return nil }
        if plan.counts { page.count(try connection.first(statements.count(plan, filter), count: 2)?[1].integer) }
        if !looksAhead, try scan(filter, known, &page, &after) { return page.outcome }
        try merge(open, filter, known, &page, after: after)
        return page.outcome
    }

    /// Reads all rows in the order of ids, as long as most of them are the caller's. Returns whether the page is complete.
    /// - Parameter known: The caller's rights; nil if they arrive before the rows.
    private func scan(
        _ filter: FilterSQL?, _ known: KnownRights?, _ page: inout ListPage, _ after: inout String?
    ) throws(StoreFailure) -> Bool {
        let buckets = ArrivingBuckets(self, known)
        var scan = beginScan()
        let end = try read(&scan, rest: { _ in page.wanted }) {
            statements.scanned(after: after, filter, limit: $0)
        } last: {
            after = $0.value(1).text
        } row: { values in
            guard let seen = buckets.seen() else { return (false, false) }
            guard let since = seen.since(values) else { return (false, true) }
            if values.value(statements.spanPlace).integer == 0 { return (true, true) }
            return (true, page.take(statements.row(values), since: since))
        }
        try buckets.check()
        return end != .others
    }

    /// Merges the rows of the caller's buckets after an id.
    private func merge(
        _ spans: [BucketSpan], _ filter: FilterSQL?, _ known: KnownRights, _ page: inout ListPage, after start: String?
    ) throws(StoreFailure) {
        let parts = RuledRead.parts(spans)
        var after = start
        while !parts.isEmpty {
            var found = RightsCandidates(limit: page.wanted)
            let limit = parts.count == 1 ? page.wanted : min(page.wanted, 32 + 2 * page.wanted / parts.count)
            for part in parts {
                var (some, room) = ([] as [RightsCandidate], limits.answerBytes)
                try connection.run(statements.list(after: after, filter, of: part, limit: limit)) { values in
                    let row = statements.row(values)
                    // By another alternative, the caller may have the right for longer.
                    let begin = part[Int(values.value(statements.spanPlace).integer)].interval.begin
                    let since = caller.terms.count == 1 ? begin : known.since(row) ?? begin
                    some.append(RightsCandidate(place: 0, id: row.id, right: RowRight(heldSince: since), row: row))
                    room -= row.size
                    return room > 0
                }
                found.add(some, isCut: some.count == limit || room <= 0)
            }
            for candidate in found.complete {
                guard let row = candidate.row, case .held(let since) = candidate.right.standing else { continue }
                if !page.take(row, since: since) { return }
            }
            guard let bound = found.bound else { return }
            after = bound.id
        }
    }

    /// A list in another order that is found among all rows; nil if a fifth of them at most are the caller's. Rows by an
    /// index are not neighbours, and each takes several times as long.
    private func listOfMost(
        _ plan: ListPlan, _ filter: FilterSQL?, _ page: inout ListPage
    ) throws(StoreFailure) -> ListOutcome? {
        var (all, more, known) = (plan, RowScan.some, nil as KnownRights?)
        if dialect == .sqlite {
            let rights = try self.known()
            let seen = SeenBuckets(rights, statements.schema)
            var (own, others) = (0, 0)
            try connection.forEachRow(of: statements.sample) {
                if seen.since($0) == nil { others += 1 } else { own += 1 }
            }
            known = rights
            if 4 * own < others { return nil }
            more += 5 * page.wanted * (others + 1) / (4 * (own + 1))
        } else if !looksAhead || !beginScan().wasWorthIt {
            return nil
        }
        (all.skip, all.limit) = (0, page.wanted + more)
        let buckets = ArrivingBuckets(self, known)
        var count = 0
        try connection.run(statements.list(all, filter, rules: false)) { values in
            count += 1
            guard let seen = buckets.seen() else { return false }
            return seen.since(values).map { page.take(statements.row(values), since: $0) } ?? true
        }
        try buckets.check()
        if page.outcome.hasMore || count < all.limit { return page.outcome }
        // Too few were the caller's.
        if dialect == .postgres { endScan(RowScan()) }
        return nil
    }
}

extension ListPlan {
    /// Whether its order is the one of ids.
    fileprivate var isByID: Bool {
        order.allSatisfy { SystemColumn(anyCase: $0.column) == .id && !$0.isDescending }
    }
}

extension SQLStore {
    /// A list of rows that the caller sees.
    func ruledList(
        _ plan: ListPlan, _ statements: TableSQL, _ connection: any SQLConnection, _ number: inout Int64,
        _ wanted: Int64?
    ) throws(StoreFailure) -> TickedReading<ListOutcome> {
        var seen = number
        defer { number = max(number, seen) }
        let reading = try ruled(statements, plan.subject, connection, &number) { read throws(StoreFailure) in
            // Times depend on the caller, and so do departures.
            if plan.includesDeleted || plan.namesTime {
                try read.lookAhead(RightsWindow(plan), withDepartures: plan.includesDeleted, guesses: true)
                return try closed(plan, connection, wanted).map { plan throws(StoreFailure) in try read.list(plan) }
            }
            if let outcome = try read.directList(plan) { return .done(outcome) }
            var outcome = try plainList(plan, statements, connection, &seen)
            read.show(&outcome.rows, try read.known())
            return .done(outcome)
        }
        if case .late = reading { callers.forgive(plan.table, plan.subject ?? "") }
        return reading
    }

    /// A read of a table with rules, as of one moment.
    func ruled<Result>(
        _ statements: TableSQL, _ subject: String?, _ connection: any SQLConnection, _ number: inout Int64,
        _ body: (RuledRead) throws(StoreFailure) -> Result
    ) throws(StoreFailure) -> Result {
        guard let rights = currentCatalogue.rights[statements.schema.name] else {
            throw tableChanged(statements.schema.name)
        }
        let read = RuledRead(statements, rights, subject: subject, self, connection)
        return try asOfOneMoment(connection, &number) { schema throws(StoreFailure) in
            try read.lookAhead(schema: schema)
            return try body(read)
        }
    }

    /// Reads with several statements.
    /// - Parameter body: Tells the number of the columns of that moment.
    func asOfOneMoment<Result>(
        _ connection: any SQLConnection, _ number: inout Int64,
        _ body: (_ schema: @escaping (Int64) -> Void) throws(StoreFailure) -> Result
    ) throws(StoreFailure) -> Result {
        var last = number
        let result = try connection.reading(dialect) { () throws(StoreFailure) in
            try body { last = max(last, $0) }
        }
        number = last
        return result
    }
}
