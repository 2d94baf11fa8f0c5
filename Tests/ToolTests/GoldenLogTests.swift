// Where two logs diverge, and logs whose result is kept in a file.

import Foundation
import SegmentLog
import SynclineCore
import Testing

@testable import SynclineTool

@Suite struct GoldenLogTests {
    @Test func `two logs of the same events do not differ`() async throws {
        let log = try TestLog.story()
        let other = try TestLog.story()
        let call = await Call.tool("diff", "--log", other.path, on: log)
        #expect(call.exit == .done && call.output == "20 events: no difference\n")
        let json = try await Call.tool("diff", "--log", log.path, other.path, "--json").object()
        #expect(json["equal"] as? Bool == true && json["compared"] as? Int == 20 && json["first"] is NSNull)
    }

    @Test func `the first event that differs is shown with both sides`() async throws {
        let log = try TestLog.story()
        let other = try TestLog.story { $0 == 11 ? .cursorReset(table: "todoitem", queryID: "all") : nil }
        let call = await Call.tool("diff", "--log", log.path, other.path, "--json")
        #expect(call.exit == .no)
        let json = try call.object()
        #expect(json["first"] as? String == "@12" && json["compared"] as? Int == 11)
        #expect((json["left"] as? [String: Any])?["kind"] as? String == "answer")
        #expect((json["right"] as? [String: Any])?["kind"] as? String == "cursor-reset")
        #expect((json["members"] as? [String])?.contains("kind") == true)
        let text = await Call.tool("diff", "--log", other.path, on: log).output
        #expect(text.contains("@12 is the first event that differs; 11 events before it are the same"))
        #expect(text.contains("kind: \"answer\" → \"cursor-reset\""))
    }

    @Test func `a log that is longer differs in the first event that the other lacks`() async throws {
        let log = try TestLog.story()
        let other = try TestLog.story()
        #expect(await Call.tool("insert", "todoitem", #"{"id":"z"}"#, on: other).exit == .done)
        let json = try await Call.tool("diff", "--log", log.path, other.path, "--json").object()
        #expect(json["first"] as? String == "@21" && json["left"] is NSNull)
        #expect((json["right"] as? [String: Any])?["kind"] as? String == "opened")
    }

    @Test func `times do not count as a difference with --ignore-times`() async throws {
        let log = try TestLog.story()
        let later = try TestLog.story(hours: 1)
        #expect(await Call.tool("diff", "--log", later.path, on: log).exit == .no)
        #expect(await Call.tool("diff", "--log", "--ignore-times", later.path, on: log).exit == .done)
        #expect(await Call.tool("diff", "--ignore-times", "@4", on: log).exit == .usage)
    }

    @Test func `a log has the result that a file expects, or the first difference is shown`() async throws {
        let log = try TestLog.story()
        let folder = try TemporaryFolder()
        let file = folder.path + "/golden.jsonl"
        let written = await Call.tool("replay", "--write-expected", file, on: log)
        #expect(written.exit == .done && written.output.contains("lines"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["golden.jsonl"])
        let same = await Call.tool("replay", "--expect", file, on: log)
        #expect(same.exit == .done && same.output.contains("the result is as expected"))
        let text = try String(contentsOfFile: file, encoding: .utf8)
        #expect(text.hasPrefix(#"{"expected":1,"through":"@20"}"#) && text.contains("six eggs"))
        try text.replacingOccurrences(of: "six eggs", with: "two eggs")
            .write(toFile: file, atomically: true, encoding: .utf8)
        let other = await Call.tool("replay", "--expect", file, "--json", on: log)
        #expect(other.exit == .no)
        let expected = try other.object()["expected"] as? [String: Any]
        let difference = expected?["difference"] as? [String: Any]
        #expect((difference?["expected"] as? String)?.contains("two eggs") == true)
        #expect((difference?["found"] as? String)?.contains("six eggs") == true)
        let cut = text.split(separator: "\n").dropLast().joined(separator: "\n") + "\n"
        try cut.write(toFile: file, atomically: true, encoding: .utf8)
        #expect(await Call.tool("replay", "--expect", file, on: log).output.contains("expected  nothing more"))
        try (text + "{}\n").write(toFile: file, atomically: true, encoding: .utf8)
        #expect(await Call.tool("replay", "--expect", file, on: log).output.contains("found     nothing more"))
        #expect(await Call.tool("replay", "--expect", log.path + "/HEAD", on: log).exit == .failed)
    }

    @Test func `a moment and a report have an expected state, too`() async throws {
        let log = try TestLog.story()
        let folder = try TemporaryFolder()
        let (file, report) = (folder.path + "/golden.jsonl", folder.path + "/bug.jsonl")
        #expect(await Call.tool("replay", "--to", "@8", "--write-expected", file, on: log).exit == .done)
        #expect(await Call.tool("replay", "--to", "@8", "--expect", file, on: log).exit == .done)
        #expect(await Call.tool("replay", "--expect", file, on: log).exit == .no)
        #expect(await Call.tool("report", "-o", report, on: log).exit == .done)
        #expect(await Call.tool("replay", report, "--write-expected", file).exit == .done)
        #expect(await Call.tool("replay", report, "--expect", file).exit == .done)
    }
}
