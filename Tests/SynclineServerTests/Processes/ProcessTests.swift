// The server as it is shipped: how it starts, how it stops, and what is left when it is killed.

import Foundation
import SynclineCore
import SynclineGround
import SynclineTables
import SynclineWire
import Testing

@testable import SynclineServer

@Suite struct ProcessTests {
    @Test func `it starts with a line, and a signal ends it`() throws {
        let folder = try TemporaryFolder()
        defer { withExtendedLifetime(folder) {} }
        let server = try ServerProcess(
            ["--store", "sqlite:\(folder.path)/a.db", "--listen", "127.0.0.1:0", "--table", "t"])
        defer { withExtendedLifetime(server) {} }
        #expect(server.port > 0, "\(server.errors)")
        let client = KeptConnection(port: server.port)
        #expect(client.ask("POST", "/tables/t", #"{"id":"a"}"#)?.status == 201)
        server.signal(SIGTERM)
        #expect(server.wait() == 0)
        #expect(server.errors.contains(#"POST "/tables/t" 201"#))
    }

    @Test func `its store is a file, whatever its name means to SQLite`() throws {
        let folder = try TemporaryFolder()
        defer { withExtendedLifetime(folder) {} }
        for name in [":memory:", "file:a?mode=memory"] {
            let server = try ServerProcess(
                ["--store", "sqlite:" + name, "--listen", "127.0.0.1:0", "--table", "t"], directory: folder.path)
            #expect(KeptConnection(port: server.port).ask("POST", "/tables/t", #"{"id":"a"}"#)?.status == 201)
            #expect(FileManager.default.fileExists(atPath: folder.path + "/" + name), "\(server.errors)")
        }
    }

    @Test func `its parent is notified when it is ready, and when it stops`() throws {
        let folder = try TemporaryFolder()
        defer { withExtendedLifetime(folder) {} }
        let path = folder.path + "/notify"
        let socket = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        defer { close(socket) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let isBound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(socket, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
        try #require(isBound, "\(path)")
        func told() -> String {
            var buffer = [UInt8](repeating: 0, count: 100)
            let count = recv(socket, &buffer, buffer.count, 0)
            return String(decoding: buffer[..<max(0, count)], as: UTF8.self)
        }
        let server = try ServerProcess(
            ["--store", "sqlite:\(folder.path)/a.db", "--listen", "127.0.0.1:0"], variables: ["NOTIFY_SOCKET": path])
        #expect(told() == "READY=1" && server.port > 0)
        server.signal(SIGTERM)
        #expect(told() == "STOPPING=1" && server.wait() == 0)
    }

    @Test func `what keeps it from starting is one line, and exit code 3`() throws {
        let folder = try TemporaryFolder()
        defer { withExtendedLifetime(folder) {} }
        let store = "sqlite:\(folder.path)/a.db"
        func failure(_ words: [String]) throws -> String {
            let server = try ServerProcess(words)
            defer { withExtendedLifetime(server) {} }
            #expect(server.wait() == 3)
            #expect(server.errors.filter { $0 == "\n" }.count == 1, "\(server.errors)")
            return server.errors
        }
        let running = try ServerProcess(["--store", store, "--listen", "127.0.0.1:0"])
        defer { withExtendedLifetime(running) {} }
        #expect(try failure(["--store", store, "--listen", "127.0.0.1:\(running.port)"]).contains("in use"))
        #expect(try failure(["--store", "mysql://x"]).contains("is not the address of a store"))
        #expect(
            try failure(["--store", "sqlite:/nonexistent/a.db", "--listen", "127.0.0.1:0"]).contains("can't be opened"))
        #expect(
            try failure(["--store", "postgres://127.0.0.1:1/x", "--listen", "127.0.0.1:0"]).contains("can't be reached")
        )
        let fault = try failure(["--store", "postgres://me:secret@[::1/db", "--listen", "127.0.0.1:0"])
        #expect(fault.contains("can't be reached") && !fault.contains("secret"), "\(fault)")
        #expect(try failure(["--config", "/nonexistent"]).contains("can't be read"))
        #expect(try failure(["--store", store, "--listen", "nowhere"]).contains("not an address"))
        #expect(try failure(["--store", store, "--set", "pageSiz=1"]).contains("Did you mean pageSize?"))
        try Array("not a certificate".utf8).write(to: folder.path + "/bad.pem")
        let pem = folder.path + "/bad.pem"
        let tls = ["--tls-cert", pem, "--tls-key", pem]
        #expect(try failure(["--store", store, "--listen", "127.0.0.1:0"] + tls).contains("certificate"))
        try Array("not a database, though long enough to be looked at".utf8).write(to: folder.path + "/text")
        #expect(
            try failure(["--store", "sqlite:\(folder.path)/text", "--listen", "127.0.0.1:0"]).contains("not a database")
        )
        let wrong = try ServerProcess(["--lisen", "x"])
        #expect(wrong.wait() == 2 && wrong.errors.contains("Did you mean --listen?"))
    }

    @Test func `the same works over TLS`() throws {
        let folder = try TemporaryFolder()
        defer { withExtendedLifetime(folder) {} }
        let make = """
            cd '\(folder.path)' && openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 2 \
            -subj /CN=localhost -addext subjectAltName=IP:127.0.0.1 2>/dev/null
            """
        try #require(try shell(make) == 0, "openssl is not installed")
        let server = try ServerProcess([
            "--store", "sqlite:\(folder.path)/a.db", "--listen", "127.0.0.1:0", "--table", "t",
            "--tls-cert", folder.path + "/cert.pem", "--tls-key", folder.path + "/key.pem",
        ])
        defer { withExtendedLifetime(server) {} }
        let url = "https://127.0.0.1:\(server.port)"
        let trusting = "curl -sf --cacert '\(folder.path)/cert.pem'"
        #expect(try shell("\(trusting) \(url)/healthz") == 0)
        #expect(
            try shell(
                "\(trusting) \(url)/tables/t -H 'Content-Type: application/json' -d '{\"id\":\"a\"}' -i | "
                    + "grep -i '^etag'") == 0)
        #expect(try shell("curl -sf --tls-max 1.1 -k \(url)/healthz") != 0)
        let old = "openssl s_client -tls1_1 -cipher DEFAULT@SECLEVEL=0 -connect \(url.dropFirst(8)) </dev/null 2>&1"
        #expect(try shell("\(old) | grep -q 'Cipher is (NONE)'") == 0)
        for (ciphers, isFine) in [
            ("ECDHE-RSA-AES128-GCM-SHA256", true), ("ECDHE-RSA-CHACHA20-POLY1305", true), ("AES128-GCM-SHA256", false),
            ("ECDHE-RSA-AES128-SHA", false), ("AES256-SHA", false),
        ] {
            let words = "-tls1_2 -cipher \(ciphers):@SECLEVEL=0 -connect \(url.dropFirst(8)) </dev/null 2>&1"
            #expect(try (shell("openssl s_client \(words) | grep -q 'Cipher is (NONE)'") != 0) == isFine, "\(ciphers)")
        }
        #expect(try shell("curl -sf http://127.0.0.1:\(server.port)/healthz") != 0)
        server.signal(SIGINT)
        #expect(server.wait() == 0)
    }

    @Test(arguments: TestBackend.available)
    func `nothing that was acknowledged is lost when the server is killed`(_ backend: TestBackend) throws {
        let (store, keeper) = try backend.store()
        let words = ["--store", store, "--listen", "127.0.0.1:0", "--table", "t", "--log", "none"]
        // The last known state of each row: its number, and its version.
        let known = Mutex([String: (number: Int64, version: Int64, time: String)]())
        for round in 0..<3 {
            let server = try ServerProcess(words)
            defer { withExtendedLifetime(server) {} }
            let (port, processID) = (server.port, server.processID)
            let count = Atomic(0)
            DispatchQueue.concurrentPerform(iterations: 4) { worker in
                let client = KeptConnection(port: port)
                for step in 0..<1000 {
                    let id = "r\(worker)-\(step % 5)"
                    let number = Int64(round * 1000 + step)
                    let before = known.withLock { $0[id] }
                    let answer =
                        before == nil
                        ? client.ask("POST", "/tables/t", #"{"id":"\#(id)","n":\#(number)}"#)
                        : client.ask("PATCH", "/tables/t/\(id)", #"{"n":\#(number)}"#)
                    guard let answer else { return }
                    // An insert whose response was lost in an earlier round.
                    if answer.status == 409 { continue }
                    #expect([200, 201].contains(answer.status))
                    let version = answer.json.change
                    let time = answer.json["updatedAt"]?.string ?? ""
                    if let before { #expect(before.version < version && before.time <= time) }
                    known.withLock { $0[id] = (number, version, time) }
                    // Killed in the middle of the others' requests.
                    if count.add(1, ordering: .relaxed).newValue == 40 + 17 * round { kill(processID, SIGKILL) }
                }
            }
        }
        let server = try ServerProcess(words)
        defer { withExtendedLifetime(server) {} }
        let client = KeptConnection(port: server.port)
        for (id, last) in known.withLock({ $0 }) {
            let row = client.ask("GET", "/tables/t/\(id)")
            guard case .integer(let number)? = row?.json["n"] else {
                Issue.record("\(id) is lost")
                continue
            }
            // A later change may have been made although its response was lost.
            #expect(number >= last.number && last.version <= row?.json.change ?? 0, "\(id)")
        }
        withExtendedLifetime(keeper) {}
    }

    @Test(arguments: [2, 10])
    func `a thousand connections at once are answered, by however few threads`(_ threads: Int) throws {
        try #require(SystemFiles.allowDescriptors(1100) >= 1100, "the system lets this process open too few files")
        let folder = try TemporaryFolder()
        let server = try ServerProcess([
            "--store", "sqlite:\(folder.path)/a.db", "--listen", "127.0.0.1:0", "--table", "t", "--log", "none",
            "--set", "threads=\(threads)",
        ])
        defer { withExtendedLifetime((server, folder)) {} }
        let connections = try (0..<1000).map { _ in try RawConnection(port: server.port) }
        for (number, connection) in connections.enumerated() {
            let body = #"{"id":"r\#(number)"}"#
            connection.send(
                "POST /tables/t HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                    + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
        }
        for connection in connections { #expect(connection.piece().hasPrefix("HTTP/1.1 201 ")) }
        let page = KeptConnection(port: server.port).ask("GET", "/tables/t?$inlinecount=allpages&$top=1")
        #expect(page?.json["count"] == .integer(1000))
    }

    @Test(.enabled(if: PrivatePostgres.shared != nil, "PostgreSQL is not installed here, or can't be run"))
    func `nothing that was acknowledged is lost when PostgreSQL is killed`() throws {
        let cluster = try #require(PrivatePostgres(syncs: true))
        let server = try ServerProcess([
            "--store", cluster.url(try cluster.newDatabase()), "--listen", "127.0.0.1:0", "--table", "t", "--log",
            "none",
        ])
        defer { withExtendedLifetime((server, cluster)) {} }
        let port = server.port
        let known = Mutex([String: Int64]())
        let count = Atomic(0)
        let failures = Atomic(0)
        DispatchQueue.concurrentPerform(iterations: 4) { worker in
            let client = KeptConnection(port: port)
            // Until a hundred changes were confirmed, however many fail on the way.
            var (step, done) = (0, 0)
            while done < 100, step < 100_000 {
                step += 1
                let id = "r\(worker)-\(step % 5)"
                // A change with an unclear response may have been made: a replacement does not check what is there.
                let isNew = known.withLock { $0[id] == nil }
                let answer =
                    isNew
                    ? client.ask("POST", "/tables/t", #"{"id":"\#(id)","n":\#(step)}"#)
                    : client.ask("PATCH", "/tables/t/\(id)", #"{"n":\#(step)}"#)
                guard let answer else {
                    Issue.record("the server does not answer")
                    return
                }
                switch answer.status {
                case 200, 201:
                    known.withLock { $0[id] = Int64(step) }
                    done += 1
                    let all = count.add(1, ordering: .relaxed).newValue
                    if all == 40 || all == 170 || all == 300 { cluster.crash() }
                case 409: known.withLock { $0[id] = 0 }
                default:
                    #expect(answer.status == 503)
                    failures.add(1, ordering: .relaxed)
                }
            }
            #expect(done == 100)
        }
        #expect(failures.load(ordering: .relaxed) > 0, "no request met a database that was down")
        let client = KeptConnection(port: port)
        for (id, last) in known.withLock({ $0 }) {
            let answer = client.ask("GET", "/tables/t/\(id)")
            guard case .integer(let number)? = answer?.json["n"] else {
                Issue.record("\(id) is lost: \(answer?.text ?? "no answer")")
                continue
            }
            #expect(number >= last, "\(id)")
        }
    }

    @Test(arguments: TestBackend.available)
    func `T6: several processes over one store lose no update, and readers miss no row`(_ backend: TestBackend) throws {
        let (store, keeper) = try backend.storeAlone()
        let words = [
            "--store", store, "--listen", "127.0.0.1:0", "--table", "t", "--log", "none", "--set", "pageSize=3",
        ]
        let servers = try [ServerProcess(words), ServerProcess(words)]
        defer { withExtendedLifetime(servers) {} }
        let ports = servers.map(\.port)
        let setup = KeptConnection(port: ports[0])
        for id in 0..<7 { #expect(setup.ask("POST", "/tables/t", #"{"id":"r\#(id)","n":0}"#)?.status == 201) }
        let added = Atomic(0)
        let writersLeft = Atomic(4)
        let seen = Mutex([[String: String]](repeating: [:], count: 2))
        DispatchQueue.concurrentPerform(iterations: 6) { worker in
            let client = KeptConnection(port: ports[worker % 2])
            if worker < 4 {
                add(client, worker, added)
                writersLeft.subtract(1, ordering: .acquiringAndReleasing)
                return
            }
            var place = ""
            while true {
                let isLast = writersLeft.load(ordering: .acquiring) == 0
                let new = worker == 4 ? readByTime(client, &place) : readChanges(client, &place)
                seen.withLock { $0[worker - 4].merge(new) { $1 } }
                if isLast { return }
            }
        }
        var truth: [String: String] = [:]
        var sum: Int64 = 0
        for id in (0..<7).map({ "r\($0)" }) + (0..<4).flatMap({ worker in (0..<10).map { "w\(worker)-\($0)" } }) {
            let row = setup.ask("GET", "/tables/t/\(id)")?.json
            truth[id] = row?["version"]?.string
            if id.hasPrefix("r"), case .integer(let number)? = row?["n"] { sum += number }
        }
        #expect(sum == Int64(added.load(ordering: .acquiring)), "an update was lost")
        #expect(truth.count == 47)
        let views = seen.withLock { $0 }
        #expect(views[0] == truth, "a client that asks for rows newer than its newest misses nothing")
        #expect(views[1] == truth, "a client that reads the changes misses nothing")
        withExtendedLifetime(keeper) {}
    }

    @Test(arguments: TestBackend.available)
    func `T19: a write that one process has answered is visible in another at once`(_ backend: TestBackend) throws {
        let (store, keeper) = try backend.storeAlone()
        defer { withExtendedLifetime(keeper) {} }
        let words = ["--store", store, "--listen", "127.0.0.1:0", "--table", "t", "--log", "none"]
        let servers = try [ServerProcess(words), ServerProcess(words)]
        defer { withExtendedLifetime(servers) {} }
        let clients = servers.map { KeptConnection(port: $0.port) }
        var since = ""
        for step in 0..<40 {
            let (writer, reader) = (clients[step % 2], clients[1 - step % 2])
            let written =
                step == 0
                ? writer.ask("POST", "/tables/t", #"{"id":"a","n":0}"#)
                : writer.ask("PATCH", "/tables/t/a", #"{"n":\#(step)}"#)
            let version = try #require(written?.json["version"])
            #expect(reader.ask("GET", "/tables/t/a")?.json["version"] == version)
            let page = reader.ask("GET", "/tables/t/changes?since=\(since)")?.json
            #expect(page?["items"]?[0]?["version"] == version)
            since = page?["cursor"]?.string ?? ""
        }
    }

    /// Adds one to rows that others add to as well, and inserts rows of its own.
    private func add(_ client: KeptConnection, _ worker: Int, _ added: borrowing Atomic<Int>) {
        for step in 0..<40 {
            if step % 4 == 0 { _ = client.ask("POST", "/tables/t", #"{"id":"w\#(worker)-\#(step / 4)","n":1}"#) }
            let id = "r\((step + worker) % 7)"
            guard let row = client.ask("GET", "/tables/t/\(id)"), case .integer(let number)? = row.json["n"] else {
                continue
            }
            let changed = client.ask(
                "PATCH", "/tables/t/\(id)", #"{"n":\#(number + 1)}"#, ["If-Match": row.etag ?? ""])
            if changed?.status == 200 {
                added.add(1, ordering: .acquiringAndReleasing)
            } else {
                #expect(changed?.status == 412)
            }
        }
    }

    /// One pull as the current .NET client does it: rows newer than the newest it has, pages by their links.
    private func readByTime(_ client: KeptConnection, _ newest: inout String) -> [String: String] {
        var seen: [String: String] = [:]
        let from = newest.isEmpty ? "0001-01-01T00:00:00.000Z" : newest
        let filter = "updatedAt gt cast(\(from),Edm.DateTimeOffset)".encoded
        var target = "/tables/t?$filter=\(filter)&$orderby=updatedAt&__includedeleted=true"
        while true {
            guard let page = client.ask("GET", target, nil, ["ZUMO-API-VERSION": "3.0.0"]),
                case .array(let rows)? = page.json["items"]
            else { return seen }
            for row in rows {
                seen[row["id"]?.string ?? ""] = row["version"]?.string
                newest = max(newest, row["updatedAt"]?.string ?? from)
            }
            guard let link = page.json["nextLink"]?.string else { return seen }
            // The link is a query, or a URL with it.
            target = "/tables/t?" + (link.split(separator: "?", maxSplits: 1).last ?? "")
        }
    }

    private func readChanges(_ client: KeptConnection, _ cursor: inout String) -> [String: String] {
        var seen: [String: String] = [:]
        while true {
            guard let page = client.ask("GET", "/tables/t/changes?since=\(cursor)&$top=3"),
                case .array(let rows)? = page.json["items"], let next = page.json["cursor"]?.string
            else { return seen }
            for row in rows { seen[row["id"]?.string ?? ""] = row["version"]?.string }
            cursor = next
            if page.json["hasMore"] != .bool(true) { return seen }
        }
    }
}

extension Value {
    /// The number of the change that gave a row its current state.
    fileprivate var change: Int64 { self["version"]?.string.flatMap { RowVersion.change($0) } ?? 0 }
}
