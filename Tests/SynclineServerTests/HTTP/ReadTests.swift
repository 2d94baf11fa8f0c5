// Reads that take long: they block no thread that serves connections, they end when their time is over or the client
// is gone, and their number is limited.

import Dispatch
import SynclineCore
import SynclineGround
import SynclineTables
import SynclineWire
import Testing

@testable import SynclineServer

@Suite struct ReadTests {
    @Test func `the metrics are served while more reads run than there are threads`() throws {
        let (arrived, go) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let server = try LocalHTTP(port: 0) { _ in
            arrived.signal()
            go.wait()
            return HTTPResponse(status: 200)
        }
        let port = try #require(server.url.split(separator: ":").last.flatMap { UInt16($0) })
        defer {
            for _ in 0..<64 { go.signal() }
            server.stop()
        }
        let readers = try (0..<16).map { _ in
            let connection = try RawConnection(port: port)
            connection.send("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            return connection
        }
        for _ in 0..<3 { try #require(arrived.wait(timeout: .now() + 60) == .success) }
        for _ in 0..<16 {
            let other = try RawConnection(port: port)
            other.send("GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            #expect(other.rest().hasPrefix("HTTP/1.1 200"))
        }
        for _ in readers { go.signal() }
        for reader in readers { #expect(reader.rest().hasPrefix("HTTP/1.1 200")) }
    }

    @Test func `when too many reads wait, another is refused at once`() throws {
        var configuration = ServerConfiguration()
        (configuration.listen, configuration.log, configuration.readers) = ("127.0.0.1:0", .none, 1)
        configuration.limits.waitingReads = 1
        let (arrived, go) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let server = try HTTPServer(configuration, Waiting(arrived: arrived, go: go), tls: nil)
        defer { server.stop() }
        let port = try #require(server.url.split(separator: ":").last.flatMap { UInt16($0) })
        let request = "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
        let first = try RawConnection(port: port)
        first.send(request)
        arrived.wait()
        let second = try RawConnection(port: port)
        second.send(request)
        while !String(decoding: server.measures.body, as: UTF8.self).contains("syncline_waiting_reads 1") {}
        let third = try RawConnection(port: port)
        third.send(request)
        let refused = third.rest()
        #expect(refused.hasPrefix("HTTP/1.1 503") && refused.contains("Retry-After: 1"))
        #expect(refused.contains(#""code":"busy""#))
        for connection in [first, second] {
            go.signal()
            #expect(connection.rest().hasPrefix("HTTP/1.1 200"))
        }
    }

    private struct Waiting: RequestAnswering {
        let arrived: DispatchSemaphore
        let go: DispatchSemaphore

        func answer(_ request: HTTPRequest, _ context: inout RequestContext) -> HTTPResponse {
            arrived.signal()
            go.wait()
            return HTTPResponse(status: 200)
        }
    }

    @Test func `a read whose client has gone is given up when others wait`() throws {
        let server = try RunningServer(more: #","readers":1,"limits":{"readSeconds":3600}"#)
        defer { withExtendedLifetime(server) {} }
        let row = #"{"id":"a","text":"\#(String(repeating: "aB", count: 400_000))"}"#
        let written = try server.exchange(
            "POST /tables/todoitem HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nConnection: close\r\n"
                + "Content-Length: \(row.utf8.count)\r\n\r\n\(row)")
        #expect(written.hasPrefix("HTTP/1.1 201"))
        // Hundreds of times a long text: many seconds of work.
        let filter = Array(repeating: "tolower(text)+eq+'b'", count: 500).joined(separator: "+or+")
        for _ in 0..<10 {
            let client = try server.connect()
            client.send("GET /tables/todoitem?$filter=\(filter) HTTP/1.1\r\nHost: x\r\n\r\n")
        }
        let honest = try server.connect()
        honest.send("GET /tables/todoitem?$select=id HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        #expect(honest.rest().hasPrefix("HTTP/1.1 200"))
    }

    /// A clock that advances by a second at each call.
    private func limit(looks: Int) -> WorkLimit {
        let start = ContinuousClock.now
        let count = Mutex(0)
        return WorkLimit(seconds: looks) {
            count.withLock { count in
                defer { count += 1 }
                return start + .seconds(count)
            }
        }
    }

    @Test(
        arguments: [TestBackend.sqlite],
        ["text eq 'x'", "tolower(text) eq 'x'", "contains(text,'x') or text eq 'y'"])
    func `a read whose time is over is given up`(_ backend: TestBackend, _ filter: String) throws {
        let desk = try ServiceDesk(backend)
        let rows = (0..<3000).map { #"{"operation":"insert","table":"todoitem","item":{"text":"\#($0)"}}"# }
        let batch = try desk.ask("POST", "/tables/$batch", #"{"operations":[\#(rows.joined(separator: ","))]}"#)
        #expect(batch.status == 200)
        let target = "/tables/todoitem?$filter=\(filter.encoded)&$inlinecount=allpages"
        let late = try WorkLimit.$current.withValue(limit(looks: 3)) { try desk.ask("GET", target) }
        #expect(late.status == 503 && late.json["code"] == .string("took-too-long"), "\(late.text)")
        #expect(late.headers.contains("Retry-After"))
        let unwanted = limit(looks: 1_000_000)
        unwanted.cancel()
        #expect(try WorkLimit.$current.withValue(unwanted) { try desk.ask("GET", target) }.status == 503)
        let enough = try WorkLimit.$current.withValue(limit(looks: 1_000_000)) { try desk.ask("GET", target) }
        #expect(enough.status == 200 && enough.json["count"] == .integer(0))
        // The connection works as before.
        #expect(try desk.ask("GET", target).status == 200)
    }

    @Test(arguments: TestBackend.available)
    func `a read that was interrupted for others is answered after it runs again`(_ backend: TestBackend) throws {
        let desk = try ServiceDesk(backend)
        let rows = (0..<500).map { #"{"operation":"insert","table":"todoitem","item":{"text":"\#($0)"}}"# }
        let batch = try desk.ask("POST", "/tables/$batch", #"{"operations":[\#(rows.joined(separator: ","))]}"#)
        #expect(batch.status == 200)
        let filter = "indexof(toupper(text),'9') ge 0".encoded
        for target in ["/tables/todoitem?$filter=\(filter)", "/tables/todoitem/changes?since=&$filter=\(filter)"] {
            // It is stopped in the middle: the clock counts how often it is read.
            let start = ContinuousClock.now
            let looks = Atomic(0)
            let told = Mutex<WorkLimit?>(nil)
            let limit = WorkLimit(seconds: 3600) {
                if looks.add(1, ordering: .relaxed).newValue == 100 { told.withLock { $0 }?.makeRoom() }
                return start
            }
            told.withLock { $0 = limit }
            let first = try WorkLimit.$current.withValue(limit) { try desk.ask("GET", target) }
            #expect(first.status == 503 && limit.takeInterruption(), "\(first.text)")
            let second = try WorkLimit.$current.withValue(limit) { try desk.ask("GET", target) }
            #expect(second.status == 200 && !limit.takeInterruption(), "\(second.text)")
            told.withLock { $0 = nil }
        }
    }

    @Test(.enabled(if: PrivatePostgres.shared != nil, "PostgreSQL is not installed here, or can't be run"))
    func `a statement of PostgreSQL without a waiting client ends, and its connection is kept`() throws {
        let cluster = try #require(PrivatePostgres.shared)
        let url = cluster.url(try cluster.newDatabase())
        let connection = try PostgresConnection(url: url)
        let limit = limit(looks: 3)
        #expect(throws: StoreFailure.self) {
            try WorkLimit.$current.withValue(limit) { try connection.execute("SELECT pg_sleep(3600)") }
        }
        #expect(connection.isGood && !connection.isGivenUp)
        let statement: SQLStatement =
            "SELECT 1 FROM pg_stat_activity WHERE query LIKE \(.text("SELECT pg_sleep%")) AND state = 'active'"
        #expect(try connection.first(statement, count: 1) == nil)
        withExtendedLifetime(cluster) {}
    }

    @Test(arguments: TestBackend.available)
    func `a filter that makes too much text is refused`(_ backend: TestBackend) throws {
        let desk = try ServiceDesk(backend)
        let text = String(repeating: "a", count: 100_000)
        #expect(try desk.ask("POST", "/tables/todoitem", #"{"id":"a","text":"\#(text)"}"#).status == 201)
        for filter in ["length(replace(text,'a',text)) gt 1", "contains(replace(text,'',text),'b')"] {
            for path in ["/tables/todoitem?", "/tables/todoitem/changes?since=&"] {
                let answer = try desk.ask("GET", "\(path)$filter=\(filter.encoded)")
                let isLarge = filter.hasPrefix("length")
                #expect(answer.status == (isLarge ? 400 : 200), "\(answer.text.prefix(200))")
                if isLarge { #expect(answer.json["code"] == .string("filter-too-large")) }
            }
        }
    }

    @Test func `a client that has disconnected is found, and one that only finished sending is given time`() {
        let sights = Mutex<[Int32: ClientWatch.Sight]>([:])
        let others = Atomic(false)
        let watch = ClientWatch(
            othersWait: { others.load(ordering: .relaxed) },
            look: { all in all.map { descriptor in sights.withLock { $0[descriptor] ?? .open } } })
        let limits = (0..<3).map { _ in limit(looks: 1_000_000) }
        for (number, limit) in limits.enumerated() { watch.watch(Int32(number), limit) { limit.cancel() } }
        sights.withLock { $0 = [1: .halfClosed, 2: .gone] }
        watch.round()
        #expect(limits.map(\.stop) == [nil, nil, .unwanted])
        others.store(true, ordering: .relaxed)
        watch.round()
        #expect(limits.map(\.stop) == [nil, .unwanted, .unwanted])
        for limit in limits { watch.forget(limit) }
    }
}
