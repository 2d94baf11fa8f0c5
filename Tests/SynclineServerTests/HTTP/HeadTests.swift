// The heads of requests, byte by byte: what is not HTTP is refused before it is used.

import SynclineCore
import SynclineWire
import Testing

@testable import SynclineServer

@Suite struct HeadTests {
    /// The server's response to a head, and whether it then ends the connection. `rest` would be the next request.
    private func answer(_ head: [String], _ rest: String = "", _ server: RunningServer) throws -> String {
        let connection = try server.connect()
        connection.send(head.joined(separator: "\r\n") + "\r\n\r\n" + rest)
        return connection.rest()
    }

    private func status(_ answer: String) -> String { String(answer.dropFirst(9).prefix(3)) }

    private static let smuggled = "GET /tables/todoitem/smuggled HTTP/1.1\r\nHost: x\r\n\r\n"

    @Test(arguments: [
        ([], "400", "invalid-host"),
        (["Host: a", "Host: b"], "400", "invalid-host"),
        (["Host: a", "Host: a"], "400", "invalid-host"),
        (["Host: a b"], "400", "invalid-host"),
        (["Host: x", "Content-Length : 5"], "400", "invalid-header"),
        (["Host: x", "X-A b: 5"], "400", "invalid-header"),
        (["Host: x", "Transfer-Encoding: gzip"], "501", "unsupported-encoding"),
        (["Host: x", "Transfer-Encoding: chunked  "], "501", "unsupported-encoding"),
        (["Host: x", "Transfer-Encoding: gzip, chunked"], "501", "unsupported-encoding"),
        (["Host: x", "Transfer-Encoding: chunked", "Transfer-Encoding: chunked"], "501", "unsupported-encoding"),
        (["Host: x", "Content-Length: 5", "Content-Length: 6"], "400", "ambiguous-length"),
        (["Host: x", "Content-Length: 5", "Content-Length: 5"], "400", "ambiguous-length"),
        (["Host: x", "Content-Length: 5", "Transfer-Encoding: chunked"], "400", "ambiguous-length"),
    ])
    func `a request that is not HTTP is refused, and the connection ends`(
        _ headers: [String], _ expected: String, _ code: String
    ) throws {
        let server = try RunningServer()
        defer { withExtendedLifetime(server) {} }
        let text = try answer(["POST /tables/todoitem HTTP/1.1"] + headers, HeadTests.smuggled, server)
        #expect(status(text) == expected, "\(text)")
        #expect(text.contains("\"code\":\"\(code)\""), "\(text)")
        // Nothing after it is treated as a request.
        #expect(text.ranges(of: "HTTP/1.1 ").count == 1, "\(text)")
    }

    @Test(arguments: ["Content-Length: -5", "Content-Length: 5x", "Content-Length: +5", "Content-Length:"])
    func `a length that is not a number is refused, and the connection ends`(_ header: String) throws {
        let server = try RunningServer()
        defer { withExtendedLifetime(server) {} }
        let text = try answer(
            ["POST /tables/todoitem HTTP/1.1", "Host: x", header], HeadTests.smuggled, server)
        #expect(text.isEmpty || status(text) == "400", "\(text)")
        #expect(!text.contains("row-not-found"), "\(text)")
    }

    @Test func `HTTP 1.0 needs no host`() throws {
        let server = try RunningServer()
        defer { withExtendedLifetime(server) {} }
        #expect(status(try answer(["GET /tables/todoitem HTTP/1.0"], "", server)) == "200")
    }

    @Test func `a target may be a whole URL`() throws {
        let server = try RunningServer()
        defer { withExtendedLifetime(server) {} }
        for (target, expected) in [
            ("http://x/tables/todoitem?$top=1", "200"), ("HTTPS://x:99/healthz", "200"), ("http://x", "404"),
            ("http://x?a=b", "404"), ("ftp://x/healthz", "404"),
        ] {
            let text = try answer(["GET \(target) HTTP/1.1", "Host: x", "Connection: close"], "", server)
            #expect(status(text) == expected, "\(target): \(text)")
        }
    }

    @Test func `many parameters get an answer`() throws {
        let server = try RunningServer()
        defer { withExtendedLifetime(server) {} }
        let target = "/tables/todoitem?$top=1" + String(repeating: "&a", count: 8000)
        let text = try answer(["GET \(target) HTTP/1.1", "Host: x", "Connection: close"], "", server)
        #expect(status(text) == "200", "\(text.prefix(300))")
    }
}
