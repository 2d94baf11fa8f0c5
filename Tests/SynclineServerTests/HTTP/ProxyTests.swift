// What proxies say about a request, which of them are trusted, and what responses look like on the way through them.

import SynclineCore
import SynclineTables
import SynclineWire
import Testing

@testable import SynclineServer

@Suite struct ProxyTests {
    private func address(_ text: String) throws -> ClientAddress { try #require(ClientAddress(text: text)) }

    @Test func `networks hold their addresses`() throws {
        let proxies = try TrustedProxies(["10.0.0.0/8", "192.168.1.7", "2001:db8::/33", "172.16.0.0/12"])
        for inside in ["10.255.0.1", "192.168.1.7", "2001:db8:7fff::1", "::ffff:10.1.2.3", "172.31.255.255"] {
            #expect(proxies.contains(try address(inside)), "\(inside)")
        }
        for outside in ["11.0.0.1", "192.168.1.8", "2001:db8:8000::1", "::1", "172.32.0.0"] {
            #expect(!proxies.contains(try address(outside)), "\(outside)")
        }
        #expect(!proxies.contains(.unknown))
        for wrong in ["", "10.0.0.0/33", "10.0.0/8", "::1/129", "x", "10.0.0.1/", "10.0.0.1/-1"] {
            #expect(throws: StartFailure.self, "\(wrong)") { try TrustedProxies([wrong]) }
        }
    }

    @Test(arguments: [
        (
            ["X-Forwarded-For: 1.2.3.4", "X-Forwarded-Proto: https", "X-Forwarded-Host: a.example"],
            "1.2.3.4", "https", "a.example"
        ),
        (["X-Forwarded-For: 6.6.6.6, 1.2.3.4"], "1.2.3.4", "-", "-"),
        (["X-Forwarded-For: 6.6.6.6, 1.2.3.4, 10.0.0.2", "X-Forwarded-Proto: https, http"], "1.2.3.4", "https", "-"),
        (["X-Forwarded-For: 10.0.0.3, 10.0.0.2"], "10.0.0.3", "-", "-"),
        (["X-Forwarded-Proto: HTTPS"], "-", "https", "-"),
        (["X-Forwarded-Proto: javascript", "X-Forwarded-Host: a/b"], "-", "-", "-"),
        (["X-Forwarded-For: 1.2.3.4:5555"], "1.2.3.4", "-", "-"),
        (["X-Forwarded-For: junk"], "-", "-", "-"),
        (
            ["Forwarded: for=\"[2001:db8::1]:4711\";proto=https;host=\"a.example:8443\""],
            "2001:db8::1", "https", "a.example:8443"
        ),
        (
            ["Forwarded: for=6.6.6.6;proto=http, for=1.2.3.4;proto=https", "Forwarded: for=10.0.0.2;proto=http"],
            "1.2.3.4", "https", "-"
        ),
        (["Forwarded: for=_hidden;proto=https"], "-", "https", "-"),
        ([], "-", "-", "-"),
    ])
    func `the nearest trusted proxy says which client sent the request, and how`(
        _ lines: [String], _ client: String, _ scheme: String, _ host: String
    ) throws {
        let headers = lines.map { line in
            let sides = line.split(separator: ":", maxSplits: 1).map(\.trimmed)
            return HTTPHeader(sides[0], sides[1])
        }
        let kind: ProxyHeaders = lines.contains { $0.hasPrefix("Forwarded") } ? .forwarded : .xForwarded
        let forwarding = Forwarding(headers, try TrustedProxies(["10.0.0.0/8"]), kind)
        #expect(forwarding.client?.text ?? "-" == client)
        #expect(forwarding.scheme ?? "-" == scheme)
        #expect(forwarding.host ?? "-" == host)
    }

    @Test func `only one kind of header counts, and a contradiction is refused`() throws {
        let standard = HTTPHeader("Forwarded", "for=6.6.6.6;proto=http;host=evil.example")
        let usual = [HTTPHeader("X-Forwarded-For", "1.2.3.4"), HTTPHeader("X-Forwarded-Proto", "https")]
        func believed(_ headers: [HTTPHeader], _ kind: ProxyHeaders) throws -> (ConnectionRequest, Refusal?) {
            let request = ConnectionRequest(target: "/")
            request.client = try address("10.0.0.2")
            request.headers = [HTTPHeader("Host", "inside")] + headers
            return (request, request.believe(try TrustedProxies(["10.0.0.0/8"]), kind))
        }
        for (headers, kind, client, host) in [
            ([standard], ProxyHeaders.xForwarded, "10.0.0.2", "inside"),
            ([standard], .forwarded, "6.6.6.6", "evil.example"),
            (usual, .xForwarded, "1.2.3.4", "inside"), (usual, .forwarded, "10.0.0.2", "inside"),
        ] {
            let (request, refusal) = try believed(headers, kind)
            #expect(refusal == nil && request.client.text == client, "\(headers)")
            #expect(request.headers.value("Host") == host, "\(headers)")
        }
        for kind in ProxyHeaders.allCases {
            #expect(try believed(usual + [standard], kind).1?.code == "ambiguous-proxy")
            let same = HTTPHeader("Forwarded", "for=1.2.3.4;proto=https")
            #expect(try believed(usual + [same], kind).1 == nil)
        }
    }

    @Test func `links point to a trusted proxy, and no other proxy is trusted`() throws {
        let ask = """
            GET /tables/todoitem?$orderby=id HTTP/1.1\r\nHost: inside:99\r\nX-Forwarded-Proto: https\r
            X-Forwarded-Host: api.example\r\nX-Forwarded-For: 1.2.3.4\r\nConnection: close\r\n\r\n
            """
        for (more, link) in [
            (#","pageSize":1,"trustedProxies":["127.0.0.1"]"#, "Link: https://api.example/tables/todoitem?"),
            (#","pageSize":1"#, "Link: http://inside:99/tables/todoitem?"),
        ] {
            let server = try RunningServer(more: more)
            defer { withExtendedLifetime(server) {} }
            for id in ["a", "b"] {
                let row = #"{"id":"\#(id)"}"#
                _ = try server.exchange(
                    "POST /tables/todoitem HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nConnection: close\r\n"
                        + "Content-Length: \(row.utf8.count)\r\n\r\n\(row)")
            }
            #expect(try server.exchange(ask).contains(link), "\(more)")
        }
    }

    // MARK: Compression

    private func accepts(_ lines: String...) -> Bool {
        Gzip.accepts(lines.map { HTTPHeader("Accept-Encoding", $0) })
    }

    @Test func `gzip is used for clients that accept it`() {
        #expect(accepts("gzip") && accepts("deflate, GZIP;q=0.5, br") && accepts("*") && accepts("deflate", "x-gzip"))
        #expect(!accepts() && !accepts("") && !accepts("deflate, br"))
        #expect(!accepts("gzip;q=0") && !accepts("gzip;q=0, *"))
        #expect(!accepts("gzip;q=0.3, identity;q=0.8") && accepts("gzip;q=0.8, identity;q=0.3"))
        #expect(!accepts("gzip;q=nonsense"))
    }

    @Test func `lists are compressed, rows with a tag and short answers are not`() {
        var response = HTTPResponse(status: 200)
        response.headers = [HTTPHeader("Vary", "Origin")]
        response.body = Array(String(repeating: "some text, ", count: 1000).utf8)
        let wish = [HTTPHeader("Accept-Encoding", "gzip")]
        let encoded = Gzip.encoded(response, for: wish)
        #expect(encoded.body.count < response.body.count / 10 && encoded.body.starts(with: [0x1f, 0x8b]))
        #expect(encoded.headers.value("Content-Encoding") == "gzip")
        #expect(encoded.headers.value("Vary") == "Origin, Accept-Encoding")
        let plain = Gzip.encoded(response, for: [])
        #expect(plain.body == response.body && plain.headers.value("Vary") == "Origin, Accept-Encoding")
        var tagged = response
        tagged.headers.append(HTTPHeader("ETag", "\"a\""))
        #expect(Gzip.encoded(tagged, for: wish) == tagged)
        response.body = Array(response.body.prefix(Gzip.threshold - 1))
        #expect(Gzip.encoded(response, for: wish) == response)
    }

    @Test func `compression is lossless`() throws {
        let server = try RunningServer(more: #","trustedProxies":["127.0.0.1"]"#)
        let folder = try TemporaryFolder()
        defer { withExtendedLifetime((server, folder)) {} }
        for number in 0..<40 {
            let row = #"{"id":"\#(number)","text":"\#(String(repeating: "héllo \(number) ", count: 20))"}"#
            _ = try server.exchange(
                "POST /tables/todoitem HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nConnection: close\r\n"
                    + "Content-Length: \(row.utf8.count)\r\n\r\n\(row)")
        }
        let url = "http://127.0.0.1:\(server.port)/tables/todoitem"
        let far = "-H 'X-Forwarded-For: 1.2.3.4'"
        let compare = """
            cd '\(folder.path)' && curl -sf '\(url)' > plain && curl -sf \(far) --compressed '\(url)' > unpacked \\
            && curl -sf \(far) -H 'Accept-Encoding: gzip' '\(url)' > packed && cmp plain unpacked \\
            && gunzip -c < packed | cmp - plain && [ $(wc -c < packed) -lt $(wc -c < plain) ]
            """
        #expect(try shell(compare) == 0)
        // What stays on the machine is sent uncompressed.
        #expect(try shell("curl -sfi --compressed '\(url)' | grep -qi content-encoding") != 0)
    }
}
