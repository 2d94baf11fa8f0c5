// The pull by changes from a table that is written to during the read, purged, restored, or gone: nothing is lost,
// nothing returns, and it ends.

import LogTesting
import Testing

@testable import SynclineCore

/// A client that keeps the rows of pages.
private struct Reader {
    var rows: [String: String] = [:]
    var cursor: CursorState?

    /// Pulls to the end, or dies before a page is stored; returns whether the server has no changes feed.
    mutating func pull(
        _ query: PullQuery, _ server: inout NumberedServer, diesAfter pages: Int? = nil,
        between: (inout NumberedServer) -> Void = { _ in }
    ) throws -> Bool {
        var machine = try ChangesMachine(query, from: cursor, retries: 0)
        var action = machine.start()
        var stored = 0
        var asked = 0
        while true {
            switch action {
            case .ask(.changes(let request)):
                asked += 1
                try #require(asked < 500, "it never ends")
                let reply = server.answer(request)
                between(&server)
                action = machine.handle(reply)
            case .store(let page, let moved):
                if stored == pages { return false }
                for row in page { rows[row.id] = row.isDeleted || row.hasLeft ? nil : row.columns.version }
                cursor = moved
                stored += 1
                action = machine.stored()
            case .finish:
                // A pull from a server that is purged and restored repeatedly gives up, and the next one reads it.
                guard machine.isAuditDue, machine.stop == nil else { return false }
                let found = server.matching(query.filter)
                rows = rows.filter { found[$0.key] != nil }
                if let change = cursor?.change { cursor?.place = .changes(change) }
                return false
            case .turn: return true
            default: throw SyncError(.internalError, "the server is well")
            }
        }
    }
}

@Suite struct ChangesMachineTests {
    private static func query(_ filter: String? = nil, top: Int = 3) throws -> PullQuery {
        var query = PullQuery(table: "t")
        query.queryID = "q"
        query.changesPageSize = top
        query.filter = try filter.map { try FilterExpression(parsing: $0) }
        return query
    }

    private static func check(_ reader: Reader, _ server: NumberedServer, _ query: PullQuery, _ seed: UInt64) throws {
        let expected = server.matching(query.filter).mapValues { server.version($0) }
        let isSame = reader.rows == expected
        try #require(isSame, "seed \(seed): \(reader.rows) is not \(expected)")
        try #require(reader.cursor?.isAuditDue == false, "seed \(seed)")
    }

    @Test(arguments: [nil, "n lt 5"])
    func `no row is lost or kept, whatever happens to the table between pages and pulls`(_ filter: String?) throws {
        for seed in UInt64(1)...200 {
            var chance = Chance(seed: seed)
            var server = NumberedServer()
            let query = try Self.query(filter, top: chance.pick([1, 2, 3, 7, 50]))
            server.write(20, 12, &chance)
            var reader = Reader()
            for _ in 0..<6 {
                _ = try reader.pull(query, &server, diesAfter: chance.once(in: 3) ? chance.below(4) : nil) { server in
                    if chance.once(in: 3) { server.write(1, 12, &chance) }
                    if chance.once(in: 20) { server.purge() }
                    if chance.once(in: 30) { server.setBack(&chance) }
                }
                if chance.once(in: 4) { server.purge() }
                if chance.once(in: 4) { server.setBack(&chance) }
                server.write(chance.below(4), 12, &chance)
            }
            _ = try reader.pull(query, &server)
            try Self.check(reader, server, query, seed)
        }
    }

    @Test func `if nothing changed, one request is enough`() throws {
        var chance = Chance(seed: 1)
        var server = NumberedServer()
        server.write(20, 12, &chance)
        var reader = Reader()
        let query = try Self.query(top: 50)
        _ = try reader.pull(query, &server)
        #expect(server.requests == 1)
        _ = try reader.pull(query, &server)
        #expect(server.requests == 2)
    }

    @Test func `N15, N18: after a cursor that the server can't serve, everything is read again once`() throws {
        var chance = Chance(seed: 1)
        var server = NumberedServer()
        server.write(20, 12, &chance)
        var reader = Reader()
        let query = try Self.query(top: 50)
        _ = try reader.pull(query, &server)
        for trouble in [{ (s: inout NumberedServer) in s.purge() }, { $0.setBack(&chance) }] {
            server.write(10, 12, &chance)
            trouble(&server)
            let before = server.requests
            _ = try reader.pull(query, &server)
            #expect(server.requests == before + 2)
            try Self.check(reader, server, query, 1)
        }
        // A server that refuses the beginning, too, is not asked for ever.
        var machine = try ChangesMachine(query, from: reader.cursor, retries: 0)
        _ = machine.start()
        var refusal = ServerReply(status: 410, content: .unreadable(""))
        refusal.capabilities = .changes
        guard case .ask = machine.handle(refusal), case .finish = machine.handle(refusal) else {
            Issue.record("it does not end")
            return
        }
        #expect(machine.stop?.code == .serverError)
    }

    @Test func `missing rows are remembered as possible until an audit`() throws {
        var chance = Chance(seed: 3)
        var server = NumberedServer()
        server.write(30, 12, &chance)
        var reader = Reader()
        let query = try Self.query(top: 1)
        _ = try reader.pull(query, &server)
        server.write(9, 12, &chance)
        server.purge()
        _ = try reader.pull(query, &server, diesAfter: 2)
        #expect(reader.cursor?.isAuditDue == true)
        _ = try reader.pull(query, &server)
        try Self.check(reader, server, query, 3)
        // Rows read by time before may have disappeared without a change, too.
        let byTime = CursorState(.time(Timestamp(.init(milliseconds: 1_767_225_600_000))), query: "", updated: 0)
        #expect(try ChangesMachine(query, from: byTime, retries: 0).isAuditDue)
        #expect(try !ChangesMachine(query, from: nil, retries: 0).isAuditDue)
    }

    @Test func `a server without a changes feed is read by time, and one with it is not`() throws {
        var server = NumberedServer()
        server.tellsChanges = false
        var reader = Reader()
        #expect(try reader.pull(Self.query(), &server))
        #expect(reader.cursor == nil)

        var machine = try PullMachine(Self.query(), from: nil, retries: 0)
        _ = machine.start()
        var list = ServerReply(status: 200, content: .list(ServerList(rows: [], count: 0)))
        list.capabilities = .changes
        guard case .turn = machine.handle(list) else {
            Issue.record("it continues by time")
            return
        }
        var whole = PullQuery(table: "t")
        whole.top = 5
        var other = try PullMachine(whole, from: nil, retries: 0)
        _ = other.start()
        guard case .store = other.handle(list) else {
            Issue.record("what is limited in number is read by time")
            return
        }
    }

    @Test func `how much there is to read is reported from the first page on`() throws {
        var server = NumberedServer()
        var chance = Chance(seed: 1)
        server.write(30, 1000, &chance)
        for filter in [nil, "n ge 5"] {
            var machine = try ChangesMachine(Self.query(filter), from: nil, retries: 0)
            var action = machine.start()
            var totals: [Int?] = []
            while case .ask(.changes(let request)) = action {
                guard case .store = machine.handle(server.answer(request)) else { break }
                totals.append(machine.total)
                action = machine.stored()
            }
            // Not all rows that a filter excludes are reported.
            #expect(totals.count > 3 && totals.allSatisfy { $0 == (filter == nil ? server.rows.count : nil) })
            #expect(filter != nil || machine.received == server.rows.count)
        }
    }

    @Test func `a cursor that does not advance, or an answer of another kind, stops it`() throws {
        for content in [
            ServerReply.Content.changes(ServerChanges(rows: [], cursor: "x", hasMore: true)), .unreadable("x"),
            .list(ServerList(rows: [], count: nil)),
        ] {
            var machine = try ChangesMachine(
                Self.query(), from: CursorState(.changes("x"), query: "", updated: 0), retries: 0)
            _ = machine.start()
            var reply = ServerReply(status: 200, content: content)
            reply.capabilities = .changes
            guard case .finish = machine.handle(reply) else {
                Issue.record("it continues")
                continue
            }
            #expect(machine.stop?.code == .serverError)
        }
    }

    @Test func `a proxy in front of a server that is down does not count as the server`() throws {
        var machine = try ChangesMachine(Self.query(), from: nil, retries: 1)
        _ = machine.start()
        guard case .wait = machine.handle(ServerReply(status: 502, content: .unreadable(""))) else {
            Issue.record("a gateway's word was taken for the server's")
            return
        }
        guard case .refreshCredentials = machine.handle(ServerReply(status: 401, content: .unreadable(""))) else {
            Issue.record("credentials are asked for")
            return
        }
    }
}
