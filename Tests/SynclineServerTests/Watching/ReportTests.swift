// The report of a server: what it has of a span, what is masked, and that two reports with one key agree.

import Foundation
import SynclineCore
import SynclineGround
import SynclineReports
import SynclineTables
import SynclineWire
import Testing

@testable import SynclineServer

@Suite struct ReportTests {
    private static let day: Int64 = 86_400_000
    private static let start: Int64 = 1_767_225_600_000
    private static let tables = """
        {"entry":{"columns":{"text":"string","price":"decimal","due":"date"}},
        "hard":{"softDelete":false,"columns":{"text":"string"}},
        "mine":{"access":"authenticated","perUser":"userId","columns":{"text":"string"}},
        "ruled":{"read":"text eq auth.sub","columns":{"text":"string"}}}
        """
    private static let id = "00000000-0000-4000-8000-000000000001"

    /// A server with a story of five days.
    private struct Story {
        let desk: ServiceDesk
        let settings: ServerConfiguration
        private let keeper: AnyObject

        init(_ backend: TestBackend) throws {
            let (address, keeper) = try backend.store()
            let database: any SQLDatabase =
                switch try StoreAddress(address) {
                case .sqlite(let path): try SQLiteDatabase(path: path)
                case .postgres(let url): try PostgresDatabase(url: url, connections: 4, limits: .patient)
                }
            self.keeper = keeper
            desk = try ServiceDesk(database, StillEnvironment(), keeper, tables: tables)
            settings = try configuration(
                #"{"store":\#(Value.string(address).json),"auth":{"key":"\#(testSecret)"},"tables":\#(tables)}"#)
        }

        func tell() throws {
            for id in ["a", "b", "c"] {
                try send("POST", "/tables/entry", #"{"id":"\#(id)","text":"secret \#(id)","price":"7.50"}"#)
            }
            for id in ["h1", "h2"] { try send("POST", "/tables/hard", #"{"id":"\#(id)","text":"secret"}"#) }
            try send("POST", "/tables/ruled", #"{"id":"\#(ReportTests.id)","text":"ann"}"#, user: "ann")
            try send("POST", "/tables/mine", #"{"id":"m","text":"secret mine"}"#, user: "ann")
            desk.environment.set(now: start + 2 * day)
            try send("PATCH", "/tables/entry/a", #"{"text":"secret new"}"#, [WireHeader.operationID: "op-1"])
            try send("DELETE", "/tables/entry/b")
            try send("DELETE", "/tables/hard/h2")
            desk.environment.set(now: start + 2 * day + 1000)
            try send("POST", "/tables/entry", #"{"id":"d","text":"secret d","due":"2031-02-03"}"#)
            desk.environment.set(now: start + 4 * day)
            try send("PATCH", "/tables/entry/c", #"{"text":"late"}"#)
        }

        private func send(
            _ method: String, _ target: String, _ body: String? = nil, _ headers: [String: String] = [:],
            user: String? = nil
        ) throws {
            let rights = user.map { ["X-ZUMO-AUTH": token($0)] } ?? [:]
            let answer = try desk.ask(method, target, body, headers.merging(rights) { $1 })
            #expect((200..<300).contains(answer.status), "\(method) \(target) \(answer.text)")
        }

        /// The lines of a report of the days from 1 to 3.
        func report(
            _ words: String..., log: [String] = [], whileTrue isWanted: () -> Bool = { true }
        ) throws -> (lines: [String], counts: ServerReport.Counts) {
            let arguments = ServerArguments { path throws(StartFailure) in
                Array(path.utf8)
            } variable: { _ in
                nil
            }
            let given = ["report", "--from", "2026-01-02T00:00:00Z", "--to", "2026-01-04T00:00:00Z"] + words
            guard case .report(var plan, _) = try arguments.parse(given) else { return ([], .init()) }
            let folder = try TemporaryFolder()
            if !log.isEmpty {
                let path = folder.path + "/log"
                try Data((log.joined(separator: "\n") + "\n").utf8).write(to: URL(fileURLWithPath: path))
                plan.accessLog = path
            }
            var lines: [String] = []
            let counts = try Server.report(plan, settings, now: start + 9 * day) {
                lines += String(decoding: $0, as: UTF8.self).split(separator: "\n").map(String.init)
                return isWanted()
            }
            withExtendedLifetime(folder) {}
            return (lines, counts)
        }
    }

    /// The pages of a report: their times in seconds since the first day, tables and rows.
    private func pages(_ lines: [String]) throws -> [(time: Int64, table: String, rows: [PulledRow])] {
        try lines.compactMap { line in
            guard let text = try Value(json: line.utf8)["record"]?.string, let record = Base64.decode(text),
                case let event = try record.withUnsafeBytes({ try Event($0, shapes: ShapeTable()) }),
                case .page(let page) = event.body
            else { return nil }
            return ((event.time - ReportTests.start) / 1000, page.table, page.rows)
        }
    }

    private func texts(_ lines: [String]) throws -> [String] {
        try pages(lines).map { page in
            let rows = page.rows.map { row in
                "\(row.id)=" + (row.row.map { $0["text"].map { "\($0)" } ?? "?" } ?? "gone")
            }
            return "\(page.time) \(page.table) \(rows.joined(separator: " "))"
        }
    }

    @Test(arguments: TestBackend.available)
    func `a report has the rows before its span, and the changes in it by their time`(_ backend: TestBackend) throws {
        let story = try Story(backend)
        try story.tell()
        let line = AccessLine(
            time: Self.start + 2 * Self.day + 5, id: "r1", client: "10.1.2.3", user: "ann", method: "PATCH",
            path: "/tables/entry/a", status: 200, bytesIn: 5, bytesOut: 60, microseconds: 17)
        var early = line
        early.time = Self.start
        let (lines, counts) = try story.report(
            "--no-mask", log: [early.text, line.text, "2026-01-03T00:00:00.005Z a note", line.json])
        let found = try pages(lines)
        let days = [Self.day / 1000, 2 * Self.day / 1000]
        #expect(
            found.map { "\($0.time) \($0.table) \($0.rows.map(\.id).joined(separator: " "))" } == [
                "\(days[0]) hard h1", "\(days[0]) mine m", "\(days[0]) ruled \(Self.id)",
                "\(days[1]) entry a", "\(days[1]) server_receipts op-1", "\(days[1]) entry b", "\(days[1]) hard h2",
                "\(days[1]) server_requests r1", "\(days[1]) server_requests r1", "\(days[1] + 1) entry d",
            ])
        #expect(found.first { $0.rows[0].id == "a" }?.rows[0].row?["text"] == .string("secret new"))
        #expect(found.first { $0.rows[0].id == "b" }?.rows[0].row == nil)
        #expect(found.first { $0.rows[0].id == "h2" }?.rows[0].row == nil)
        let receipt = try #require(found.first { $0.table == "server_receipts" }?.rows[0].row)
        #expect(receipt["tableName"] == .string("entry") && receipt["rowID"] == .string("a"))
        let request = try #require(found.first { $0.table == "server_requests" }?.rows[0].row)
        #expect(request["rowID"] == .string("a") && request["client"] == .string("10.1.2.3"))
        #expect(request["status"] == .integer(200) && request["code"] == .null)
        var expected = ServerReport.Counts()
        (expected.tables, expected.rows, expected.changes, expected.receipts) = (4, 3, 4, 1)
        (expected.requests, expected.otherLines, expected.later) = (2, 1, 1)
        #expect(counts == expected)
        let through = try Value(json: lines[0].utf8)["through"]
        #expect(through == .integer(Int64(lines.count - 2)))
        var checksum = LineChecksum()
        for line in lines.dropLast() { checksum.add(ReportLines(Array(line.utf8))) }
        #expect(lines.last == checksum.endMark.json)
    }

    @Test(arguments: TestBackend.available)
    func `a report ends where it can't be written`(_ backend: TestBackend) throws {
        let story = try Story(backend)
        try story.tell()
        let whole = try story.report("--no-mask").lines.count
        for most in 1..<whole {
            var left = most
            let lines = try story.report("--no-mask") {
                left -= 1
                return left > 0
            }.lines
            #expect(lines.count == most)
        }
    }

    @Test func `a masked report contains no value, name or address`() throws {
        let story = try Story(.sqlite)
        try story.tell()
        let line = AccessLine(
            time: Self.start + 2 * Self.day, id: "r1", client: "10.1.2.3", user: "ann", method: "GET",
            path: "/tables/entry/a", status: 200)
        var lost = line
        (lost.id, lost.path, lost.status) = ("r2", "/secret", 404)
        let (lines, _) = try story.report(log: [line.text, lost.text])
        let (bare, _) = try story.report("--mask-ids", "--mask-names", log: [line.text, lost.text])
        for (lines, words) in [
            (lines, ["secret", "10.1.2.3", "ann", "7.50", "2031"]),
            (bare, ["secret", "10.1.2.3", "ann", "7.50", "2031", "entry", "price", "h1", Self.id]),
        ] {
            let records = try lines.compactMap { try Value(json: $0.utf8)["record"]?.string.flatMap(Base64.decode) }
            let text = records.map { String(decoding: $0, as: UTF8.self) }.joined()
            for word in words { #expect(!text.contains(word), "\(word)") }
        }
        #expect(try texts(lines).contains { $0.contains("entry a=") })
    }

    @Test func `reports with one key agree, and with another do not`() throws {
        let (one, other) = (try Story(.sqlite), try Story(.sqlite))
        try one.tell()
        // The other server has more values.
        other.desk.environment.set(now: Self.start - 5)
        _ = try other.desk.ask("POST", "/tables/entry", #"{"id":"z","text":"aaa"}"#)
        other.desk.environment.set(now: Self.start)
        try other.tell()
        let (key, second) = ("00112233445566778899aabbccddeeff", "00112233445566778899aabbccddeefe")
        let first = try texts(one.report("--key", key).lines)
        let same = try texts(other.report("--key", key).lines).filter { !$0.contains("z=") }
        #expect(first == same && first.contains { $0.contains(" a=") })
        #expect(try texts(one.report("--key", second).lines) != first)
        #expect(try texts(one.report().lines) != texts(other.report().lines).filter { !$0.contains("z=") })
    }

    @Test func `wrong flags are told`() throws {
        let arguments = ServerArguments { path throws(StartFailure) in
            Array(path.utf8)
        } variable: { _ in
            nil
        }
        for words in [
            ["--from", "yesterday"], ["--from", "2026-01-02", "--to", "2026-01-01"], ["--key", "12"],
            ["--no-mask", "--mask-ids"], ["--key", String(repeating: "g", count: 32)],
        ] {
            #expect(throws: UsageFailure.self, "\(words)") { try arguments.parse(["report"] + words) }
        }
        #expect(throws: UsageFailure.self) { try arguments.parse(["--no-mask"]) }
        let none = try configuration(#"{"store":"sqlite:/nowhere/none.db","tables":{"t":{}}}"#)
        guard case .report(let plan, _) = try arguments.parse(["report"]) else { return }
        #expect(throws: StartFailure.self) { _ = try Server.report(plan, none, now: 0) { _ in true } }
    }

    @Test(arguments: [LogForm.text, .json])
    func `a line of the log is read as it was written`(_ form: LogForm) throws {
        for (user, path, code) in [
            (String?.none, "/tables/t", String?.none), ("a \"b\\ c", "/x y\\\"z\u{1b}", "row-not-found"), ("", "", ""),
        ] {
            let line = AccessLine(
                time: Self.start + 7, id: "r-1", client: "::1", user: user, method: "GET", path: path, status: 404,
                code: code.flatMap { $0.isEmpty ? nil : $0 }, bytesIn: 5, bytesOut: 60, microseconds: 17)
            let written = LogText.escaped(form == .json ? line.json : line.text)
            #expect(AccessLine(written) == line, "\(written)")
            // The id is the last word of a line as text.
            for cut in 3..<written.count { #expect(AccessLine(String(written.dropLast(cut))) == nil) }
        }
        #expect(AccessLine("") == nil && AccessLine("{}") == nil && AccessLine("\"") == nil)
    }
}
