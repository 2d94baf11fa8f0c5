// The server over real sockets: what HTTP requires, and what hostile or broken clients send.

import SynclineCore
import SynclineGround
import SynclineWire
import Testing

@testable import SynclineServer

@Suite struct HTTPServerTests {
    private func post(_ body: String, _ headers: String = "") -> String {
        "POST /tables/todoitem HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
            + "Content-Length: \(body.utf8.count)\r\n\(headers)\r\n\(body)"
    }

    private func get(_ target: String, _ headers: String = "") -> String {
        "GET \(target) HTTP/1.1\r\nHost: here:99\r\n\(headers)\r\n"
    }

    private func statuses(_ text: String) -> [String] {
        text.split(separator: "HTTP/1.").dropFirst(text.hasPrefix("HTTP") ? 0 : 1).map {
            String($0.dropFirst(2).prefix(3))
        }
    }

    @Test func `requests on one connection are answered in order`() throws {
        let server = try RunningServer()
        defer { withExtendedLifetime(server) {} }
        let text = try server.exchange(
            post(#"{"id":"a"}"#) + get("/tables/todoitem/a") + get("/tables/todoitem/zz")
                + get("/healthz", "Connection: close\r\n"))
        #expect(statuses(text) == ["201", "200", "404", "200"])
        #expect(text.contains("Date: ") && text.contains(#"{"status":"ok"}"#))
    }

    @Test func `links lead to where the request came from`() throws {
        let server = try RunningServer(more: #","pageSize":1"#)
        defer { withExtendedLifetime(server) {} }
        for id in ["a", "b"] { _ = try server.exchange(post(#"{"id":"\#(id)"}"#, "Connection: close\r\n")) }
        let text = try server.exchange(get("/tables/todoitem?$orderby=id", "Connection: close\r\n"))
        #expect(text.contains("Link: http://here:99/tables/todoitem?%24orderby=id&%24after=-%20a; rel=next\r\n"))
    }

    @Test func `bodies may come in chunks, late and announced`() throws {
        let server = try RunningServer()
        defer { withExtendedLifetime(server) {} }
        let chunked = """
            POST /tables/todoitem HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nConnection: close\r
            Transfer-Encoding: chunked\r\n\r\n5\r\n{"id"\r\n5\r\n:"c"}\r\n0\r\n\r\n
            """
        #expect(statuses(try server.exchange(chunked)) == ["201"])
        let connection = try server.connect()
        connection.send(
            "POST /tables/todoitem HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\nExpect: 100-continue\r\n"
                + "Connection: close\r\n\r\n")
        #expect(connection.read(until: "\r\n\r\n").contains("100 Continue"))
        connection.send(#"{"id":"d"}"#)
        #expect(statuses(connection.rest()) == ["201"])
    }

    @Test func `a head that contradicts itself or is too large is refused`() throws {
        let server = try RunningServer(
            more: #","limits":{"bodyBytes":1000,"urlBytes":500,"headerBytes":2000},"cors":{}"#)
        defer { withExtendedLifetime(server) {} }
        let twice = try server.exchange(
            post(#"{"id":"a"}"#, "Transfer-Encoding: chunked\r\n"))
        #expect(statuses(twice).first == "400")
        #expect(try !server.exchange(get("/tables/todoitem", "Connection: close\r\n")).contains(#""id":"a""#))
        let large = try server.exchange(post(#"{"text":"\#(String(repeating: "x", count: 2000))"}"#))
        #expect(statuses(large) == ["413"] && large.contains("body-too-large"))
        let piece = String(repeating: "x", count: 1500)
        let chunked = """
            POST /tables/todoitem HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r
            5dc\r\n\(piece)\r\n0\r\n\r\n
            """
        #expect(statuses(try server.exchange(chunked)) == ["413"])
        let long = try server.exchange(get("/tables/todoitem?x=" + String(repeating: "y", count: 600)))
        #expect(statuses(long) == ["414"] && long.contains("url-too-long"))
        let origin = "Origin: http://localhost\r\nContent-Length: 99999\r\n\r\n"
        let foreign = try server.exchange("POST /tables/todoitem HTTP/1.1\r\nHost: x\r\n" + origin)
        #expect(statuses(foreign) == ["413"] && foreign.contains("Access-Control-Allow-Origin: http://localhost"))
        let wide = try server.exchange(get("/tables/todoitem", "X-Wide: \(String(repeating: "z", count: 3000))\r\n"))
        #expect(statuses(wide) == ["431"] && wide.contains("headers-too-large"))
    }

    @Test func `malformed HTTP does no harm`() throws {
        let server = try RunningServer(more: #","limits":{"idleSeconds":1,"stalledSeconds":1}"#)
        defer { withExtendedLifetime(server) {} }
        let connections = try [
            "", "\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "\u{0}\u{1}\u{2}",
            String(repeating: "A", count: 200_000),
            get("/tables/todoitem/%zz"), get("/tables/todoitem/%ff"), get("/tables/../../etc/passwd"),
            get("/tables/todoitem?$filter=%00"),
            "GET /tables/todoitem HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n",
        ].map { text in
            let connection = try server.connect()
            connection.send(text)
            return connection
        }
        // The server ends them all, including those that never send a request, after its time limit.
        for connection in connections {
            let answer = connection.rest()
            #expect(statuses(answer).allSatisfy { ("200"..<"506").contains($0) })
            #expect(!answer.contains("root:"))
        }
        #expect(statuses(try server.exchange(get("/healthz", "Connection: close\r\n"))) == ["200"])
    }

    @Test func `half-open and idle connections delay no other client`() throws {
        let server = try RunningServer()
        defer { withExtendedLifetime(server) {} }
        let waiting = try (0..<60).map { number in
            let connection = try server.connect()
            if number % 2 == 0 {
                connection.send("POST /tables/todoitem HTTP/1.1\r\nHost: x\r\nContent-Length: 50\r\n\r\n{")
            }
            return connection
        }
        for number in 0..<20 {
            #expect(statuses(try server.exchange(post(#"{"id":"n\#(number)"}"#, "Connection: close\r\n"))) == ["201"])
        }
        withExtendedLifetime(waiting) {}
    }

    @Test func `a stalled body is given up`() throws {
        let server = try RunningServer(more: #","limits":{"stalledSeconds":1}"#)
        defer { withExtendedLifetime(server) {} }
        let connection = try server.connect()
        connection.send(post("{}").replacing("Content-Length: 2", with: "Content-Length: 50"))
        // The server ends it, however long that takes.
        #expect(statuses(connection.rest()).allSatisfy { $0 == "408" })
    }

    @Test func `an address may send a limited number of requests`() {
        let limiter = RateLimiter(perSecond: 2)
        let start = ContinuousClock.now
        #expect((0..<3).map { _ in limiter.admits("a", now: start) } == [true, true, false])
        #expect(limiter.admits("b", now: start), "another address has its own")
        #expect(!limiter.admits("a", now: start + .milliseconds(400)))
        #expect(limiter.admits("a", now: start + .milliseconds(600)))
        #expect((0..<3).map { _ in limiter.admits("a", now: start + .seconds(60)) } == [true, true, false])
    }

    @Test func `requests beyond the limit wait for each other, and not for long`() {
        let limiter = RateLimiter(perSecond: 2)
        let start = ContinuousClock.now
        let waits = (0..<6).map { _ in limiter.wait("a", atMost: .seconds(1), now: start) }
        #expect(waits == [.zero, .zero, .milliseconds(500), .seconds(1), nil, nil])
        #expect(!limiter.admits("a", now: start + .milliseconds(1400)), "those that wait come first")
        #expect(limiter.admits("a", now: start + .milliseconds(1600)))
    }
}
