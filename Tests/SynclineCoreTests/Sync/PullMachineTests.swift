// The pull from a table whose rows move while it is read: nothing is lost once it is quiet, requests are bounded,
// and the cursor is never after what was seen.

import LogTesting
import Testing

@testable import SynclineCore

/// A client that keeps the rows of pages.
private struct Reader {
    var rows: [String: String] = [:]
    var cursor: CursorState?
    var newest: Int64 = 0
    var requests = 0

    /// Pulls to the end, or dies before a page is stored. The caller moves rows in the meantime.
    mutating func pull(
        _ query: PullQuery, _ server: inout MovingServer, diesAfter pages: Int? = nil,
        between: (inout MovingServer) -> Void = { _ in }
    ) throws -> SyncError? {
        var machine = try PullMachine(query, from: cursor, retries: 0)
        var action = machine.start()
        var stored = 0
        while true {
            switch action {
            case .ask(.list(let request)):
                requests += 1
                try #require(requests < 2000, "it never ends")
                server.tick()
                let reply = server.answer(request)
                between(&server)
                action = machine.handle(reply)
            case .store(let page, let moved):
                if stored == pages { return nil }
                for row in page {
                    rows[row.id] = row.isDeleted ? nil : row.columns.version
                    newest = max(newest, row.moment ?? 0)
                }
                if let moved {
                    cursor = moved
                    try #require(moved.moment ?? 0 <= newest, "the cursor stands beyond what was seen")
                }
                stored += 1
                action = machine.stored()
            case .ask, .wait, .refreshCredentials, .turn: return SyncError(.internalError, "the server is well")
            case .finish: return machine.stop
            }
        }
    }
}

@Suite struct PullMachineTests {
    #if DEBUG
        static let seeds = UInt64(1)...40
    #else
        static let seeds = UInt64(1)...1000
    #endif

    private static func server(_ chance: inout Chance) -> MovingServer {
        MovingServer(
            isMicroseconds: chance.once(in: 2), pageLimit: chance.pick([1, 2, 3, 5, 7, 100]),
            tellsTime: !chance.once(in: 3), counts: !chance.once(in: 3))
    }

    private static func check(_ reader: Reader, _ server: MovingServer, _ seed: UInt64) throws {
        let expected = server.rows.filter { !$0.value.isDeleted }.mapValues { "\($0.version)" }
        let isSame = reader.rows == expected
        try #require(isSame, "seed \(seed)")
    }

    @Test func `no row is lost whatever moves between the pages`() throws {
        for seed in Self.seeds {
            var chance = Chance(seed: seed)
            var server = Self.server(&chance)
            var query = PullQuery(table: "t")
            query.queryID = "q"
            query.pageSize = 1 + chance.below(7)
            server.write(40, 30, &chance)
            var reader = Reader()
            var writes = 0
            for _ in 0..<5 {
                let dies = chance.once(in: 2) ? chance.below(6) : nil
                let stop = try reader.pull(query, &server, diesAfter: dies) { server in
                    guard writes < 150 else { return }
                    let count = chance.below(4)
                    writes += count
                    server.write(count, 30, &chance)
                }
                #expect(stop == nil, "seed \(seed)")
            }
            // Every request makes progress by a row, except those that find the end of a millisecond.
            #expect(reader.requests <= 3 * (5 * 30 + writes + 40), "seed \(seed)")
            for _ in 0..<2 {
                let stop = try reader.pull(query, &server)
                #expect(stop == nil, "seed \(seed)")
            }
            try Self.check(reader, server, seed)
            if case .time(_, let drain)? = reader.cursor?.place { #expect(drain == nil, "seed \(seed)") }
            // In the steady state the rows of the newest millisecond are read again, and nothing else.
            let before = reader.requests
            let newest = server.rows.values.map { $0.time / 1000 }.max() ?? 0
            let tied = server.rows.values.count { $0.time / 1000 == newest }
            _ = try reader.pull(query, &server)
            if server.counts, !server.tellsTime, tied <= min(server.pageLimit, query.pageSize) {
                #expect(reader.requests == before + 1, "seed \(seed)")
            }
        }
    }

    @Test func `a millisecond whose reading was cut is read again from its beginning`() throws {
        var query = PullQuery(table: "t")
        query.queryID = "q"
        let moment: Int64 = 1_767_225_600_004
        let cursor = CursorState(.time(Timestamp(.init(milliseconds: moment)), drain: "m"), query: "", updated: 0)
        var machine = try PullMachine(query, from: cursor, retries: 0)
        let reply = ServerReply(status: 200, content: .list(ServerList(rows: [], count: 0)))
        guard case .ask(.list(let rest)) = machine.start(), case .ask(.list(let again)) = machine.handle(reply) else {
            Issue.record("it asks for nothing")
            return
        }
        #expect(rest.order == [RowQuery.Key("id")], "it continues where the earlier one stopped")
        #expect(
            again.filter == FilterExpression.updatedAt(.greaterOrEqual, moment)
                && again.order.first == RowQuery.Key("updatedAt")
        )
    }

    @Test func `without a query id everything is read, whichever rows move`() throws {
        for seed in Self.seeds {
            var chance = Chance(seed: seed)
            var server = Self.server(&chance)
            var query = PullQuery(table: "t")
            query.pageSize = 1 + chance.below(7)
            server.write(40, 30, &chance)
            var reader = Reader()
            var writes = 0
            _ = try reader.pull(query, &server) { server in
                guard writes < 60 else { return }
                writes += 2
                server.write(2, 30, &chance)
            }
            reader.rows = [:]
            #expect(try reader.pull(query, &server) == nil)
            try Self.check(reader, server, seed)
            #expect(reader.cursor == nil)
        }
    }

    @Test func `a custom order is read by offset, moving rows are noticed, and the pull ends`() throws {
        for seed in Self.seeds {
            var chance = Chance(seed: seed)
            var server = Self.server(&chance)
            var query = PullQuery(table: "t")
            query.order = [RowQuery.Key("n", descending: chance.once(in: 2))]
            query.pageSize = 1 + chance.below(7)
            server.write(40, 30, &chance)
            var reader = Reader()
            // Rows that always move are reported; the pull does not continue for ever.
            let stop = try reader.pull(query, &server) { server in server.write(1, 30, &chance) }
            #expect(stop == nil || stop?.code == .serverError, "seed \(seed)")
            reader = Reader()
            #expect(try reader.pull(query, &server) == nil)
            try Self.check(reader, server, seed)
            reader = Reader()
            query.top = 4
            #expect(try reader.pull(query, &server) == nil)
            #expect(reader.rows.count <= 4)
        }
    }

    @Test func `top limits how many rows are returned`() throws {
        for seed in Self.seeds {
            var chance = Chance(seed: seed)
            var server = Self.server(&chance)
            server.write(40, 30, &chance)
            var query = PullQuery(table: "t")
            query.pageSize = 1 + chance.below(7)
            query.top = chance.below(12)
            var reader = Reader()
            #expect(try reader.pull(query, &server) == nil)
            #expect(reader.rows.count <= query.top ?? 0, "seed \(seed)")
            let deleted = server.rows.values.count { $0.isDeleted }
            #expect(reader.rows.count + deleted >= min(query.top ?? 0, server.rows.count), "seed \(seed)")
        }
    }

    // MARK: Servers that ignore parts of a request

    /// The result of responses that repeat for ever.
    private func stop(_ query: PullQuery, _ pages: [[ServerRow]], count: Int? = nil) throws -> SyncError? {
        var machine = try PullMachine(query, from: nil, retries: 0)
        var action = machine.start()
        for number in 0..<500 {
            switch action {
            case .ask:
                let list = ServerList(rows: pages[number / 2 % pages.count], count: count)
                action = machine.handle(ServerReply(status: 200, content: .list(list)))
            case .store: action = machine.stored()
            case .wait, .refreshCredentials, .turn, .finish: return machine.stop
            }
        }
        Issue.record("it never ends")
        return nil
    }

    private func row(_ id: String, _ time: Int64?) -> ServerRow {
        let columns = time.map { Row([.init("updatedAt", .date(Timestamp(.init(milliseconds: $0))))]) } ?? .empty
        return ServerRow(id: id, columns: columns, isDeleted: false)
    }

    @Test func `a list that never ends is noticed`() throws {
        var query = PullQuery(table: "t")
        for queryID in ["q", nil] {
            query.queryID = queryID
            for count in [nil, 100] {
                #expect(try stop(query, [[row("a", 5), row("b", 5)]], count: count)?.code == .serverError)
                #expect(try stop(query, [[row("a", 5), row("b", 6)]], count: count)?.code == .serverError)
                let turns = [[row("a", 5), row("b", 5)], [row("c", 5), row("d", 5)]]
                #expect(try stop(query, turns, count: count)?.code == .serverError)
                #expect(try stop(query, turns + [[row("a", 5)]], count: count)?.code == .serverError)
            }
        }
    }

    @Test func `rows out of order, or without a time, stop the pull`() throws {
        var query = PullQuery(table: "t")
        query.queryID = "q"
        #expect(try stop(query, [[row("a", 7), row("b", 5)]])?.code == .serverError)
        #expect(try stop(query, [[row("a", 7)], [row("b", 5)]])?.code == .serverError)
        #expect(try stop(query, [[row("a", nil)]], count: 1)?.code == .serverError)
        query.queryID = nil
        #expect(try stop(query, [[row("a", nil)]], count: 2)?.code == .serverError)
        #expect(try stop(query, [[row("a", nil)]], count: 1) == nil)
    }

    /// A list with rows that can't be read and are in each answer: without a time or an id, and some alike.
    private func answer(
        _ request: ListRequest, _ rows: [ServerRow], odd: [ServerRow], oddFirst: Bool, pageLimit: Int, counts: Bool
    ) -> ServerReply {
        let matching = rows.filter { row in
            request.filter.map { filter in
                row.columns.withView { view in
                    Array(row.id.utf8).withUnsafeBytes { filter.matches(EncodedRowView(id: $0, row: view)) }
                }
            } ?? true
        }
        let byID = request.order.first?.column == "id"
        let sorted = matching.sorted { byID ? $0.id < $1.id : ($0.moment ?? 0, $0.id) < ($1.moment ?? 0, $1.id) }
        let all = oddFirst ? odd + sorted : sorted + odd
        let page = all.dropFirst(request.skip).prefix(min(request.top ?? .max, pageLimit))
        return ServerReply(
            status: 200, content: .list(ServerList(rows: Array(page), count: counts ? all.count : nil)))
    }

    @Test func `rows without a time and an id never end a pull or an audit, wherever a page ends`() throws {
        for seed in Self.seeds {
            var chance = Chance(seed: seed)
            let rows = (0..<chance.below(8)).map { row("r\($0)", 5 + Int64(chance.below(4))) }
            let odd = (0..<chance.below(8)).map { _ in
                var row = ServerRow(id: "", columns: .empty, isDeleted: false, moment: nil)
                row.fault = RowFault("odd", place: 1, digest: UInt64(chance.below(3)))
                return row
            }
            let (oddFirst, counts) = (chance.once(in: 2), chance.once(in: 3))
            let pageLimit = 1 + chance.below(4)
            func reply(_ request: ListRequest) -> ServerReply {
                answer(request, rows, odd: odd, oddFirst: oddFirst, pageLimit: pageLimit, counts: counts)
            }
            var query = PullQuery(table: "t")
            if chance.once(in: 2) { query.queryID = "q" }
            var machine = try PullMachine(query, from: nil, retries: 0)
            var action = machine.start()
            var (found, digests): (Set<String>, Set<UInt64>) = ([], [])
            while machine.requests < 1000 {
                if case .ask(.list(let request)) = action {
                    action = machine.handle(reply(request))
                } else if case .store(let page, _) = action {
                    found.formUnion(page.map(\.id))
                    digests.formUnion(page.compactMap(\.fault?.digest))
                    action = machine.stored()
                } else {
                    break
                }
            }
            try #require(machine.stop == nil && machine.requests < 1000, "seed \(seed)")
            try #require(found.subtracting([""]) == Set(rows.map(\.id)), "seed \(seed)")
            try #require(digests == Set(odd.compactMap(\.fault?.digest)), "seed \(seed)")
            var audit = AuditMachine(query, retries: 0)
            action = audit.ask()
            while case .ask(.list(let request)) = action { action = audit.handle(reply(request)) }
            try #require(audit.stop == nil && audit.hasOthers == !odd.isEmpty, "seed \(seed)")
            try #require(audit.ids.count == rows.count + (odd.isEmpty ? 0 : 1), "seed \(seed)")
        }
    }

    @Test func `a server that sends rows without an id again and again stops the pull`() throws {
        var odd = ServerRow(id: "", columns: .empty, isDeleted: false, moment: nil)
        odd.fault = RowFault("odd", place: 1, digest: 7)
        #expect(try stop(PullQuery(table: "t"), [[odd, odd]])?.code == .serverError)
        #expect(try stop(PullQuery(table: "t"), [[row("a", 5)], [odd]])?.code == .serverError)
    }

    @Test func `an audit of a list that never ends is noticed`() throws {
        for pages in [[["a", "b"]], [["a", "b"], ["c", "d"]], [["a"], ["b"], ["c"]]] {
            var machine = AuditMachine(PullQuery(table: "t"), retries: 0)
            var action = machine.ask()
            var number = 0
            while case .ask = action, number < 100 {
                let rows = pages[number % pages.count].map { row($0, nil) }
                action = machine.handle(
                    ServerReply(status: 200, content: .list(ServerList(rows: rows, count: nil))))
                number += 1
            }
            #expect(machine.stop?.code == .serverError, "\(pages)")
        }
    }

    @Test func `ids that Unicode calls equivalent are different rows`() throws {
        let (one, two) = ("caf\u{e9}", "cafe\u{301}")
        var query = PullQuery(table: "t")
        query.queryID = "q"
        // The end of the third page is the other spelling of that of the second one.
        #expect(try stop(query, [[row("a", 5), row(two, 5)], [row(two, 5)], [row(one, 5)], []]) == nil)
        var audit = AuditMachine(PullQuery(table: "t"), retries: 0)
        _ = audit.ask()
        let list = ServerList(rows: [row(one, nil), row(two, nil)], count: 2)
        _ = audit.handle(ServerReply(status: 200, content: .list(list)))
        #expect(audit.ids.count == 2)
        var lookUp = LookUpMachine("t", [one, two], retries: 0)
        _ = lookUp.ask()
        _ = lookUp.handle(ServerReply(status: 200, content: .list(list)))
        #expect(lookUp.rows.count == 2)
        let rows = [one, two].map { StoredRow(id: $0, columns: .empty) }
        #expect(!ListDifference(from: [rows[0]], to: [rows[1]]).isEmpty)
    }

    // MARK: Queries

    @Test func `settings that exclude each other are refused before any request`() {
        func code(_ change: (inout PullQuery) -> Void) -> SyncError.Code? {
            var query = PullQuery(table: "t")
            query.queryID = "q"
            change(&query)
            do throws(SyncError) { try query.prepare(for: .zumo2, TableTypes()) } catch { return error.code }
            return nil
        }
        #expect(code { _ in } == nil)
        #expect(code { $0.order = [RowQuery.Key("a")] } == .invalidQuery)
        #expect(code { $0.top = 5 } == .invalidQuery)
        #expect(code { $0.skip = 1 } == .invalidQuery)
        #expect(code { $0.queryID = "" } == .invalidQuery)
        #expect(code { $0.queryID = String(repeating: "x", count: 256) } == .invalidQuery)
        #expect(code { $0.queryID = "a\0b" } == .invalidQuery)
        #expect(code { $0.pageSize = 0 } == .invalidQuery)
        #expect(code { $0.overlap = -1 } == .invalidQuery)
        #expect(code { ($0.queryID, $0.top) = (nil, -1) } == .invalidQuery)
        #expect(code { ($0.queryID, $0.top, $0.skip, $0.order) = (nil, 0, 3, [RowQuery.Key("a")]) } == nil)
    }

    @Test func `equal filters have one canonical text, however they are written`() throws {
        func text(_ filter: String) throws -> String {
            var query = PullQuery(table: "t")
            query.filter = try FilterExpression(parsing: filter)
            return try query.canonicalText
        }
        #expect(try text("a eq 1") == text("(a eq 1)"))
        #expect(try text("a eq 1 and b eq 2") == text("((a eq 1) and (b eq 2))"))
        #expect(try text("d ge datetime'2026-01-01T00:00:00Z'") == text("d ge 2026-01-01T00:00:00Z"))
        #expect(try text("a eq 1") != text("a eq 2"))
        #expect(try PullQuery(table: "t").canonicalText == "")
    }
}
