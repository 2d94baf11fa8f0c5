// Connections that stay open without a request: they are limited for each client, they make room for others, and
// none may last for ever.

import SynclineCore
import SynclineGround
import SynclineWire
import Testing

@testable import SynclineServer

@Suite struct ConnectionTests {
    private let deadlines = ConnectionDeadlines(idle: 60, head: 10, body: 30, request: 100)

    @Test func `each phase has its time, and the request has one for all of it`() {
        func isOver(_ phase: OpenConnection.Phase, _ seconds: UInt64, request: UInt64 = 0) -> Bool {
            deadlines.areOver(phase, since: 1000, requestSince: 1000 - request, now: 1000 + seconds * 1000)
        }
        #expect(!isOver(.idle, 70) && isOver(.idle, 71))
        #expect(!isOver(.head, 10) && isOver(.head, 11))
        #expect(!isOver(.body, 30) && isOver(.body, 31))
        #expect(!isOver(.answer, 100) && isOver(.answer, 101))
        #expect(!isOver(.listening, 1_000_000))
        let late = OpenConnection(5, .unknown, thread: 0, now: 0)
        late.enter(.head, now: 1000)
        late.enter(.body, now: 2000)
        late.enter(.answer, now: 3000)
        #expect(!late.isOverdue(deadlines, now: 101_000) && late.isOverdue(deadlines, now: 101_001))
        late.enter(.idle, now: 101_000)
        #expect(!late.isOverdue(deadlines, now: 120_000) && late.idleSince == 101_000)
    }

    /// A table, and the descriptors that it closed.
    private final class Ended: Sendable {
        let all = Mutex<[Int32]>([])
    }

    private func table(_ connections: Int, perAddress: Int, _ ended: Ended) -> ConnectionTable {
        var limits = ServerConfiguration.Limits()
        (limits.connections, limits.connectionsPerAddress) = (connections, perAddress)
        return ConnectionTable(limits, threads: 2, isExempt: { $0 == .v4(99) }) { descriptor in
            ended.all.withLock { $0.append(descriptor) }
        }
    }

    /// As the library does when it has accepted a connection.
    private func open(
        _ table: ConnectionTable, _ descriptor: Int32, _ client: UInt32, now: UInt64 = 0
    ) -> OpenConnection? {
        table.admit(descriptor, .v4(client), now: now).flatMap { table.begin($0.descriptor) }
    }

    @Test func `one address has a limit of connections, and its own idle ones make room`() {
        let ended = Ended()
        let table = table(100, perAddress: 2, ended)
        let first = open(table, 1, 7)
        let second = open(table, 2, 7)
        #expect(first?.thread != second?.thread, "both threads have one")
        first?.enter(.answer, now: 5)
        second?.enter(.answer, now: 5)
        #expect(open(table, 3, 7) == nil)
        #expect(open(table, 4, 8) != nil, "another address has its own")
        second?.enter(.idle, now: 6)
        #expect(open(table, 5, 7) != nil)
        #expect(ended.all.withLock { $0 } == [2])
        for descriptor in 10..<50 { #expect(open(table, Int32(descriptor), 99) != nil, "a proxy has many") }
    }

    @Test func `one thread per processor serves the first connections, and all threads serve the rest`() {
        func thread(_ counts: [Int], _ processors: Int) -> Int {
            ConnectionTable.thread(among: counts, processors: processors, few: 48)
        }
        #expect(thread([0, 0, 0, 0], 2) == 0)
        #expect(thread([5, 4, 0, 0], 2) == 1)
        #expect(thread([48, 47, 0, 0], 2) == 1)
        #expect(thread([48, 48, 0, 0], 2) == 2)
        #expect(thread([60, 50, 49, 49], 2) == 2)
        #expect(thread([3, 2], 8) == 1, "fewer threads than processors")
        #expect(thread([3, 2], 0) == 0, "a machine that does not say how many it has")
    }

    @Test(arguments: [(4, 20), (10, 180), (10, 1024), (2, 5), (3, 2)])
    func `no thread gets more than its share of all connections`(_ threads: Int, _ connections: Int) throws {
        var limits = ServerConfiguration.Limits()
        limits.connections = connections
        limits.connectionsPerAddress = connections
        let table = ConnectionTable(limits, threads: threads, processors: 2, isExempt: { _ in false }, end: { _ in })
        var counts = Array(repeating: 0, count: threads)
        for descriptor in 0..<connections {
            let connection = try #require(table.admit(Int32(descriptor), .v4(UInt32(descriptor)), now: 0))
            counts[connection.thread] += 1
        }
        #expect(counts.max() == (connections + threads - 1) / threads)
    }

    @Test func `when all are taken, the one that is idle for longest makes room`() {
        let ended = Ended()
        let table = table(3, perAddress: 100, ended)
        let all = (1...3).map { open(table, Int32($0), UInt32($0), now: UInt64(10 - $0)) }
        all[2]?.enter(.body, now: 50)
        #expect(open(table, 4, 4, now: 60) != nil)
        #expect(ended.all.withLock { $0 } == [2])
        #expect(open(table, 5, 5, now: 61) != nil)
        #expect(ended.all.withLock { $0 } == [2, 1])
        // Those that were ended are gone at last; no others are ended for them.
        for connection in all.prefix(2) { if let connection { table.remove(connection) } }
        #expect(table.count == 3)
        for descriptor: Int32 in [4, 5] { table.begin(descriptor)?.enter(.answer, now: 70) }
        #expect(open(table, 6, 6, now: 71) == nil, "no connection is idle")
        table.endOverdue(now: 400_000)
        #expect(ended.all.withLock { $0 }.count == 5)
    }

    @Test func `a stop waits for requests that have arrived, not for those still arriving`() {
        let ended = Ended()
        let table = table(100, perAddress: 100, ended)
        for (number, phase) in [OpenConnection.Phase.idle, .head, .body, .answer, .listening].enumerated() {
            open(table, Int32(number), 1)?.enter(phase, now: 1)
        }
        table.endUnfinished()
        #expect(ended.all.withLock { $0.sorted() } == [1, 2])
    }

    @Test func `a server can stop while requests are arriving`() throws {
        let server = try RunningServer()
        let waiting = try ["GET /healthz HTTP/1.1\r\n", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n"].map {
            let connection = try server.connect()
            connection.send($0)
            return connection
        }
        // Both have been noticed.
        var isNoticed = false
        for _ in 0..<10_000 where !isNoticed {
            isNoticed = try server.exchange("GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
                .contains("syncline_requests_running 3")
        }
        try #require(isNoticed)
        server.server.stop()
        for connection in waiting { #expect(connection.rest().isEmpty) }
    }

    @Test func `no connection is accepted before the threads have caught up`() throws {
        let ended = Ended()
        let table = table(1000, perAddress: 1000, ended)
        let all = (0..<32).map { table.admit($0, .v4(1), now: 0) }
        #expect(table.isBehind)
        for descriptor: Int32 in 0..<32 { _ = table.begin(descriptor) }
        #expect(!table.isBehind)
        table.endOverdue(now: 71_000)
        #expect(table.isBehind && ended.all.withLock { $0 }.count == 32)
        for connection in all { if let connection { table.remove(connection) } }
        #expect(!table.isBehind && table.count == 0)
    }

    @Test func `idle connections lock no client out`() throws {
        let server = try RunningServer(more: #","limits":{"connections":20}"#)
        defer { withExtendedLifetime(server) {} }
        let idle = try (0..<60).map { _ in try server.connect() }
        for _ in 0..<5 {
            let answer = try server.exchange("GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            #expect(answer.hasPrefix("HTTP/1.1 200"))
        }
        withExtendedLifetime(idle) {}
    }

    @Test func `listeners leave room for requests`() throws {
        let server = try RunningServer(more: #","limits":{"connections":8}"#)
        defer { withExtendedLifetime(server) {} }
        let listeners = try (0..<8).map { _ in
            let listener = try server.connect()
            listener.send("GET /tables/$events HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            return (listener, listener.read(until: "\r\n\r\n"))
        }
        let statuses = listeners.map { String($0.1.dropFirst(9).prefix(3)) }
        #expect(statuses == Array(repeating: "200", count: 6) + ["503", "503"])
        // The server has forgotten a connection when its client sees the end of it.
        for (refused, _) in listeners.suffix(2) { _ = refused.rest() }
        let answer = try server.exchange("GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        #expect(answer.hasPrefix("HTTP/1.1 200"))
    }

    @Test func `listeners that have left give up their places`() throws {
        let server = try RunningServer(more: #","limits":{"connections":8}"#)
        defer { withExtendedLifetime(server) {} }
        func status() throws -> String {
            let listener = try server.connect()
            listener.send("GET /tables/$events HTTP/1.1\r\nHost: x\r\n\r\n")
            return String(listener.read(until: "\r\n\r\n").dropFirst(9).prefix(3))
        }
        // Each leaves at once.
        var statuses: Set<String> = []
        for _ in 0..<6 { statuses.insert(try status()) }
        #expect(statuses == ["200"])
        // Two seconds, unless others have found them before.
        for _ in 0..<4 { server.server.http.listening.round() }
        var count = 0
        while try status() != "200" {
            count += 1
            try #require(count < 1000)
        }
    }

    @Test(arguments: [
        "GET /healthz HTTP/1.1\r\nX-Slow: ",
        "POST /tables/todoitem HTTP/1.1\r\nHost: x\r\nContent-Length: 50000\r\n\r\n",
    ])
    func `a head or a body that arrives byte by byte is given up`(_ start: String) throws {
        let server = try RunningServer(more: #","limits":{"headSeconds":1,"bodySeconds":1}"#)
        defer { withExtendedLifetime(server) {} }
        let connection = try server.connect()
        connection.send(start)
        // It is never idle for as long as a connection may be.
        var letters = 0
        while connection.isOpen(waitingMilliseconds: 20) {
            connection.send("a")
            letters += 1
            try #require(letters < 20_000)
        }
        #expect(letters > 0)
    }
}
