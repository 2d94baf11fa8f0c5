// How long an exchange takes and how fast pages are read, printed if SYNCLINE_MEASURE is set; nothing is checked.
// The figures of docs/decisions/0009-libcurl-on-linux-urlsession-on-apple.md come from here.

#if os(Linux)
    import CCurl
    import Glibc
    import SynclineCore
    import SynclineWire
    import Testing

    @Suite("Measurements", .enabled(if: getenv("SYNCLINE_MEASURE") != nil), .serialized)
    struct Measurements {
        private func microseconds(_ count: Int, _ body: () async throws -> Void) async rethrows -> Double {
            let duration = try await ContinuousClock().measure(body)
            return Double(duration.components.seconds) * 1e6 / Double(count)
                + Double(duration.components.attoseconds) / 1e12 / Double(count)
        }

        @Test("the time of a request")
        func requests() async throws {
            let answer = #"[{"id":"a","text":"one","updatedAt":"2026-01-01T00:00:00.000Z","version":"v"}]"#
            let server = SocketServer { connection in
                while connection.readRequest() != nil { connection.answer(answer) }
            }
            defer { server.stop() }
            let count = 5000
            var transports: [(String, any HTTPTransport)] = [("libcurl", try makeTransport(baseURL: server.url))]
            #if SYNCLINE_URLSESSION
                transports.append(("URLSession", URLSessionTransport(server.url, TransportLimits())))
            #endif
            for round in 1...3 {
                let bare = await microseconds(count) { bareLoop(server.url + "/t", count) }
                print("round \(round): bare libcurl \(Int(bare)) µs a request")
                for (name, transport) in transports {
                    let one = try await microseconds(count) {
                        for _ in 0..<count { _ = try await transport.send(HTTPRequest("GET", "/t")) }
                    }
                    let eight = await microseconds(count) {
                        await withTaskGroup(of: Void.self) { group in
                            for _ in 0..<8 {
                                group.addTask {
                                    for _ in 0..<count / 8 { _ = try? await transport.send(HTTPRequest("GET", "/t")) }
                                }
                            }
                        }
                    }
                    print("round \(round): \(name) \(Int(one)) µs a request, eight at a time \(Int(eight)) µs")
                }
            }
        }

        private func bareLoop(_ url: String, _ count: Int) {
            guard let easy = curl_easy_init() else { return }
            defer { curl_easy_cleanup(easy) }
            syncline_curl_set_text(easy, CURLOPT_URL, url)
            syncline_curl_set_callback(easy, CURLOPT_WRITEFUNCTION, discard)
            for _ in 0..<count { curl_easy_perform(easy) }
        }

        @Test("the speed of reading pages")
        func pages() {
            let rows = (0..<50).map { number in
                #"{"id":"8c4e1f2a-0b3d-4c5e-9f6a-7b8c9d0e1f\#(10 + number)","text":"Buy \#(number) litres of milk","#
                    + #""complete":false,"price":\#(number).5,"quantity":\#(number * 31),"notes":null,"#
                    + #""createdAt":"2026-01-01T00:00:00.000Z","updatedAt":"2026-01-01T00:00:00.0\#(10 + number)Z","#
                    + #""version":"AAAAAAAAB9\#(10 + number)","deleted":false}"#
            }
            var response = HTTPResponse(status: 200)
            response.body = Array("{\"results\":[\(rows.joined(separator: ","))],\"count\":50}".utf8)
            let codec = WireCodec(.zumo2)
            let request = ServerRequest.list(ListRequest(table: "t"))
            let count = getenv("SYNCLINE_PAGES").flatMap { Int(String(cString: $0)) } ?? 20_000
            var total = 0
            let duration = ContinuousClock().measure {
                for _ in 0..<count {
                    if case .list(let list) = codec.reply(response, to: request).content { total += list.rows.count }
                }
            }
            let seconds = Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
            let megabytes = Double(count * response.body.count) / 1e6
            print("\(Int(Double(total) / seconds)) rows a second, \(Int(megabytes / seconds)) MB a second")
        }
    }

    private func discard(
        _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
    ) -> Int { size * count }
#endif
