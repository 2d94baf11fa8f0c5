// The client and this server reading by changes: what the client asks, and that it ends with what the server has,
// whatever happens to the server's history.

import Syncline
import SynclineCore
import SynclineGround
import SynclineWire
import Testing

@testable import SynclineServer

@Suite struct ChangesClientTests {
    @Test(arguments: TestBackend.stores, ServerProtocol.allCases)
    func `a store discovers the changes feed and uses it from then on`(
        _ backend: TestBackend, _ protocolVersion: ServerProtocol
    ) async throws {
        let desk = try ClientDesk(backend, protocolVersion)
        for number in 0..<7 { try desk.ask("POST", "todoitem", #"{"id":"r\#(number)"}"#) }
        let store = try await desk.store("a")
        let first = try await store.pullAll { $0.pageSize = 3 }
        #expect(first.reason == nil && first.received == 7 && first.changed == 7)
        let list = "GET /tables/todoitem"
        #expect(desk.line.takeRequests() == [list] + Array(repeating: list + "/changes", count: 3))
        try desk.ask("PATCH", "todoitem/r3", #"{"text":"new"}"#)
        try desk.ask("DELETE", "todoitem/r4")
        let second = try await store.pullAll()
        #expect(second.received == 2 && second.changed == 1 && second.deleted == 1 && second.requests == 1)
        #expect(desk.line.takeRequests() == [list + "/changes"])
        let quiet = try await store.pullAll()
        #expect(quiet.requests == 1 && quiet.received == 0)
        #expect(try await store.column("version") == desk.truth())
        // What is stored is understood after reopening, and nothing is asked twice.
        try await store.close()
        let again = try await desk.store("a")
        _ = desk.line.takeRequests()
        let known = try await again.pullAll()
        #expect(known.requests == 1 && known.received == 0)
        #expect(desk.line.takeRequests() == [list + "/changes"])
        try await again.close()
    }

    @Test(arguments: TestBackend.stores)
    func `without a query id everything is also read by changes, and nothing is remembered or removed`(
        _ backend: TestBackend
    ) async throws {
        let desk = try ClientDesk(backend)
        for number in 0..<7 { try desk.ask("POST", "todoitem", #"{"id":"r\#(number)","complete":false}"#) }
        let store = try await desk.store("a")
        func pull(_ pageSize: Int?, filter: String? = nil) async throws -> PullReport {
            try await store.pullAll {
                $0.queryID = nil
                $0.pageSize = pageSize
                $0.filter = try filter.map { try FilterExpression(parsing: $0) }
            }
        }
        #expect(try await pull(nil).received == 7)
        let list = "GET /tables/todoitem"
        #expect(desk.line.takeRequests() == [list, list + "/changes"])
        #expect(try await store.cursors().isEmpty)
        // A row that leaves the filter during the read was here before, and stays unchanged.
        let service = desk.desk.service
        let turn = Atomic(0)
        desk.line.between {
            guard turn.add(1, ordering: .relaxed).oldValue == 0 else { return }
            var change = HTTPRequest("PATCH", "/tables/todoitem/r6")
            change.body = Array(#"{"complete":true}"#.utf8)
            _ = service.answer(change, url: "http://server")
        }
        let filtered = try await pull(2, filter: "complete eq false")
        #expect(filtered.reason == nil && filtered.deleted == 0)
        #expect(turn.load(ordering: .relaxed) > 2)
        #expect(try await store.column("complete")["r6"] == .bool(false))
        // What can't be read by changes is read by time, as before.
        _ = desk.line.takeRequests()
        _ = try await store.pullAll {
            $0.queryID = nil
            $0.top = 2
        }
        #expect(desk.line.takeRequests() == [list])
        try await store.close()
    }

    @Test(arguments: TestBackend.stores)
    func `a row that was permanently deleted and created again is reported once, in its present form`(
        _ backend: TestBackend
    ) async throws {
        let desk = try ClientDesk(backend)
        let store = try await desk.store("a")
        try await store.pullAll("hard")
        for id in ["a", "b", "c"] { try desk.ask("POST", "hard", #"{"id":"\#(id)","text":"old"}"#) }
        for id in ["a", "b"] { try desk.ask("DELETE", "hard/\(id)") }
        try desk.ask("POST", "hard", #"{"id":"a","text":"new"}"#)
        let report = try await store.pullAll("hard") { $0.pageSize = 1 }
        #expect(report.received == 3, "b is a tombstone, a and c are rows")
        #expect(report.deleted == 0 && report.conflicts == 0)
        #expect(try await store.column("text", of: "hard") == ["a": .string("new"), "c": .string("old")])
        try await store.close()
    }

    @Test(arguments: TestBackend.stores, ServerProtocol.allCases)
    func `rows that were deleted come back`(_ backend: TestBackend, _ protocolVersion: ServerProtocol) async throws {
        for table in ["todoitem", "hard"] {
            for lost in 0...3 {
                let desk = try ClientDesk(backend, protocolVersion)
                let store = try await desk.store("a")
                try await store.insert("r", "one", into: table)
                try await store.pushOnce()
                try await store.rows(of: table).delete(id: "r")
                try await store.pushOnce()
                try await store.rows(of: table).insert(
                    .object([.init("id", .string("r")), .init("n", .integer(2))]))
                desk.line.lose(lost)
                for _ in 0...lost { _ = try await store.push() }
                #expect(try await store.pending().isEmpty, "\(table), \(lost) answers lost")
                #expect(try await store.conflicts().isEmpty)
                try await store.pullAll(table)
                #expect(try await store.column("n", of: table) == ["r": .integer(2)])
                #expect(try await store.column("text", of: table)["r"] ?? .null == .null)
                try await store.close()
            }
        }
    }

    @Test func `a server that does not state its capabilities gets plain requests`() async throws {
        let desk = try ClientDesk()
        desk.line.tellCapabilities(false)
        for number in 0..<3 { try desk.ask("POST", "todoitem", #"{"id":"r\#(number)"}"#) }
        let store = try await desk.store("a")
        for number in 0..<3 { try await store.insert("n\(number)", "mine") }
        try await store.pushOnce()
        try await store.pullAll()
        try await store.pullAll()
        #expect(
            desk.line.takeRequests() == Array(repeating: "POST /tables/todoitem", count: 3)
                + Array(repeating: "GET /tables/todoitem", count: 2))
        #expect(try await store.column("version") == desk.truth())
        // Once the server has a changes feed, what was read by time is read by changes, and rows that disappeared
        // without a change are removed.
        try desk.ask("POST", "hard", #"{"id":"h"}"#)
        try await store.pullAll("hard")
        try desk.ask("DELETE", "hard/h")
        desk.line.tellCapabilities(true)
        try await store.pullAll()
        try await store.pullAll("hard")
        #expect(try await store.column("version", of: "hard").isEmpty)
        #expect(try await store.column("version") == desk.truth())
        // And back: another server is there, which has no changes feed.
        let other = try ServiceDesk()
        _ = try other.ask("POST", "/tables/todoitem", #"{"id":"x"}"#)
        desk.line.turn(to: other.service)
        desk.line.tellCapabilities(false)
        let report = try await store.pullAll()
        #expect(report.reason == nil)
        #expect(try await Set(store.column("version").keys) == ["x"])
        try await store.close()
    }

    @Test(arguments: TestBackend.stores)
    func `N16: a row that left the filter is removed unless another query has it`(_ backend: TestBackend) async throws {
        let desk = try ClientDesk(backend)
        for id in ["a", "b", "c", "d"] {
            try desk.ask("POST", "todoitem", #"{"id":"\#(id)","complete":false,"text":"\#(id)"}"#)
        }
        let store = try await desk.store("s")
        func open() async throws -> PullReport {
            try await store.pullAll {
                $0.queryID = "open"
                $0.pushesFirst = false
                $0.filter = try FilterExpression(parsing: "complete eq false")
            }
        }
        func named() async throws -> PullReport {
            try await store.pullAll {
                $0.queryID = "named"
                $0.pushesFirst = false
                $0.filter = try FilterExpression(parsing: "text eq 'b' or text eq 'c'")
            }
        }
        _ = try await open()
        _ = try await named()
        try await store.update("d", "mine")
        for id in ["a", "b", "c", "d"] { try desk.ask("PATCH", "todoitem/\(id)", #"{"complete":true}"#) }
        try desk.ask("PATCH", "todoitem/c", #"{"text":"x"}"#)
        let left = try await open()
        // `a` and `c` are in no other view; `b` is in the other query's, `d` has a change by the app.
        #expect(left.reason == nil && left.deleted == 2)
        #expect(try await Set(store.column("id").keys) == ["b", "d"])
        #expect(try await store.column("complete")["b"] == .bool(true), "what stays is as the server has it")
        #expect(try await store.column("text")["d"] == .string("mine"))
        #expect(try await store.conflicts().isEmpty)
        _ = try await named()
        #expect(try await Set(store.column("id").keys) == ["b", "d"])
        #expect(try await store.pushOnce().outcome == .complete, "it is pushed onto the row as it is now")
        _ = try await open()
        #expect(try await Set(store.column("id").keys) == ["b"], "and leaves when it is pushed")
        try desk.ask("PATCH", "todoitem/b", #"{"text":"y"}"#)
        _ = try await open()
        _ = try await named()
        #expect(try await store.column("id").isEmpty)
        try await store.close()
    }

    @Test(arguments: TestBackend.available)
    func `N15: marks that were retired lead to a new reading that keeps what is pending`(
        _ backend: TestBackend
    ) async throws {
        let desk = try ClientDesk(backend)
        for table in ["todoitem", "hard"] {
            for id in ["a", "b", "c"] { try desk.ask("POST", table, #"{"id":"\#(id)","text":"\#(id)"}"#) }
        }
        let store = try await desk.store("s")
        for table in ["todoitem", "hard"] { try await store.pullAll(table) }
        for table in ["todoitem", "hard"] {
            for id in ["a", "b"] { try desk.ask("DELETE", "\(table)/\(id)") }
            try await store.update("b", "mine", in: table)
            try await store.update("c", "mine", in: table)
        }
        try desk.desk.store.purge(tombstonesBefore: desk.desk.environment.now() + 1_000_000)
        for table in ["todoitem", "hard"] {
            let report = try await store.pullAll(table) { $0.pushesFirst = false }
            #expect(report.reason == nil && report.deleted == 1)
            #expect(try await store.column("text", of: table) == ["b": .string("mine"), "c": .string("mine")])
            let cursor = try #require(try await store.cursors().first { $0.table == table })
            #expect(!cursor.state.isAuditDue)
        }
        try await store.pushOnce()
        // No row is revived: the app is asked about its changes.
        #expect(try await store.conflicts().map(\.reason) == [.gone, .gone])
        for table in ["todoitem", "hard"] { #expect(try desk.ask("GET", table).ids == ["c"]) }
        try await store.close()
    }

    @Test(arguments: TestBackend.stores)
    func `N18: another database is read from the beginning, and pending changes are kept`(_ backend: TestBackend)
        async throws
    {
        let desk = try ClientDesk(backend)
        for id in ["a", "b", "c"] { try desk.ask("POST", "todoitem", #"{"id":"\#(id)","text":"old"}"#) }
        let store = try await desk.store("s")
        try await store.pullAll()
        try await store.insert("mine", "pending")
        // The server starts again, with rows of the same ids.
        let other = try ServiceDesk(backend)
        other.environment.set(now: 1_500_000_000_000)
        for id in ["b", "d"] { _ = try other.ask("POST", "/tables/todoitem", #"{"id":"\#(id)","text":"other"}"#) }
        desk.line.turn(to: other.service)
        let report = try await store.pullAll { $0.pushesFirst = false }
        #expect(report.reason == nil)
        #expect(
            try await store.column("text") == [
                "b": .string("other"), "d": .string("other"), "mine": .string("pending"),
            ])
        #expect(try await store.pushOnce().outcome == .complete)
        #expect(try other.ask("GET", "/tables/todoitem").ids == ["b", "d", "mine"])
        try await store.close()
    }

    @Test(arguments: TestBackend.stores)
    func `N18: rows that another database lacks are removed, whichever queries claim them`(_ backend: TestBackend)
        async throws
    {
        let desk = try ClientDesk(backend)
        for id in ["a", "b"] { try desk.ask("POST", "hard", #"{"id":"\#(id)","text":"old"}"#) }
        let store = try await desk.store("s")
        try await store.pullAll("hard")
        try await store.pullAll("hard") { $0.queryID = "sync" }
        let other = try ServiceDesk(backend)
        _ = try other.ask("POST", "/tables/hard", #"{"id":"b","text":"other"}"#)
        desk.line.turn(to: other.service)
        for queryID in ["all", "sync"] {
            #expect(try await store.pullAll("hard") { $0.queryID = queryID }.reason == nil)
            #expect(try await store.column("text", of: "hard") == ["b": .string("other")])
        }
        try await store.close()
    }

    @Test func `N17, T17: a cursor of changes belongs to its query`() async throws {
        let desk = try ClientDesk()
        for number in 0..<4 { try desk.ask("POST", "todoitem", #"{"id":"r\#(number)","complete":false}"#) }
        let store = try await desk.store("s")
        let (some, none) = (
            try FilterExpression(parsing: "id lt 'r2'"), try FilterExpression(parsing: "complete eq true")
        )
        try await store.pullAll { $0.filter = none }
        _ = desk.line.takeRequests()
        let error = await #expect(throws: SyncError.self) { try await store.pullAll { $0.filter = some } }
        #expect(error?.code == .queryChanged && desk.line.takeRequests().isEmpty)
        try await store.resetCursor(table: "todoitem", queryID: "all")
        try await store.pullAll { $0.filter = some }
        #expect(try await Set(store.column("id").keys) == ["r0", "r1"])
        try await store.close()
    }

    @Test(arguments: TestBackend.stores)
    func `N20: a child that comes before its parent is kept, and the next round fetches the parent`(
        _ backend: TestBackend
    ) async throws {
        let desk = try ClientDesk(backend)
        let store = try await desk.store("s")
        try await store.pullAll("todoitem")
        // Both are made after the pull of the parents and before that of the children.
        try desk.ask("POST", "todoitem", #"{"id":"parent"}"#)
        try desk.ask("POST", "hard", #"{"id":"child","text":"parent"}"#)
        try await store.pullAll("hard")
        #expect(try await store.column("text", of: "hard") == ["child": .string("parent")])
        #expect(try await store.column("id").isEmpty)
        for table in ["todoitem", "hard"] { #expect(try await store.pullAll(table).requests == 1) }
        #expect(try await Set(store.column("id").keys) == ["parent"])
        try await store.close()
    }

    @Test func `N6, N7: a clock that runs backwards hides no row`() async throws {
        let desk = try ClientDesk()
        let store = try await desk.store("s")
        try desk.ask("POST", "todoitem", #"{"id":"a"}"#)
        try await store.pullAll()
        desk.desk.environment.set(now: 1_000_000_000)
        try desk.ask("POST", "todoitem", #"{"id":"b"}"#)
        try await store.insert("c", "mine")
        let pushed = try await store.pushOnce()
        #expect(pushed.warnings.isEmpty)
        try await store.pullAll()
        #expect(try await store.column("version") == desk.truth())
        try await store.close()
    }

    @Test func `a table with a row called changes, and a column called left, is read as any other`() async throws {
        let desk = try ClientDesk()
        try desk.ask("POST", "todoitem", #"{"id":"changes","left":true}"#)
        try desk.ask("POST", "todoitem", #"{"id":"b","left":true}"#)
        let store = try await desk.store("s")
        try await store.pullAll()
        #expect(try await store.column("left") == ["changes": .bool(true), "b": .bool(true)])
        try await store.close()
    }
}
