// The pull as a state machine: takes pages, and returns requests and pages to store. Rows move on the server during
// the read, so it reads by time and not by offset: a window that begins with a millisecond, and if a page lies
// within one millisecond, that millisecond by id. The newest millisecond is read again next time.

import SynclineGround

package struct PullMachine: PullReading {
    /// How the next page is found.
    private enum Place: Hashable {
        /// By time, from a millisecond on, or from the beginning.
        case window(Int64?)
        /// Within a millisecond, by id, after the last one.
        case drain(Int64, after: String?)
        /// After a number of rows, the last of which has this id; nil if that row is not requested again.
        case offset(Int, last: String?)
    }

    package let query: PullQuery
    package var gate: ListGate
    package private(set) var received = 0
    package private(set) var total: Int?
    package let readsAll: Bool
    private let canonicalText: String
    private var place: Place { didSet { (passed, passedPages) = (0, 0) } }
    /// How many rows of this place came without a time or an id to continue after.
    private var passed = 0
    /// The pages of such rows.
    private var passedPages = 0
    private var size: PageSize
    /// Why the next row can't be received, even alone. Then only its id and its times are requested.
    private var outlineReason: String?
    /// Whether an earlier pull began to drain the millisecond. Rows written into it since, before the id where that
    /// pull stopped, are found only from its beginning.
    private var isResumed = false
    /// The newest millisecond of the rows seen.
    private var newest: Int64?
    /// The server's clock when the pull began.
    private var serverStart: Int64?
    /// The rows seen, if their number is limited.
    private var seen: Set<ExactString> = []
    private var restarts = 0
    /// The pages that were read by id or by offset.
    private var pages = RepeatGuard()
    private var isFinished = false

    /// How often a changing list is read again from its beginning.
    private static let restartLimit = 8
    /// How many pages may look like earlier ones before the server is taken for one that ignores where a page begins.
    private static let passLimit = 50

    package init(_ query: PullQuery, from cursor: CursorState?, retries: Int) throws(SyncError) {
        self.query = query
        gate = ListGate(retries: retries)
        size = PageSize(query.pageSize)
        canonicalText = try query.canonicalText
        newest = cursor?.moment
        readsAll = query.filter == nil && query.top == nil && query.skip == 0 && cursor == nil
        if query.goesByOffset {
            place = .offset(0, last: nil)
        } else if case .time(_, let drain)? = cursor?.place, let moment = newest, moment > 0 {
            let start = moment - query.overlap
            place = .window(start)
            if let drain, query.overlap == 0 { (place, isResumed) = (.drain(start, after: drain), true) }
        } else {
            place = .window(nil)
        }
    }

    package mutating func start() -> ListAction {
        query.top == 0 ? done([]) : ask()
    }

    // MARK: Requests

    package mutating func ask() -> ListAction { gate.ask(.list(request)) }

    private var request: ListRequest {
        var request = ListRequest(table: query.table)
        request.top = wanted
        request.skip = passed
        if outlineReason != nil { request.select = ServerRow.outlineColumns }
        switch place {
        case .window(let start):
            request.filter = .both(query.asked, start.map { .updatedAt(.greaterOrEqual, $0) })
            request.order = [RowQuery.Key("updatedAt"), RowQuery.Key("id")]
        case .drain(let moment, let id):
            request.filter = .both(
                query.asked, .updatedAt(.greaterOrEqual, moment), .updatedAt(.less, moment + 1),
                id.map { .idAfter($0) })
            request.order = [RowQuery.Key("id")]
        case .offset(let count, let last):
            request.filter = query.asked
            request.order = query.order + (query.order.contains { $0.column == "id" } ? [] : [RowQuery.Key("id")])
            // The last row of the previous page is requested again, to detect whether the list has moved.
            request.skip = query.skip + count - (last == nil ? 0 : 1)
            if last != nil { request.top = wanted + 1 }
        }
        return request
    }

    /// How many rows the next page asks for.
    private var wanted: Int { min(size.rows, left ?? .max) }

    /// How many more rows are wanted.
    private var left: Int? { query.top.map { max(0, $0 - seen.count) } }

    // MARK: Answers

    package mutating func handle(_ reply: ServerReply) -> ListAction {
        // Its content is ignored: by changes, the same rows come with a cursor that does not depend on a clock.
        if requests == 1, reply.status == 200, query.mayGoByChanges, reply.capabilities.contains(.changes) {
            return .turn
        }
        if let action = gate.pass(reply) { return action }
        if reply.isTooLarge { return narrow(reply) }
        guard case .list(var list) = reply.content else { return fail(reply.content.isNoList) }
        if let outlineReason {
            list.rows = list.rows.map { $0.outline(outlineReason) }
            self.outlineReason = nil
        } else {
            size.grow()
        }
        if serverStart == nil { serverStart = reply.date?.milliseconds }
        received += list.rows.count
        return take(list)
    }

    /// Asks for fewer rows, and then, of a row that is too large alone, for what is needed to list it and to continue.
    private mutating func narrow(_ reply: ServerReply) -> ListAction {
        if size.shrink(from: wanted) { return ask() }
        if case .offset(let count, .some) = place {
            place = .offset(count, last: nil)
            return ask()
        }
        guard outlineReason == nil, case .unreadable(let reason) = reply.content else { return fail(reply.tooLarge) }
        outlineReason = reason
        return ask()
    }

    package mutating func stored() -> ListAction {
        isFinished ? .finish : ask()
    }

    private mutating func done(_ rows: [ServerRow]) -> ListAction {
        isFinished = true
        return .store(rows, cursor(drain: nil))
    }

    /// Takes a page and returns the next action.
    private mutating func take(_ list: ServerList) -> ListAction {
        if case .offset(let count, let last) = place { return take(list, after: count, last) }
        if query.top != nil { for row in list.rows { seen.insert(ExactString(row.id)) } }
        if let left, left == 0 { return done(list.rows) }
        let isAll = passed == 0 && list.count.map { $0 <= list.rows.count } ?? false
        switch place {
        case .window(let start):
            if total == nil { total = list.count }
            if list.rows.isEmpty { return done([]) }
            let needsTime = !isAll || query.queryID != nil
            // A row that can't be read may have a time nevertheless; one without it does not count here.
            guard !needsTime || list.rows.allSatisfy({ $0.moment != nil || $0.fault != nil }) else {
                return fail(PullMachine.noTime)
            }
            let moments = list.rows.compactMap(\.moment)
            if isAll {
                see(moments.max())
                return done(list.rows)
            }
            guard let end = moments.last else { return pass(list.rows, drain: nil) }
            guard isInOrder(moments, from: start) else { return fail(PullMachine.noOrder) }
            see(end)
            let isOneMoment = moments.first == end && (start == nil || start == end)
            place = isOneMoment ? .drain(end, after: nil) : .window(end)
            pages = RepeatGuard()
            return .store(list.rows, cursor(drain: nil))
        case .drain(let moment, let id):
            guard !list.rows.isEmpty, !isAll else {
                if !list.rows.isEmpty { see(moment) }
                place = .window(isResumed ? moment : moment + 1)
                isResumed = false
                return list.rows.isEmpty ? ask() : .store(list.rows, cursor(drain: nil))
            }
            // A server that ignores the order by id would cause an endless read.
            guard list.rows.allSatisfy({ $0.moment == moment || $0.fault != nil && $0.moment == nil }) else {
                return fail(PullMachine.noOrder)
            }
            see(moment)
            guard let last = list.rows.last(where: { !$0.id.isEmpty })?.id else { return pass(list.rows, drain: id) }
            if id?.hasSameBytes(as: last) == true || pages.isRepeat(last) { return fail(PullMachine.noOrder) }
            place = .drain(moment, after: last)
            return .store(list.rows, cursor(drain: last))
        case .offset:
            preconditionFailure("it was handled above")
        }
    }

    /// Continues after rows that can't be read and have neither a time nor an id, by their number.
    private mutating func pass(_ rows: [ServerRow], drain: String?) -> ListAction {
        passedPages += 1
        let look = rows.map { String($0.fault?.digest ?? 0) }.joined(separator: " ")
        guard !pages.isRepeat(look) || passedPages < PullMachine.passLimit else { return fail(PullMachine.noOrder) }
        passed += rows.count
        return .store(rows, cursor(drain: drain))
    }

    private mutating func take(_ list: ServerList, after count: Int, _ last: String?) -> ListAction {
        var rows = list.rows[...]
        if let last {
            guard rows.first?.id.hasSameBytes(as: last) == true else { return restart(list.rows) }
            rows = rows.dropFirst()
        }
        let isAll = list.count.map { $0 <= query.skip + count + rows.count } ?? false
        if total == nil { total = list.count.map { min(query.top ?? .max, max(0, $0 - query.skip)) } }
        if query.top != nil { for row in rows { seen.insert(ExactString(row.id)) } }
        if isAll || left == 0 || list.rows.isEmpty { return done(Array(rows)) }
        guard let end = rows.last?.id else {
            // The server returns one row at a time, and this was the repeated one: continue without it.
            place = .offset(count, last: nil)
            return ask()
        }
        // Without an id, the row can't be recognized when it is requested again.
        if !end.isEmpty, pages.isRepeat(end) { return restart(list.rows) }
        place = .offset(count + rows.count, last: end.isEmpty ? nil : end)
        return .store(Array(rows), nil)
    }

    /// Starts again, because the list has moved.
    private mutating func restart(_ rows: [ServerRow]) -> ListAction {
        restarts += 1
        guard restarts <= PullMachine.restartLimit else {
            return fail(
                SyncError(
                    .serverError, "the rows changed their order each time they were read",
                    hint: "Pull without an order, so that rows may move."))
        }
        place = .offset(0, last: nil)
        pages = RepeatGuard()
        seen = []
        return ask()
    }

    private mutating func see(_ moment: Int64?) {
        newest = [newest, moment].compactMap { $0 }.max()
    }

    /// Returns whether the times of rows are sorted, all from the start of the window on.
    private func isInOrder(_ moments: [Int64], from start: Int64?) -> Bool {
        var before = start ?? .min
        for moment in moments {
            guard moment >= before else { return false }
            before = moment
        }
        return true
    }

    /// Returns the query's cursor: the newest millisecond seen, but not after the server's time when the pull began.
    private func cursor(drain: String?) -> CursorState? {
        guard query.queryID != nil else { return nil }
        let seen = newest ?? 0
        let moment = min(seen, serverStart ?? .max)
        return CursorState(
            .time(Timestamp(.init(milliseconds: moment)), drain: moment == seen ? drain : nil), query: canonicalText,
            updated: 0)
    }

    private static let noTime = SyncError(
        .serverError, "a row has no updatedAt, which is needed to read in pages",
        hint: "The server's table needs the column updatedAt.")
    static let noOrder = SyncError(
        .serverError, "the server did not return rows in the requested order",
        hint: "Nothing is lost; stored pages are kept.")
}

extension ServerRow {
    /// The columns of which an outline consists.
    static let outlineColumns = ["id", "updatedAt", "version", "deleted"]

    /// Returns a row of which only these columns were requested, because it is too large.
    func outline(_ reason: String) -> ServerRow {
        if isDeleted || hasLeft { return self }
        var row = ServerRow(id: id, columns: .empty, isDeleted: false, moment: moment)
        row.fault = RowFault(reason, place: 1, digest: fault?.digest ?? 0)
        return row
    }
}

extension Value {
    /// The millisecond of a date.
    package var moment: Int64? {
        if case .date(let date) = self { return date.instant.milliseconds }
        return nil
    }
}
