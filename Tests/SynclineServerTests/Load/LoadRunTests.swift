// Loads against servers: what is counted, that only the load's own rows are removed, and servers that refuse, stop or lose
// answers in the middle.

import ChildProcesses
import Foundation
import SynclineCore
import SynclineGround
import SynclineWire
import Testing

@testable import SynclineServer

/// A line that may answer in the server's place.
private final class FaultyLine: HTTPTransport {
    private let line: DeskLine
    private let count = Mutex(0)
    /// Takes the number of a request; returns nil to let the server answer.
    private let fault: @Sendable (Int, HTTPRequest) throws(NetworkFailure) -> HTTPResponse?

    init(
        _ service: TableAnswers,
        _ fault: @escaping @Sendable (Int, HTTPRequest) throws(NetworkFailure) -> HTTPResponse?
    ) {
        line = DeskLine(service)
        self.fault = fault
    }

    func send(_ request: HTTPRequest) async throws(NetworkFailure) -> HTTPResponse {
        let number = count.withLock { count in
            count += 1
            return count
        }
        // The clients take turns.
        await Task.yield()
        if let answer = try fault(number, request) { return answer }
        return try await line.send(request)
    }
}

@Suite struct LoadRunTests {
    /// The system's, without waits.
    private var world: LoadRun.World {
        var world = LoadRun.World.system
        world.pause = { _ in await Task.yield() }
        return world
    }

    /// A load of some requests without listeners.
    private func load(
        _ desk: ServiceDesk, _ words: [String] = [], table: String = "todoitem",
        _ fault: @escaping @Sendable (Int, HTTPRequest) throws(NetworkFailure) -> HTTPResponse? = { _, _ in nil }
    ) async throws -> LoadReport {
        let usual = ["http://server", "--table", table, "--listeners", "0", "--warm-up", "0", "--requests", "60"]
        let plan = try loadPlan(usual + words)
        return try await LoadRun(plan, FaultyLine(desk.service, fault), world).run()
    }

    /// The ids of the rows that are not deleted.
    private func rows(_ desk: ServiceDesk, _ table: String = "todoitem") throws -> [String] {
        guard case .array(let rows) = try desk.ask("GET", "/tables/\(table)?$select=id").json else { return ["?"] }
        return rows.compactMap { $0["id"]?.string }
    }

    @Test(arguments: TestBackend.available, [1, 7])
    func `a load counts what it does, and leaves nothing but tombstones`(_ backend: TestBackend, _ batch: Int)
        async throws
    {
        let desk = try ServiceDesk(backend)
        let before = try desk.ask("POST", "/tables/todoitem", #"{"id":"mine","text":"milk"}"#).etag
        let report = try await load(desk, ["--batch", "\(batch)", "--item", #"{"text":"milk {n}"}"#])
        let account = report.account
        #expect(report.isGood && account.failed == 0 && account.done == 60, "\(report.text)")
        for kind in [LoadKind.insert, .update] { #expect(account[kind].rows == batch * account[kind].latencies.count) }
        #expect(account[.row].latencies.count > 0 && account[.page].rows > 0)
        #expect(report.removal.removed >= account[.insert].rows && report.removal.hasTombstones == true)
        #expect(try rows(desk) == ["mine"])
        #expect(try desk.ask("GET", "/tables/todoitem/mine").etag == before)
        #expect(report.text.contains("rows were removed; the server keeps their tombstones\n"))
    }

    @Test func `rows of a table without tombstones are gone, and kept ones are named`() async throws {
        let desk = try ServiceDesk()
        let report = try await load(desk, table: "hard")
        #expect(report.isGood && report.removal.hasTombstones == false)
        #expect(try rows(desk, "hard").isEmpty)
        let kept = try await load(desk, ["--keep", "--json"], table: "hard")
        let ids = try rows(desk, "hard")
        #expect(kept.isGood && !ids.isEmpty && ids.allSatisfy { $0.hasPrefix(kept.prefix) })
        #expect(try Value(json: Array((kept.lines.last ?? "").utf8))["left"] != .integer(0))
    }

    @Test func `a table with rules takes a load of its user's rows`() async throws {
        let tables = """
            {"entry":{"read":"owner eq auth.sub","dynamicSchema":false,"columns":{"owner":"string"}}}
            """
        let desk = try ServiceDesk(tables: tables)
        let words = ["--token", token("ann"), "--item", #"{"owner":"ann"}"#]
        let report = try await load(desk, words, table: "entry")
        #expect(report.isGood && report.removal.removed > 0, "\(report.text)")
        let other = try await load(desk, ["--token", token("ann"), "--item", #"{"owner":"bob"}"#], table: "entry")
        #expect(other.account[.insert].failures[403]?.count ?? 0 > 0 && other.removal.removed == 0, "\(other.text)")
    }

    @Test(arguments: [
        ("nope", [], "404"), ("secure", [], "may not insert"), ("secure", ["--token", "a.b.c"], "401"),
        ("readonly", [], "may not insert"), ("admin", ["--token", token("ann")], "may not insert"),
    ])
    func `a load that can't work does not begin`(table: String, words: [String], message: String) async throws {
        let desk = try ServiceDesk()
        do {
            _ = try await load(desk, words, table: table) { number, request throws(NetworkFailure) in
                #expect(number == 1, "\(request.path)")
                return nil
            }
            Issue.record("it began")
        } catch let failure as StartFailure {
            #expect(failure.message.contains(message), "\(failure.message)")
        }
        await #expect(throws: StartFailure.self) {
            _ = try await load(desk) { _, _ throws(NetworkFailure) in throw .offline("no route") }
        }
        await #expect(throws: StartFailure("http://server is not a syncline-server")) {
            _ = try await load(desk) { _, _ throws(NetworkFailure) in HTTPResponse(status: 200) }
        }
    }

    @Test func `answers of 503 are failures, never done`() async throws {
        let desk = try ServiceDesk()
        let report = try await load(desk, ["--readers", "0"]) { _, request throws(NetworkFailure) in
            guard request.method == "POST", request.path == "/tables/todoitem" else { return nil }
            var answer = HTTPResponse(status: 503)
            answer.body = Array(#"{"error":"the disk is full","code":"busy"}"#.utf8)
            return answer
        }
        #expect(report.account.done == 0 && report.account[.insert].failures[503]?.count == 64 && !report.isGood)
        #expect(report.removal.left.isEmpty && report.removal.removed == 0)
        #expect(report.text.contains("failed: insert: 64 × 503: the disk is full\n"), "\(report.text)")
        let line = try Value(json: Array(report.lines[0].utf8))
        #expect(line["done"] == .integer(0) && line["failures"]?[0]?["status"] == .integer(503) && line["p50"] == nil)
    }

    @Test func `a server that stops for good keeps rows, and the load says so`() async throws {
        let desk = try ServiceDesk()
        let report = try await load(desk) { number, _ throws(NetworkFailure) in
            if number > 40 { throw .offline("connection refused") }
            return nil
        }
        #expect(!report.isGood && report.hasRemains && report.removal.removed == 0)
        #expect(report.account.done <= 40 && report.account.failed > 20)
        let left = try rows(desk)
        #expect(!left.isEmpty && report.removal.left.count - report.removal.unclear == left.count)
        #expect(left.allSatisfy { $0.hasPrefix(report.prefix) })
        #expect(report.text.contains("may be; their ids begin with \(report.prefix): no answer: connection"))
    }

    @Test func `a load that is stopped before it begins changes nothing`() async throws {
        let desk = try ServiceDesk()
        let plan = try loadPlan(["http://server", "--table", "todoitem", "--listeners", "0"])
        let run = LoadRun(plan, FaultyLine(desk.service) { _, _ in nil }, world)
        run.stop()
        let report = try await run.run()
        #expect(report.account.done + report.account.failed == 0 && report.removal.removed == 0)
    }

    @Test func `rows that the server acknowledged and lost are told`() async throws {
        let desk = try ServiceDesk()
        let service = desk.service
        let report = try await load(desk, ["--readers", "0"]) { _, request throws(NetworkFailure) in
            guard request.path == "/tables/$batch" else { return nil }
            // Somebody else removed all rows.
            guard
                case .array(let rows)? = try? Value(
                    json: service.answer(.init("GET", "/tables/todoitem"), url: "").body)
            else { return nil }
            for row in rows {
                _ = service.answer(.init("DELETE", "/tables/todoitem/\(row["id"]?.string ?? "")"), url: "")
            }
            return nil
        }
        #expect(report.removal.lost > 0 && !report.isGood && report.removal.left.isEmpty)
        #expect(report.text.contains("\(report.removal.lost) that the server had acknowledged were gone\n"))
    }

    @Test func `rows whose inserts got no answer are removed, too`() async throws {
        let desk = try ServiceDesk()
        let service = desk.service
        let report = try await load(desk, ["--readers", "0"]) { number, request throws(NetworkFailure) in
            guard request.method == "POST", number % 3 == 0 else { return nil }
            // Done, and its answer lost.
            _ = service.answer(request, url: "http://server")
            throw .offline("lost")
        }
        #expect(report.account[.insert].failures[nil]?.reason == "lost" && report.removal.left.isEmpty)
        #expect(try rows(desk).isEmpty)
    }

    // MARK: The program

    private func load(
        _ port: UInt16, _ words: [String], table: String = "t", output: ChildProcess.Stream = .pipe
    ) throws -> ChildProcess {
        try ChildProcess(
            ChildProcess.builds.appending(path: "syncline-server").path,
            ["load", "http://127.0.0.1:\(port)", "--table", table] + words, variables: ["TOKEN": "a.b.c"],
            output: output,
            errors: .kept)
    }

    @Test func `the program loads a server, and its listeners hear of each commit`() throws {
        let folder = try TemporaryFolder()
        let words = [
            "--store", "sqlite:\(folder.path)/a.db", "--listen", "127.0.0.1:0", "--table", "t", "--log", "none",
            "--auth-key", testSecret, "--table", "secure:access=authenticated",
        ]
        let server = try ServerProcess(words)
        defer { withExtendedLifetime((server, folder)) {} }
        let client = KeptConnection(port: server.port)
        let run = try load(server.port, ["--requests", "200", "--warm-up", "0", "--listeners", "2", "--json"])
        let text = run.rest()
        let lines = try text.split(separator: "\n").map { try Value(json: Array($0.utf8)) }
        #expect(run.wait() == 0 && run.errors == "", "\(text)\(run.errors)")
        func number(_ kind: String, _ name: String) -> Int {
            lines.first { $0["kind"]?.string == kind }?[name]?.int ?? -1
        }
        let writes = number("insert", "done") + number("update", "done")
        #expect(writes + number("row", "done") + number("page", "done") == 200)
        #expect(number("event", "done") == 2 * writes && number("rows", "left") == 0)
        #expect(number("rows", "removed") >= number("insert", "rows"))
        #expect(client.ask("GET", "/tables/t?$inlinecount=allpages")?.json["count"] == .integer(0))
        let unread = try load(
            server.port, ["--requests", "9", "--warm-up", "0"], output: .descriptor(open("/dev/full", O_WRONLY)))
        #expect(unread.wait() == 3 && unread.errors.contains("standard output can't be written: No space"))
        #expect(client.ask("GET", "/tables/t?$inlinecount=allpages")?.json["count"] == .integer(0))
        let denied = try load(server.port, ["--token", "env:TOKEN"], table: "secure")
        #expect(denied.wait() == 3 && denied.errors.contains("answered 401"), "\(denied.errors)")
        let wrong = try load(server.port, ["--batch", "none"])
        #expect(wrong.wait() == 2 && wrong.errors.contains("--batch takes a number"))
    }

    @Test func `a signal ends the load early, with its figures and without its rows`() throws {
        let folder = try TemporaryFolder()
        let server = try ServerProcess([
            "--store", "sqlite:\(folder.path)/a.db", "--listen", "127.0.0.1:0", "--table", "t", "--log", "none",
        ])
        defer { withExtendedLifetime((server, folder)) {} }
        let client = KeptConnection(port: server.port)
        func count() -> Value? { client.ask("GET", "/tables/t?$inlinecount=allpages&$top=0")?.json["count"] }
        let run = try load(server.port, ["--seconds", "100000", "--warm-up", "0", "--listeners", "0"])
        // More than the first of each client.
        while (0..<20).contains(count()?.int ?? -1) {}
        run.signal(SIGINT)
        let text = run.rest()
        #expect(run.wait() == 0 && text.contains("insert ") && text.contains("rows were removed"), "\(text)")
        #expect(count() == .integer(0))
    }
}

extension Value {
    fileprivate var int: Int? { if case .integer(let number) = self { Int(number) } else { nil } }
}
