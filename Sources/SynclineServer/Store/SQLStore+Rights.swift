// Reads of tables with rules. The caller's buckets come first; each of them has its rows in order, and pages are merged
// from these orders, so a reader of one list reads none of the others.

import SynclineCore
import SynclineGround
import SynclineTables
import SynclineWire

/// A read of a table with rules, by one caller.
struct RuledRead {
    let statements: TableSQL
    let connection: any SQLConnection
    let source: SQLRights
    let caller: CallerRights
    let limits: RowLimits
    /// Nil if nothing is learned from it.
    let callers: KnownCallers?
    let scan: RowScan?
    /// What was asked for ahead about the caller's spans.
    let ahead = AskedAhead()

    init(
        _ statements: TableSQL, _ rights: TableRights, subject: String?, _ store: SQLStore,
        _ connection: any SQLConnection
    ) {
        (self.statements, self.connection, limits) = (statements, connection, store.limits)
        (callers, scan) = (store.callers, nil)
        source = SQLRights(
            connection: connection, dialect: statements.dialect, rights: rights, table: statements.schema.name)
        caller = CallerRights(subject ?? "", rights.terms)
    }

    var dialect: SQLDialect { statements.dialect }

    func beginScan() -> RowScan { scan ?? callers?.begin(statements.schema.name, caller.subject) ?? RowScan() }

    func endScan(_ scan: RowScan) { callers?.end(scan, statements.schema.name, caller.subject) }

    func known() throws(StoreFailure) -> KnownRights { KnownRights(try caller.buckets(source)) }

    func spans(_ known: KnownRights) -> [BucketSpan] {
        known.buckets.flatMap { right in
            let number = RightsSQL.number(right.bucket, of: statements.schema.name)
            return right.intervals.list.map {
                BucketSpan(bucket: right.bucket, number: number, name: ExactString(right.name), interval: $0)
            }
        }
    }

    // MARK: Lists

    /// Makes rows as the caller sees them.
    func show(_ rows: inout [TableRow], _ known: KnownRights) {
        for place in rows.indices where rows[place].updatedAt.milliseconds < known.latest {
            if let since = known.since(rows[place]) { rows[place].show(since: since) }
        }
    }

    /// A list of rows and departures, or one that asks for times: both are found in the order of the times at which the
    /// caller saw something new.
    func list(_ plan: ListPlan) throws(StoreFailure) -> ListOutcome {
        let filter = plan.filter?.asServerReads(statements.schema)
        let work = FilterWork(statements.schema, within: WorkLimit.current)
        let (window, endsEarly) = (RightsWindow(plan), plan.endsEarly)
        var (rows, outcome, skipped, room) = ([] as [TableRow], ListOutcome(), 0, AnswerBudget(limits.answerBytes))
        try forEachCandidate(try known(), window, withDepartures: plan.includesDeleted, work) {
            (place, id, right, row: consuming TableRow?) in
            guard let row = plan.entry(id, right, row: consume row, filter, work), row.updatedAt.milliseconds == place
            else { return true }
            if !endsEarly {
                rows.append(row)
            } else if skipped < plan.skip {
                skipped += 1
            } else {
                outcome.add(consume row, plan.limit, &room)
            }
            return !outcome.hasMore
        }
        return endsEarly ? outcome : plan.outcome(of: rows, statements.schema, limits)
    }

    // MARK: Changes

    func changes(_ plan: ChangePlan, _ mark: ChangeMark) throws(StoreFailure) -> ChangeOutcome {
        let filter = plan.filter?.asServerReads(statements.schema)
        let work = FilterWork(statements.schema, within: WorkLimit.current)
        let window = RightsWindow(plan)
        var outcome = ChangeOutcome(count: nil, mark)
        var room = AnswerBudget(limits.answerBytes)
        var count = 0
        // A client that begins hears of no departures.
        try forEachCandidate(try known(), window, withDepartures: plan.since > 0, work) {
            (place, id, right, row: consuming TableRow?) in
            if let change = plan.change(id, at: place, right, row: consume row, filter, work) {
                count += 1
                outcome.add(consume change, plan.limit, &room)
            }
            return plan.counts || !outcome.hasMore
        }
        outcome.count = plan.counts ? count : nil
        return outcome
    }

    // MARK: Candidates

    /// Calls the body with what is at the places of a window, in order, until it wants no more.
    func forEachCandidate(
        _ known: KnownRights, _ window: RightsWindow, withDepartures: Bool, _ work: FilterWork,
        _ body: TellingRights
    ) throws(StoreFailure) {
        let all = spans(known)
        let spans = all.filter { withDepartures || $0.interval.end == nil }
        var window = window
        var (scan, next, told) = (beginScan(), ahead.guessed ?? NextOfSpans(), 0)
        var last = LastRights(known: known, spans: all)
        defer { if dialect == .postgres { callers?.note(last, statements.schema.name, caller.subject) } }
        while true {
            while let gain = try firstGain(spans, window, &next, withDepartures) {
                if told == 0 { last.next = next }
                let isWanted = try tell(gain, known, &window, after: told) {
                    (place, id, right, row: consuming TableRow?) in
                    told += 1
                    return body(place, id, right, consume row) && work.failure == nil
                }
                try work.check(within: WorkLimit.current)
                if !isWanted { return }
            }
            if told == 0 { last.next = next }
            let active = try active(spans, window)
            var found = try unchanged(spans, known, window, active, &next, withDepartures)
            let changing = spans.filter { $0.interval.end == nil && active?.contains($0.inBucket) ?? true }
            // One statement has its rows in order. Of several, each has a part.
            let isStreamed = scan.isWorthIt || changing.count <= RuledRead.spansAtATime
            if !isStreamed {
                try read(changing, known, window, at: nil, &found) { statements.changed($0, $1) }
            }
            let complete = found.hasDepartures ? try resolved(found.complete, known) : found.complete
            var merge = RightsMerge(complete, bound: found.bound)
            var (end, isWanted) = (nil as RightsCandidate?, true)
            if isStreamed {
                var part = window
                if let bound = found.bound { part.until = min(part.until, bound.place) }
                let begun = changing.filter { window.axis.value(of: $0.interval.begin) < part.until }
                (end, isWanted) = try stream(begun, known, part, &scan, &merge) {
                    (place, id, right, row: consuming TableRow?) in
                    body(place, id, right, consume row) && work.failure == nil
                }
            }
            try work.check(within: WorkLimit.current)
            if !isWanted || !merge.finish(after: end, body) { return }
            try work.check(within: WorkLimit.current)
            guard let bound = merge.bound else { return }
            (window.since, window.sinceID) = (bound.place, bound.id)
            next.isKnown = false
        }
    }

    /// Tells the rows that changed, as they arrive. Returns the last one if more may follow, and whether these are wanted.
    private func stream(
        _ spans: [BucketSpan], _ known: KnownRights, _ window: RightsWindow, _ scan: inout RowScan,
        _ merge: inout RightsMerge, _ body: TellingRights
    ) throws(StoreFailure) -> (end: RightsCandidate?, isWanted: Bool) {
        var (end, count, isWanted, window) = (nil as RightsCandidate?, 0, true, window)
        if scan.isWorthIt, !spans.isEmpty {
            switch try self.scan(known, &window, &scan, &merge, body) {
            case .complete: return (nil, true)
            case .full: return (nil, false)
            case .others where spans.count <= RuledRead.spansAtATime: break
            case .others: return (RightsCandidate(place: window.since, id: window.sinceID ?? ""), true)
            }
        }
        if spans.isEmpty { return (end, isWanted) }
        try connection.run(statements.changed(spans[...], window)) { values in
            count += 1
            let candidate = candidate(values, spans, known, window.axis)
            if count == window.limit { end = candidate }
            isWanted = merge.tell(candidate, body)
            return isWanted
        }
        return (end, isWanted)
    }

    /// Reads all rows in the order of places, as long as most of them are the caller's, and moves the window past them.
    private func scan(
        _ known: KnownRights, _ window: inout RightsWindow, _ scan: inout RowScan, _ merge: inout RightsMerge,
        _ body: TellingRights
    ) throws(StoreFailure) -> RowScan.End {
        let (axis, seen, limit) = (window.axis, SeenBuckets(known, statements.schema), window.limit)
        return try read(&scan, rest: { limit - $0.own }) {
            statements.scanned(window, limit: $0)
        } last: { values in
            let row = statements.row(values)
            (window.since, window.sinceID) = (axis.place(of: row, values), row.id)
        } row: { values in
            guard let since = seen.since(values) else { return (false, true) }
            let row = statements.row(values)
            let own = axis.place(of: row, values)
            if axis.value(of: since) >= own { return (false, true) }
            let right = RowRight(heldSince: since)
            let id = row.id
            if merge.isEmpty { return (true, body(own, id, right, consume row)) }
            return (true, merge.tell(RightsCandidate(place: own, id: id, right: right, row: consume row), body))
        }
    }

    /// Reads rows in one order, part by part, as long as most of them are the caller's.
    /// - Parameters:
    ///   - rest: How many are still wanted.
    ///   - statement: Selects the next ones, up to a limit.
    ///   - last: Takes the last row of a part.
    ///   - row: Takes a row. Returns whether it is the caller's, and whether more is wanted.
    func read(
        _ scan: inout RowScan, rest: (RowScan) -> Int, _ statement: (_ limit: Int?) -> SQLStatement,
        last: (any SQLRow) -> Void, row: (any SQLRow) -> (isOwn: Bool, isWanted: Bool)
    ) throws(StoreFailure) -> RowScan.End {
        defer { endScan(scan) }
        while true {
            var part = scan.part(of: rest(scan), isFinite: dialect == .postgres)
            var (isWanted, isOver) = (true, false)
            try connection.run(statement(part.limit)) { values in
                if isOver { return true }
                let taken = row(values)
                isWanted = taken.isWanted
                isOver = part.ends(scan.ends(after: taken.isOwn))
                if isOver { last(values) }
                return isWanted && (!isOver || part.limit != nil)
            }
            if !isWanted { return .full }
            if !isOver { return .complete }
            if !scan.isWorthIt { return .others }
        }
    }

    /// The candidates with the rights that ended; without the rows that the caller sees by another bucket, which are
    /// told where it has them.
    private func resolved(
        _ candidates: ArraySlice<RightsCandidate>, _ known: KnownRights
    ) throws(StoreFailure) -> ArraySlice<RightsCandidate> {
        let ids = candidates.filter { $0.row == nil }.map(\.id)
        let stays = try source.stays(of: ids)
        let rest = candidates.compactMap { candidate -> RightsCandidate? in
            if candidate.row != nil { return candidate }
            let right = known.right(to: stays[ExactString(candidate.id)] ?? [])
            return right.isHeld ? nil : RightsCandidate(place: candidate.place, id: candidate.id, right: right)
        }
        return rest[...]
    }

    /// The number of spans that one statement reads: databases limit the length of a statement.
    static let spansAtATime = 16

    static func parts(_ spans: [BucketSpan]) -> [ArraySlice<BucketSpan>] {
        stride(from: 0, to: spans.count, by: spansAtATime).map { spans[$0..<min($0 + spansAtATime, spans.count)] }
    }

    /// What is at places where rights began or ended, and the rows that left.
    private func unchanged(
        _ spans: [BucketSpan], _ known: KnownRights, _ window: RightsWindow, _ active: Set<BucketSpan>?,
        _ next: inout NextOfSpans, _ withDepartures: Bool
    ) throws(StoreFailure) -> RightsCandidates {
        var all = RightsCandidates(limit: window.limit)
        let axis = window.axis
        // The first places come first: what is after a full page need not be read.
        var rest = gainPlaces(spans, window)[...]
        while let first = rest.first, !all.isFull(before: first.key) {
            let some = rest.prefix(RuledRead.spansAtATime)
            rest = rest.dropFirst(some.count)
            for gain in try gains(some, window, &next) where !all.isFull(before: gain.place) {
                var part = window
                part.limit = max(1, all.rest)
                let after = gain.place == window.since ? window.sinceID : nil
                let isFew = try areFew(gain.spans, part)
                try read(gain.spans, known, part, at: gain.place, &all) {
                    statements.gained($0, after: after, isFew: isFew, $1)
                }
            }
        }
        if !withDepartures { return all }
        try addLosses(spans, window, &all)
        let open = spans.filter { $0.interval.end == nil }
        let held = Dictionary(open.map { ($0.inBucket, $0.interval.begin) }) { first, _ in first }
        let lefts = next.haveNoneLeft ? [] : Set(spans.map(\.inBucket)).filter { active?.contains($0) ?? true }
        for some in RuledRead.parts(Array(lefts)) {
            let found = try connection.all(RightsSQL.left(some, held: held, window)) { row in
                RightsCandidate(place: row.value(axis == .number ? 1 : 2).integer, id: row.value(0).text)
            }
            all.add(found, isCut: found.count == window.limit)
        }
        return all
    }

    /// Adds the rows that were lost where rights ended. Rows of a bucket to which the caller had a right again were lost
    /// then only if they left it in between.
    private func addLosses(
        _ spans: [BucketSpan], _ window: RightsWindow, _ all: inout RightsCandidates
    ) throws(StoreFailure) {
        let axis = window.axis
        let losses =
            spans
            .compactMap { span in span.interval.end.map { (place: axis.value(of: $0), span: span) } }
            .filter { window.has($0.place) }.sorted { $0.place < $1.place }
        if losses.isEmpty { return }
        var next: [BucketSpan: Stamp] = [:]
        for same in Dictionary(grouping: spans, by: \.inBucket).values where same.count > 1 {
            let sorted = same.sorted { $0.interval.begin.change < $1.interval.begin.change }
            for (span, later) in zip(sorted, sorted.dropFirst()) { next[span] = later.interval.begin }
        }
        let moved = try moved(losses.map(\.span).filter { next[$0] != nil }, window)
        for (place, span) in losses where !all.isFull(before: place) {
            let next = next[span]
            if next != nil, !moved.contains(span.inBucket) { continue }
            let after = place == window.since ? window.sinceID : nil
            var lost = [RightsSQL.lost(span, before: next, after: after, limit: window.limit)]
            if next == nil { lost.append(statements.lost(span, after: after, limit: window.limit)) }
            for statement in lost {
                let some = try connection.all(statement) { RightsCandidate(place: place, id: $0.value(0).text) }
                all.add(some, isCut: some.count == window.limit)
            }
        }
    }

    /// The buckets of some spans that rows left since a window begins.
    private func moved(_ spans: [BucketSpan], _ window: RightsWindow) throws(StoreFailure) -> Set<BucketSpan> {
        var found: Set<BucketSpan> = []
        for same in Dictionary(grouping: Set(spans.map(\.inBucket)), by: \.bucket).values {
            let byName = Dictionary(same.map { ($0.name, $0) }) { first, _ in first }
            let names = byName.keys.map(\.text)
            try connection.forEachRow(of: RightsSQL.moved(names, of: same[0].number, window, dialect)) { row in
                if let span = byName[ExactString(row.value(0).text)] { found.insert(span) }
            }
        }
        return found
    }

    /// Whether the rows of spans that did not change since the caller gained the right are few: they fit into a page, and
    /// more have changed.
    func areFew(_ spans: [BucketSpan], _ window: RightsWindow) throws(StoreFailure) -> Bool {
        if dialect == .postgres { return false }
        // Reading all in the order of ids passes those that changed.
        if try counts(spans, changed: true, window, limit: RowScan.some).sum < RowScan.some { return false }
        let unchanged = try counts(spans, changed: false, window, limit: window.limit).sum
        if unchanged >= window.limit { return false }
        return unchanged < (try counts(spans, changed: true, window, limit: unchanged + 1).sum)
    }

    /// The spans with rows that changed since the caller gained the right, or did not, and how many, each up to a limit.
    func counts(
        _ spans: [BucketSpan], changed: Bool, _ window: RightsWindow, limit: Int
    ) throws(StoreFailure) -> (spans: [BucketSpan], sum: Int) {
        var (some, sum) = ([] as [BucketSpan], 0)
        for part in RuledRead.parts(spans) {
            try connection.forEachRow(of: statements.counts(part, changed: changed, window, limit: limit)) { row in
                let found = Int(row.value(1).integer)
                if found > 0 { some.append(spans[Int(row.value(0).integer)]) }
                sum += found
            }
        }
        return (some, sum)
    }

    /// The buckets where something happened since a window begins; nil if they are too few to ask, or all were empty then.
    private func active(_ spans: [BucketSpan], _ window: RightsWindow) throws(StoreFailure) -> Set<BucketSpan>? {
        if spans.count < 4 || window.since <= 0 { return nil }
        var found: Set<BucketSpan> = []
        for (bucket, spans) in Dictionary(grouping: spans.map(\.inBucket), by: \.bucket) {
            guard let number = spans.first?.number else { continue }
            let names = Set(spans.map(\.name)).map(\.text)
            try connection.forEachRow(of: statements.active(names, of: bucket, number, window)) { row in
                let name = ExactString(row.value(0).text)
                found.insert(BucketSpan(bucket: bucket, number: number, name: name, interval: .always))
            }
        }
        return found
    }

    /// Reads rows that open spans show, as many as fit into an answer.
    /// - Parameter place: The place of all of them; nil if each is at its own.
    private func read(
        _ spans: [BucketSpan], _ known: KnownRights, _ window: RightsWindow, at place: Int64?,
        _ all: inout RightsCandidates,
        _ statement: (ArraySlice<BucketSpan>, RightsWindow) -> SQLStatement
    ) throws(StoreFailure) {
        var window = window
        let count = (spans.count + RuledRead.spansAtATime - 1) / RuledRead.spansAtATime
        // Each statement has its part of a page; one that has more is asked again.
        if count > 1 { window.limit = min(window.limit, 32 + 2 * window.limit / count) }
        for some in RuledRead.parts(spans) {
            if let bound = all.bound { window.until = min(window.until, bound.place) }
            try read(statement(some, window), spans, known, window, at: place, &all)
        }
    }

    private func read(
        _ statement: SQLStatement, _ spans: [BucketSpan], _ known: KnownRights, _ window: RightsWindow,
        at place: Int64?, _ all: inout RightsCandidates
    ) throws(StoreFailure) {
        var (found, count, room) = ([] as [RightsCandidate], 0, limits.answerBytes)
        found.reserveCapacity(window.limit)
        try connection.run(statement) { values in
            count += 1
            let candidate = candidate(values, spans, known, window.axis, at: place)
            found.append(candidate)
            room -= candidate.row?.size ?? 0
            return room > 0
        }
        all.add(found, isCut: count == window.limit || room <= 0)
    }

    /// The candidate of a row that an open span shows; without a right if this is not the row's place.
    func candidate(
        _ values: any SQLRow, _ spans: [BucketSpan], _ known: KnownRights, _ axis: RightsWindow.Axis,
        at place: Int64? = nil
    ) -> RightsCandidate {
        let row = statements.row(values)
        let own = axis.place(of: row, values)
        // By another alternative, the caller may have the right for longer.
        let since = caller.terms.count == 1 ? begin(values, spans) : known.since(row)
        let place = place ?? own
        guard let since, max(axis.value(of: since), own) == place else {
            return RightsCandidate(place: place, id: row.id, row: row)
        }
        return RightsCandidate(place: place, id: row.id, right: RowRight(heldSince: since), row: row)
    }

    /// Since when the caller has the span that a statement found a row by.
    func begin(_ values: any SQLRow, _ spans: [BucketSpan]) -> Stamp {
        spans[Int(values.value(statements.spanPlace).integer)].interval.begin
    }
}

extension RightsWindow.Axis {
    /// A row's own place.
    func place(of row: TableRow, _ values: any SQLRow) -> Int64 {
        self == .number ? values.value(4).integer : row.updatedAt.milliseconds
    }
}
