// The transport with all kinds of servers: they close, lie about lengths, never end, send nothing, or use another
// protocol.

#if os(Linux)
    import Dispatch
    import Glibc
    import SynclineGround
    import SynclineCore
    import SynclineWire
    import Testing

    /// Whether a failure is of one kind; the reason is ignored.
    private enum Kind { case offline, refused, cancelled }

    private func kind(_ result: Result<HTTPResponse, NetworkFailure>) -> Kind? {
        switch result {
        case .success: nil
        case .failure(.offline): .offline
        case .failure(.refused): .refused
        case .failure(.cancelled), .failure(.notSent): .cancelled
        }
    }

    private func send(
        _ transport: any HTTPTransport, _ request: HTTPRequest = HTTPRequest("GET", "/t")
    ) async -> Result<HTTPResponse, NetworkFailure> {
        do throws(NetworkFailure) {
            return .success(try await transport.send(request))
        } catch {
            return .failure(error)
        }
    }

    /// The transport under test: this platform's, or that of Apple platforms if a build has it.
    private func transport(_ url: String, _ limits: TransportLimits = TransportLimits()) throws -> any HTTPTransport {
        #if SYNCLINE_URLSESSION
            if getenv("SYNCLINE_URLSESSION") != nil { return URLSessionTransport(url, limits) }
        #endif
        return try makeTransport(baseURL: url, limits: limits)
    }

    /// The result of one exchange with a server.
    private func exchange(
        limits: TransportLimits = TransportLimits(), scheme: String = "http",
        _ serve: @escaping @Sendable (SocketConnection) -> Void
    ) async throws -> Result<HTTPResponse, NetworkFailure> {
        let server = SocketServer(serve)
        defer { server.stop() }
        return await send(try transport("\(scheme)://127.0.0.1:\(server.port)", limits))
    }

    extension HTTPResponse {
        fileprivate var text: String { String(decoding: body, as: UTF8.self) }
    }

    @Suite("The transport")
    struct TransportTests {
        @Test("sends a request unchanged and returns the whole answer")
        func whole() async throws {
            let seen = Mutex("")
            let server = SocketServer { connection in
                guard let request = connection.readRequest() else { return }
                seen.withLock { $0 = request }
                connection.answer("grüße", status: "412 Precondition Failed", headers: "ETag: \"v\"\r\nX-A:  b \r\n")
            }
            defer { server.stop() }
            var request = HTTPRequest("PATCH", "/tables/t/a b+c")
            request.query = [HTTPHeader("$filter", "n eq '+'")]
            request.headers = [
                HTTPHeader("If-Match", "\"x\\\"\""), HTTPHeader("X-Empty", ""), HTTPHeader("Bad\r\nHeader", "x"),
            ]
            request.body = Array("{\"text\":\"ü\"}".utf8)
            let response = try await send(try transport(server.url + "/app"), request).get()
            #expect(response.status == 412)
            #expect(response.text == "grüße")
            #expect(response.headers.value("etag") == "\"v\"")
            #expect(response.headers.value("X-A") == "b")
            let text = seen.withLock { $0 }
            #expect(text.hasPrefix("PATCH /app/tables/t/a%20b%2Bc?%24filter=n%20eq%20%27%2B%27 HTTP/1.1\r\n"))
            #expect(text.contains("\r\nIf-Match: \"x\\\"\"\r\n"))
            #expect(text.contains("\r\nX-Empty:\r\n"))
            #expect(text.contains("\r\nContent-Length: 13\r\n"))
            #expect(!text.contains("Expect") && !text.contains("urlencoded") && !text.contains("Bad"))
            #expect(text.hasSuffix("\r\n\r\n{\"text\":\"ü\"}"))
        }

        @Test(
            "says the method, and a length if there must be one",
            arguments: ["GET", "POST", "PUT", "PATCH", "DELETE"])
        func methods(_ method: String) async throws {
            let seen = Mutex("")
            let result = try await exchange { _ in }
            #expect(kind(result) == .offline)
            let server = SocketServer { connection in
                seen.withLock { $0 = connection.readRequest() ?? "" }
                connection.write("HTTP/1.1 204 No Content\r\n\r\n")
            }
            defer { server.stop() }
            let response = try await send(try transport(server.url), HTTPRequest(method, "/t")).get()
            #expect(response.status == 204 && response.body.isEmpty)
            let text = seen.withLock { $0 }
            #expect(text.hasPrefix("\(method) /t HTTP/1.1\r\n"))
            #expect(text.contains("Content-Length: 0") == (method == "POST" || method == "PUT"))
        }

        @Test("uses a connection again, and reconnects if the server closes each")
        func connections() async throws {
            for closes in [false, true] {
                let server = SocketServer { connection in
                    while connection.readRequest() != nil {
                        connection.answer("ok", headers: closes ? "Connection: close\r\n" : "")
                        if closes { return }
                    }
                }
                defer { server.stop() }
                // On a busy machine there may be minutes between two requests.
                var limits = TransportLimits()
                limits.idle = .seconds(86_400)
                let transport = try transport(server.url, limits)
                for _ in 0..<5 { #expect(try await send(transport).get().text == "ok") }
                #expect(server.connectionCount == (closes ? 5 : 1))
            }
        }

        @Test("runs many requests at once")
        func parallel() async throws {
            let server = SocketServer { connection in
                while let request = connection.readRequest() {
                    connection.answer(request.split(separator: "\r\n").first.map(String.init) ?? "")
                }
            }
            defer { server.stop() }
            let transport = try transport(server.url)
            await withTaskGroup(of: Bool.self) { group in
                for number in 0..<50 {
                    group.addTask {
                        let response = try? await send(transport, HTTPRequest("GET", "/\(number)")).get()
                        return response?.text == "GET /\(number) HTTP/1.1"
                    }
                }
                for await isRight in group { #expect(isRight) }
            }
        }

        @Test("treats a redirect as an answer")
        func redirects() async throws {
            let response = try await exchange { connection in
                _ = connection.readRequest()
                connection.answer("", status: "302 Found", headers: "Location: http://127.0.0.1:1/\r\n")
            }.get()
            #expect(response.status == 302 && response.headers.value("location") != nil)
        }

        @Test("reads chunks, and the last of several answers")
        func chunks() async throws {
            let response = try await exchange { connection in
                _ = connection.readRequest()
                connection.write("HTTP/1.1 100 Continue\r\nX-A: no\r\n\r\nHTTP/1.1 200 OK\r\nX-B: yes\r\n")
                connection.write("Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\nX-Late: x\r\n\r\n")
            }.get()
            #expect(response.text == "abcde")
            #expect(response.headers.map(\.name) == ["X-B", "Transfer-Encoding"])
        }

        @Test("unpacks what is compressed")
        func compressed() async throws {
            let packed: [UInt8] = [
                31, 139, 8, 0, 0, 0, 0, 0, 2, 3, 75, 76, 28, 5, 163, 96, 20, 12, 119, 0, 0, 3, 218, 56, 154, 232, 3, 0,
                0,
            ]
            let response = try await exchange { connection in
                let request = connection.readRequest() ?? ""
                guard request.contains("gzip") else { return }
                connection.write("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(packed.count)\r\n\r\n")
                connection.write(packed)
            }.get()
            #expect(response.text == String(repeating: "a", count: 1000))
        }

        @Test("a connection that ends too early means offline")
        func endsEarly() async throws {
            for answer in [
                "", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc",
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
            ] {
                let result = try await exchange { connection in
                    _ = connection.readRequest()
                    connection.write(answer)
                }
                #expect(kind(result) == .offline, "\(answer) \(result)")
            }
        }

        @Test("a body longer than its length ends at its length, and spoils no other answer")
        func longerBody() async throws {
            let server = SocketServer { connection in
                while connection.readRequest() != nil {
                    connection.write("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcHTTP/1.1 500 No\r\n\r\n")
                }
            }
            defer { server.stop() }
            let transport = try transport(server.url)
            for _ in 0..<3 {
                let response = try await send(transport).get()
                #expect(response.status == 200 && response.text == "abc")
            }
        }

        @Test("an answer without end is refused at its limit")
        func endless() async throws {
            var limits = TransportLimits()
            limits.responseSize = 100_000
            for length in ["Transfer-Encoding: chunked\r\n", "Connection: close\r\n"] {
                let result = try await exchange(limits: limits) { connection in
                    _ = connection.readRequest()
                    connection.write("HTTP/1.1 200 OK\r\n\(length)\r\n")
                    let piece = String(repeating: "x", count: 4096)
                    while connection.write("1000\r\n\(piece)\r\n") {}
                }
                let response = try result.get()
                #expect(response.status == 200 && response.body.isEmpty)
                #expect(response.refusal == "the response is larger than 100000 bytes")
            }
            let headers = try await exchange { connection in
                _ = connection.readRequest()
                connection.write("HTTP/1.1 200 OK\r\n")
                while connection.write("X-A: \(String(repeating: "x", count: 1000))\r\n") {}
            }
            #expect(kind(headers) != nil)
        }

        @Test("what is not HTTP is refused")
        func notHTTP() async throws {
            for answer in ["SSH-2.0-OpenSSH_9.2\r\n", "<html>\r\n\r\n", "\0\0\0\0\r\n\r\n"] {
                let result = try await exchange { connection in
                    _ = connection.readRequest()
                    connection.write(answer)
                }
                #expect(kind(result) == .refused, "\(result)")
            }
        }

        @Test("no listener, an unknown name and no TLS mean offline")
        func offline() async throws {
            let server = SocketServer { _ in }
            server.stop()
            #expect(kind(await send(try transport(server.url))) == .offline)
            #expect(kind(await send(try transport("http://host.invalid"))) == .offline)
            let result = try await exchange(scheme: "https") { connection in
                _ = connection.read()
                connection.write("HTTP/1.1 400 This is not TLS\r\n\r\n")
            }
            #expect(kind(result) == .offline)
        }

        @Test("an answer that does not come in time means offline")
        func timeOut() async throws {
            var limits = TransportLimits()
            limits.total = .milliseconds(50)
            let result = try await exchange(limits: limits) { connection in
                while connection.read() != nil {}
            }
            #expect(kind(result) == .offline)
        }

        @Test("a cancelled task closes its connection at once")
        func cancelled() async throws {
            let (arrivals, arrived) = AsyncStream.makeStream(of: Void.self)
            let (endings, ended) = AsyncStream.makeStream(of: Void.self)
            let server = SocketServer { connection in
                _ = connection.readRequest()
                arrived.yield()
                while connection.read() != nil {}
                ended.yield()
            }
            defer { server.stop() }
            // However busy the machine is, only the cancellation ends it.
            var limits = TransportLimits()
            (limits.total, limits.stall) = (.seconds(86_400), .seconds(86_400))
            let transport = try transport(server.url, limits)
            let task = Task { await send(transport) }
            for await _ in arrivals { break }
            task.cancel()
            #expect(kind(await task.value) == .cancelled)
            for await _ in endings { break }
            let early = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                return await send(transport)
            }
            #expect(kind(await early.value) == .cancelled)
        }

        @Test("pieces of a long answer are delivered as they arrive")
        func pieces() async throws {
            let (heard, hear) = AsyncStream.makeStream(of: [UInt8].self)
            let goOn = DispatchSemaphore(value: 0)
            let server = SocketServer { connection in
                _ = connection.readRequest()
                connection.write("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\none")
                goOn.wait()
                connection.write(" two")
            }
            defer { server.stop() }
            // However long the machine takes from one piece to the next.
            var limits = TransportLimits()
            (limits.total, limits.stall) = (.seconds(86_400), .seconds(86_400))
            let transport = try transport(server.url, limits)
            let listening = Task {
                defer { hear.finish() }
                return try await transport.listen(HTTPRequest("GET", "/t")) { hear.yield($0) }
            }
            var text = ""
            for await piece in heard {
                text += String(decoding: piece, as: UTF8.self)
                if text == "one" { goOn.signal() }
            }
            let response = try await listening.value
            #expect(text == "one two" && response.status == 200 && response.body.isEmpty)
        }

        @Test("a transport that is released ends its thread, and what it was doing")
        func letGo() async throws {
            for _ in 0..<20 {
                let server = SocketServer { connection in
                    while connection.readRequest() != nil { connection.answer("ok") }
                }
                defer { server.stop() }
                #expect(try await send(try transport(server.url)).get().status == 200)
            }
        }

        @Test(
            "is made for http and https only",
            arguments: [
                "", "example.com", "ftp://example.com", "http://", "https:///path", "http://exa mple.com", "http://h:0",
                "http://h:99999", "http://h:x", "http://h?x=1", "http://h/#f", "http://user:pw@h", "file:///etc/passwd",
                "http://[]", "http://[::1", "http://h\r\nX: y",
            ])
        func invalid(_ url: String) {
            #expect {
                _ = try makeTransport(baseURL: url)
            } throws: { error in
                guard let error = error as? SyncError else { return false }
                return error.code == .invalidConfiguration && !error.message.contains("pw")
            }
        }

        @Test(
            "is made for every backend's URL",
            arguments: [
                "http://h", "HTTPS://h", "http://h:8080/", "https://a.b/c/d/", "http://[::1]:80/x", "http://127.0.0.1",
            ])
        func valid(_ url: String) throws {
            _ = try makeTransport(baseURL: url)
        }
    }
#endif
