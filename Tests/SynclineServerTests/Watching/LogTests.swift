// The log: what a line has, what it never has, and that a slow reader of it delays nothing.

import ChildProcesses
import Foundation
import SynclineCore
import SynclineTables
import SynclineWire
import Testing

@testable import SynclineServer

#if canImport(Glibc)
    import Glibc
#endif

@Suite struct LogTests {
    private var line: AccessLine {
        AccessLine(
            time: 1_767_225_600_000, id: "r1", client: "127.0.0.1", user: "ann", method: "GET", path: "/tables/t",
            status: 404, code: "row-not-found", bytesIn: 5, bytesOut: 60, microseconds: 17)
    }

    @Test func `a line has the time, the client, the request, the result and the size`() {
        #expect(
            line.text
                == #"2026-01-01T00:00:00.000Z 127.0.0.1 "ann" GET "/tables/t" 404 row-not-found 5B 60B 17µs r1"#)
        #expect(
            line.json
                == #"{"time":"2026-01-01T00:00:00.000Z","id":"r1","client":"127.0.0.1","user":"ann","method":"GET","#
                + #""path":"/tables/t","status":404,"code":"row-not-found","bytesIn":5,"bytesOut":60,"microseconds":17}"#
        )
        var plain = line
        (plain.user, plain.code) = (nil, nil)
        #expect(plain.text.contains(#"127.0.0.1 - GET "/tables/t" 404 - 5B"#) && !plain.json.contains("user"))
    }

    @Test(arguments: [LogForm.text, .json])
    func `nothing from outside ends a line or moves a terminal's cursor`(_ form: LogForm) throws {
        let pipe = Pipe()
        let log = ServerLog(form, StillEnvironment(), descriptor: pipe.fileHandleForWriting.fileDescriptor)
        var hostile = line
        hostile.path = "/a\"b\n\u{1b}[31m\u{7f}\u{85}\u{9b}\u{2028}\u{202e}x"
        hostile.user = "ann\r\nGET"
        log.note(hostile)
        log.note("a message\n\u{1b}]0;title\u{7}")
        log.flush()
        try pipe.fileHandleForWriting.close()
        let text = String(decoding: try pipe.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        let lines = text.split(separator: "\n")
        #expect(lines.count == 2 && text.hasSuffix("\n"))
        for scalar in text.unicodeScalars where scalar != "\n" {
            #expect(!(0..<0x20).contains(scalar.value) && !(0x7f..<0xa0).contains(scalar.value), "\(scalar.value)")
            #expect(scalar != "\u{2028}" && scalar != "\u{202e}")
        }
        #expect(lines.allSatisfy { $0.contains("2026-01-01T00:00:00.000Z") })
        guard form == .json else { return }
        #expect(try Value(json: lines[0].utf8)["path"] == .string(hostile.path))
        #expect(try Value(json: lines[1].utf8)["message"] == .string("a message\n\u{1b}]0;title\u{7}"))
    }

    @Test func `a reader that stalls delays nothing, and learns how many lines were lost`() throws {
        let pipe = Pipe()
        let reading = pipe.fileHandleForReading
        let journal = Journal(descriptor: pipe.fileHandleForWriting.fileDescriptor, limit: 100_000) { "lost \($0)\n" }
        let line = String(repeating: "x", count: 99) + "\n"
        for _ in 0..<10_000 { journal.write(line) }
        #expect(journal.lost > 5000)
        // Each line is written, or counted among the lost.
        var (text, written, lost) = ("", 0, 0)
        while written + lost < 10_000 {
            text += String(decoding: reading.availableData, as: UTF8.self)
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
            for line in lines.dropLast() {
                if line.hasPrefix("lost ") { lost += Int(line.dropFirst(5)) ?? 0 } else { written += 1 }
            }
            text = String(lines.last ?? "")
        }
        #expect(written + lost == 10_000 && journal.lost == lost && written >= 1000)
        journal.write("after\n")
        #expect(String(decoding: reading.availableData, as: UTF8.self) == "after\n")
        journal.flush(seconds: 60)
    }

    @Test func `a server whose log is not read continues, and ends`() throws {
        let folder = try TemporaryFolder()
        let pipe = Pipe()
        defer { withExtendedLifetime((folder, pipe)) {} }
        let server = try ServerProcess(
            ["--store", "sqlite:\(folder.path)/a.db", "--listen", "127.0.0.1:0", "--table", "t"],
            errors: .descriptor(pipe.fileHandleForWriting.fileDescriptor))
        let client = KeptConnection(port: server.port)
        // Far more lines than a pipe holds.
        for _ in 0..<1500 { try #require(client.ask("GET", "/tables/t/none")?.status == 404) }
        let metrics = try #require(client.ask("GET", "/metrics"))
        #expect(metrics.text.contains("syncline_log_lines_lost_total 0"))
        server.signal(SIGTERM)
        #expect(server.wait() == 0)
    }

    @Test func `a failure is logged at once, and later ones are counted`() throws {
        let folder = try TemporaryFolder()
        defer { withExtendedLifetime(folder) {} }
        let store = "\(folder.path)/a.db"
        let server = try ServerProcess([
            "--store", "sqlite:\(store)", "--listen", "127.0.0.1:0", "--table", "t", "--log", "json", "--auth-key",
            testSecret,
        ])
        let client = KeptConnection(port: server.port)
        let listener = try RawConnection(port: server.port)
        listener.send("GET /tables/$events HTTP/1.1\r\nHost: x\r\nX-Request-Id: listener\r\n\r\n")
        #expect(listener.read(until: "\n\n").contains("event: change"))
        let login = ["Authorization": "Bearer \(token())", "X-Request-Id": "mine"]
        #expect(client.ask("GET", "/tables/t/none?$filter=secret", nil, login)?.status == 404)
        try SQLiteDatabase(path: store).write { connection throws(StoreFailure) in
            try connection.execute("DROP TABLE syncline_state")
        }
        #expect(client.ask("GET", "/healthz")?.status == 503)
        for _ in 0..<20 { #expect(client.ask("POST", "/tables/t", "{}")?.status == 500) }
        let metrics = try #require(client.ask("GET", "/metrics"))
        #expect(metrics.text.contains(#"syncline_database_failures_total{kind="other"} 21"#), "\(metrics.text)")
        server.signal(SIGTERM)
        #expect(server.wait() == 0)
        let lines = try server.errors.split(separator: "\n").map { try Value(json: $0.utf8) }
        // The sweep after the start may find the table gone, too.
        let swept = "the tables were not swept"
        let first = try #require(lines.first { $0["message"]?.string?.hasPrefix(swept) != true })
        #expect(first["id"]?.string == "mine" && first["user"]?.string == "ann")
        #expect(first["code"]?.string == "row-not-found")
        #expect(!server.errors.contains("secret"))
        guard case .integer(let bytes)? = lines.first(where: { $0["id"]?.string == "listener" })?["bytesOut"] else {
            Issue.record("the listener has no line")
            return
        }
        #expect(bytes > "event: change".utf8.count)
        let messages = lines.compactMap { $0["message"]?.string }.filter { !$0.hasPrefix(swept) }
        let health = try #require(messages.first)
        #expect(health.hasPrefix("GET /healthz was answered 503 store-unavailable: no such table: syncline_state"))
        // All are of one kind.
        let last = "16 more failures of the kind other were left out"
        #expect(messages.count == 6 && messages.last == last, "\(messages)")
    }

    @Test(.enabled(if: PrivatePostgres.shared != nil, "PostgreSQL is not installed here, or can't be run"))
    func `a refusal for lack of room or time is logged with the limit`() throws {
        let (store, keeper) = try TestBackend.postgres.store()
        defer { withExtendedLifetime(keeper) {} }
        let server = try ServerProcess([
            "--store", store, "--listen", "127.0.0.1:0", "--table", "t", "--set", "readers=1",
            "--set", "limits.waitingReads=1", "--set", "limits.readSeconds=1",
        ])
        let other = try PostgresConnection(url: store)
        try other.execute(#"BEGIN; LOCK TABLE "t" IN ACCESS EXCLUSIVE MODE"#)
        let connections = try (0..<3).map { _ in
            let connection = try RawConnection(port: server.port)
            connection.send("GET /tables/t HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            return connection
        }
        let answers = connections.map { $0.rest() }
        #expect(answers.count { $0.contains("busy") } == 1 && answers.count { $0.contains("took-too-long") } == 2)
        server.signal(SIGTERM)
        #expect(server.wait() == 0)
        #expect(server.errors.contains("503 busy: 1 reads wait; limits.waitingReads is 1, limits.readSeconds is 1"))
        #expect(server.errors.contains("503 took-too-long: limits.readSeconds is 1 ["), "\(server.errors)")
    }

    @Test func `five failures in a row are logged, and then the number of the others`() {
        var limiter = TroubleLimiter()
        let start = ContinuousClock.now
        for _ in 0..<5 { #expect(limiter.judge("a", now: start) == .told(leftOut: 0)) }
        #expect(limiter.judge("a", now: start) == .firstLeftOut)
        #expect(limiter.judge("a", now: start) == .leftOut)
        #expect(limiter.judge("b", now: start) == .told(leftOut: 0))
        #expect(limiter.judge("a", now: start + .seconds(10)) == .told(leftOut: 2))
        #expect(limiter.takeLeftOut().isEmpty)
        for _ in 0..<6 { _ = limiter.judge("b", now: start) }
        #expect(limiter.takeLeftOut().map(\.count) == [2] && limiter.takeLeftOut().isEmpty)
    }

    @Test func `every answer has the id of its request, the client's if it is valid`() throws {
        let server = try RunningServer(more: #","limits":{"bodyBytes":100}"#)
        defer { withExtendedLifetime(server) {} }
        func name(_ head: String, _ headers: String = "") throws -> String? {
            let connection = try server.connect()
            connection.send("\(head) HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\(headers)\r\n")
            let answer = connection.read(until: "\r\n\r\n")
            return answer.firstMatch(of: /X-Request-Id: (\S+)/).map { String($0.1) }
        }
        let made = try #require(try name("GET /healthz"))
        #expect(try RequestID(made) != nil && name("GET /healthz") != made)
        #expect(try name("GET /nowhere", "X-Request-Id: abc-1/2\r\n") == "abc-1/2")
        #expect(try name("POST /tables/todoitem", "X-Request-Id: big\r\nContent-Length: 500\r\n") == "big")
        #expect(try name("GET /tables/$events", "X-Request-Id: stream\r\n") == "stream")
        for hostile in ["a b", "<script>", "\"", String(repeating: "x", count: 129), "\u{e4}"] {
            #expect(try name("GET /healthz", "X-Request-Id: \(hostile)\r\n")?.contains(hostile) == false)
        }
    }

    @Test func `an operator learns what kind of failure a database has`() {
        typealias Kind = FailureReason.Kind
        let codes: [(String, Kind)] = [
            ("40P01", .deadlock), ("40001", .serialization), ("55P03", .locked), ("53100", .diskFull),
            ("57P01", .unreachable), ("08006", .unreachable), ("57014", .timedOut), ("25P03", .timedOut),
            ("53300", .tooManyConnections), ("42P01", .other), ("58030", .input),
        ]
        for (code, kind) in codes { #expect(Kind(sqlState: code) == kind, "\(code)") }
        let results: [(Int32, Kind)] = [(5, .locked), (13, .diskFull), (10, .input), (11, .damaged), (1, .other)]
        for (code, kind) in results { #expect(Kind(sqlite: code) == kind, "\(code)") }
    }
}
