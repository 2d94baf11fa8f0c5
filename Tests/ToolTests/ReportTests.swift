// A bug report as a file: what is recorded, what is masked, and that it replays without a network.

import Foundation
import SegmentLog
import Syncline
import SynclineCore
import SynclineReports
import SynclineTesting
import SynclineWire
import Testing

@testable import SynclineTool

/// A server that accepts everything.
private struct Agreeable: HTTPTransport {
    func send(_ request: HTTPRequest) async throws(NetworkFailure) -> HTTPResponse {
        var response = HTTPResponse(status: request.method == "POST" ? 201 : 200)
        response.headers = [HTTPHeader("Content-Type", "application/json"), HTTPHeader("Set-Cookie", "hush")]
        response.body = Array(#"{"id":"d","text":"six eggs","version":"1"}"#.utf8)
        return response
    }
}

@Suite struct ReportTests {
    /// A story whose last push was recorded.
    private func recordedStory() async throws -> TestLog {
        let log = try TestLog.story()
        var configuration = SyncConfiguration()
        configuration.creation = .never
        configuration.transport = Agreeable()
        configuration.credentials = FixedToken("hush")
        let recording = TrafficRecording(file: log.path + "/traffic.jsonl")
        configuration.recording = recording
        let database = try await SyncDatabase.open(at: log.path, configuration)
        let through = Int64(database.lastEvent.rawValue)
        recording.note(.object([.init("command", .array([.string("push")])), .init("through", .integer(through))]))
        let report = try await database.push()
        recording.note(.object([.init("report", try Value(json: report.json.text.utf8))]))
        try await database.close()
        return log
    }

    @Test func `a reported session runs again without a network`() async throws {
        let log = try await recordedStory()
        let file = log.folder.path + "/bug.jsonl"
        let made = try await Call.tool("report", "-o", file, "--json", on: log).object()
        #expect(made["sessions"] as? Int == 1 && made["exchanges"] as? Int == 1 && made["masked"] as? Bool == true)
        let text = try String(contentsOfFile: file, encoding: .utf8)
        for value in ["eggs", "oat milk", "hush"] {
            #expect(!text.contains(value), "\(value)")
        }
        let again = await Call.tool("replay", file, "--json")
        #expect(again.exit == .done, "\(again.output)")
        #expect(try again.object()["same"] as? Bool == true)
        // A recording that lacks a request is another story.
        let lines = try lines(of: file).filter { !$0.contains("\"answer\"") }
        try sealed(lines).write(toFile: file, atomically: true, encoding: .utf8)
        let other = await Call.tool("replay", file)
        #expect(other.exit == .no && other.output.contains("requested now but not then: POST /tables/todoitem"))
        let none = await Call.tool("replay", log.path + "/LOCK", "--json")
        #expect(none.exit == .failed)
    }

    @Test func `a report runs a push, a pull or a sync again, and nothing else`() async throws {
        func check(_ words: String...) throws { try TrafficSession(words: words, through: 1).check() }
        try check("push")
        try check("push", "--policy", "merge", "--table", "--store")
        try check("pull", "--query-id", "q", "--reconcile", "--", "--store")
        try check("sync", "--", "a", "b")
        for words in [
            [], ["rm"], ["compact"], ["inspect", "push"], ["--store", "/", "push"], ["push", "--store", "/"],
            ["push", "--store=/"], ["push", "-s", "/"], ["pull", "todoitem"], ["pull", "--filter"],
            ["sync", "--watch"],
            ["push", "--policy=merge"], ["push", "-q"],
        ] {
            #expect(throws: ToolError.self, "\(words)") { try TrafficSession(words: words, through: 1).check() }
        }
        // Nothing has run when one of several is refused.
        let log = try await recordedStory()
        let file = log.folder.path + "/bug.jsonl"
        #expect(await Call.tool("report", "-o", file, on: log).exit == .done)
        let victim = log.folder.path + "/victim"
        let hostile = #"{"command":["insert","--store","\#(victim)","todoitem","{}"],"through":1}"#
        try sealed(try lines(of: file) + [Substring(hostile)]).write(toFile: file, atomically: true, encoding: .utf8)
        let call = await Call.tool("replay", file)
        #expect(call.exit == .failed && call.output.isEmpty && call.errors.contains("insert"))
        #expect(!FileManager.default.fileExists(atPath: victim))
    }

    @Test func `a server's capabilities are recorded, and its messages are masked`() async throws {
        var response = HTTPResponse(status: 500)
        response.headers = [
            HTTPHeader(WireHeader.capabilities, "changes"), HTTPHeader("Link", "<http://hush?$filter=hush>; rel=next"),
        ]
        response.body = Array(#"{"nextLink":"http://hush?x=hush","error":"hush"}"#.utf8)
        let exchange = RecordedExchange(request: HTTPRequest("GET", "/tables/t"), outcome: .response(response))
            .withoutSecrets
        guard case .response(let told) = exchange.outcome else { return }
        #expect(
            told.headers.value(WireHeader.capabilities) == "changes"
                && told.headers.value("Link")?.contains("hush") == false)
        let log = try await recordedStory()
        let recording = TrafficRecording(file: log.path + "/traffic.jsonl")
        recording.note(.object([.init("command", .array([.string("push")])), .init("through", .integer(1))]))
        recording.note(exchange.value)
        recording.note(
            RecordedExchange(request: exchange.request, outcome: .failure(.offline("no way to hush"))).value)
        recording.note(try Value(json: Array(#"{"report":{"push":{"message":"hush","warnings":["hush"]}}}"#.utf8)))
        let file = log.folder.path + "/bug.jsonl"
        #expect(await Call.tool("report", "-o", file, on: log).exit == .done)
        let text = try String(contentsOfFile: file, encoding: .utf8)
        #expect(!text.contains("hush") && text.contains(#"{"report":{"push":{}}}"#), "\(text)")
        for line in text.split(separator: "\n") {
            guard let value = try? Value(json: Array(line.utf8)), let masked = RecordedExchange(value),
                case .response(let response) = masked.outcome
            else { continue }
            #expect(!String(decoding: response.body, as: UTF8.self).contains("hush"))
        }
    }

    @Test func `secrets are never recorded`() async throws {
        let log = try await recordedStory()
        let text = try String(contentsOfFile: log.path + "/traffic.jsonl", encoding: .utf8)
        #expect(text.contains("X-ZUMO-AUTH") && text.contains("Set-Cookie") && !text.contains("hush"))
        var request = HTTPRequest("POST", "/.auth/login/aad")
        request.query = [HTTPHeader("code", "hush"), HTTPHeader("$top", "3")]
        request.body = Array("hush".utf8)
        let exchange = RecordedExchange(request: request, outcome: .failure(.cancelled)).withoutSecrets
        #expect(!exchange.value.json.contains("hush") && exchange.request.query[1].value == "3")
        #expect(exchange.request.body != request.body)
        #expect(RecordedExchange(exchange.value) == exchange)
        let attributes = try FileManager.default.attributesOfItem(atPath: log.path + "/traffic.jsonl")
        #expect(attributes[.posixPermissions] as? Int == 0o600)
    }

    @Test func `a recording stays within its limit`() throws {
        let folder = try TemporaryFolder()
        let file = folder.path + "/traffic.jsonl"
        let recording = TrafficRecording(file: file, limit: .bytes(4096))
        for number in 0..<500 { recording.note(.object([.init("number", .integer(Int64(number)))])) }
        recording.note(.string(String(repeating: "x", count: 5000)))
        let sizes = try folder.contents.map { try Data(contentsOf: URL(fileURLWithPath: folder.path + "/" + $0)).count }
        #expect(sizes.reduce(0, +) <= 4096)
        let lines = TrafficRecording.read(file: file)
        #expect(lines.last?[member: "number"] == .integer(499) && lines.count > 100)
    }

    @Test func `nothing is recorded unless it was asked for`() async throws {
        let log = try TestLog.story()
        #expect(try Traffic.recording(store: log.path) == nil)
        #expect(await Call.tool("config", "record", "8 MiB", on: log).exit == .done)
        #expect(try Traffic.recording(store: log.path) != nil)
        #expect(await Call.tool("config", "record", "off", on: log).exit == .done)
        #expect(try Traffic.recording(store: log.path) == nil)
        #expect(await Call.tool("config", "record", "much", on: log).exit == .failed)
    }

    // MARK: The file

    /// A report with other lines, and a matching end mark.
    private func sealed(_ lines: [Substring]) -> String {
        var checksum = LineChecksum()
        for line in lines { checksum.add(ReportLines(Array(line.utf8))) }
        return (lines.map(String.init) + [checksum.endMark.json]).joined(separator: "\n") + "\n"
    }

    private func lines(of file: String) throws -> [Substring] {
        try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n").filter { !$0.hasPrefix(#"{"end""#) }
    }

    @Test func `a report that was cut or changed is refused, wherever it is read`() async throws {
        let log = try await recordedStory()
        let file = log.folder.path + "/bug.jsonl"
        #expect(await Call.tool("report", "-o", file, on: log).exit == .done)
        #expect(try log.folder.contents.filter { $0.hasSuffix(".tmp") }.isEmpty)
        let whole = try Data(contentsOf: URL(fileURLWithPath: file))
        var chance = Chance(seed: 41)
        for _ in 0..<30 {
            var bytes = whole
            let place = chance.below(whole.count - 1)
            if chance.once(in: 2) { bytes.removeSubrange(place...) } else { bytes[place] ^= 1 << chance.below(7) }
            try bytes.write(to: URL(fileURLWithPath: file))
            for words in [["replay", file], ["log", "--store", file], ["replay", file, "--bisect", "pending gt 3"]] {
                let call = await Call.tool(words: words)
                #expect(call.exit == .failed && call.output.isEmpty, "\(words) at \(place): \(call.output)")
            }
            let target = log.folder.path + "/target"
            let call = await Call.tool(
                "import", "--store", target, input: String(decoding: bytes, as: UTF8.self))
            #expect(call.exit != .done && !FileManager.default.fileExists(atPath: target), "\(place)")
        }
    }

    @Test func `a report is read wherever a store is, and never written to`() async throws {
        let log = try await recordedStory()
        let file = log.folder.path + "/bug.jsonl"
        #expect(await Call.tool("report", "-o", file, "--no-mask", on: log).exit == .done)
        let before = try Data(contentsOf: URL(fileURLWithPath: file))
        for words in [
            ["blame", "todoitem/a"], ["log"], ["log", "-n", "3"], ["query", "todoitem"], ["get", "todoitem", "a"],
            ["export"], ["export", "--format", "events"], ["pending"], ["conflicts"], ["inspect", "operations"],
            ["replay", "--bisect", "pending gt 2"], ["replay", "--policy", "client-wins"], ["diff", "@4", "@-1"],
            ["show", "@5"],
        ] {
            let (report, store) = (
                await Call.tool(words: words + ["--json", "--store", file]),
                await Call.tool(words: words + ["--json"], on: log)
            )
            #expect(report.output == store.output && report.exit == store.exit, "\(words): \(report.errors)")
        }
        #expect(await Call.tool("verify", "--store", file).exit == .done)
        for words in [["insert", "todoitem", "{}"], ["push"], ["compact"], ["repair"], ["erase", "--force"]] {
            let call = await Call.tool(words: words + ["--store", file])
            #expect(call.exit != .done && call.output.isEmpty, "\(words)")
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: file)) == before)
        let copy = log.folder.path + "/copy"
        let made = await Call.tool(
            "import", "--store", copy, input: String(decoding: before, as: UTF8.self))
        #expect(made.exit == .done, "\(made.errors)")
        let rows = await Call.tool("export", "--store", copy)
        #expect(rows.output == (await Call.tool("export", on: log)).output)
    }
}
