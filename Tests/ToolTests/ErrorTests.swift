// Bad input: each has a code, a place and a hint, and nothing is lost or created.

import Foundation
import SegmentLog
import SynclineCore
import Testing

@testable import SynclineTool

@Suite struct ErrorTests {
    private static let looking = [
        ["inspect"], ["inspect", "segments"], ["inspect", "frames"], ["inspect", "checkpoints"], ["verify"],
        ["raw", "cat"],
        ["raw", "cat", "-f"], ["repair"], ["repair", "--dry-run"],
    ]

    @Test(arguments: looking)
    func `a folder that is not a store is refused and stays unchanged`(words: [String]) async throws {
        let folder = try TemporaryFolder()
        try Data().write(to: URL(fileURLWithPath: folder.path + "/notes.txt"))
        for path in [folder.path, folder.path + "/missing", folder.path + "/notes.txt"] {
            let call = await Call.tool(words: words + ["-s", path])
            #expect(call.exit == .failed && call.output == "")
            #expect(call.errors.contains("syncline: error: ") && call.errors.contains("hint: "), "\(call.errors)")
            let json = await Call.tool(words: words + ["-s", path, "--json"])
            #expect(json.errors == "" && json.output.contains(#"{"error":{"code":"no-store","message":"#))
        }
        #expect(try folder.contents == ["notes.txt"])
    }

    @Test func `nothing is appended to a directory with other files`() async throws {
        let folder = try TemporaryFolder()
        try Data().write(to: URL(fileURLWithPath: folder.path + "/notes.txt"))
        let call = await Call.tool("raw", "append", "-s", folder.path, input: "x\n")
        #expect(call.exit == .failed && call.errors.contains("it holds notes.txt"))
        #expect(try folder.contents == ["notes.txt"])
    }

    @Test func `a store that another process writes is refused to writers`() async throws {
        let log = try TestLog()
        let writer = try log.open()
        let call = await Call.tool("raw", "append", "--json", on: log, input: "x\n")
        #expect(
            call.exit == .failed
                && call.output.hasPrefix(
                    #"{"error":{"code":"store-locked","message":"this process already has <log> open"#)
        )
        try log.flip("state", in: TestLog.checkpoint)
        let repair = await Call.tool("repair", on: log)
        #expect(repair.exit == .failed && repair.errors.contains("in LOCK"))
        try writer.close()
    }

    @Test func `a newer format is refused with advice, and never called damaged`() async throws {
        let log = try TestLog()
        try log.change(TestLog.secondSegment) { data in
            data[8] = 2
            let sum = data.prefix(508).withUnsafeBytes { crc32c($0) }
            for index in 0..<4 { data[508 + index] = UInt8(truncatingIfNeeded: sum >> (8 * UInt32(index))) }
        }
        let before = try log.bytes
        for words in [["verify", "--json"], ["repair", "--json"], ["raw", "append", "--json"]] {
            let call = await Call.tool(words: words, on: log, input: "x\n")
            #expect(call.exit == .failed && call.output.contains(#""code":"store-newer""#), "\(words) \(call.output)")
        }
        #expect(await Call.tool("inspect", "frames", on: log).output.contains("format version 2"))
        #expect(try log.bytes.filter { $0.key != "LOCK" } == before.filter { $0.key != "LOCK" })
    }

    @Test func `an acknowledged record that is damaged stops writers`() async throws {
        let log = try TestLog()
        try log.flip("fifth", in: TestLog.secondSegment)
        let call = await Call.tool("raw", "append", on: log, input: "x\n")
        #expect(call.exit == .failed)
        #expect(call.errors.contains("  at s2:576, in \(TestLog.secondSegment), records @5"))
    }

    @Test func `a folder without permission is an error of its own`() async throws {
        guard getuid() != 0 else { return }  // Nothing is forbidden to root.
        let log = try TestLog()
        try FileManager.default.setAttributes([.posixPermissions: 0], ofItemAtPath: log.path)
        defer { try? FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: log.path) }
        let call = await Call.tool("verify", "--json", on: log)
        #expect(call.exit == .failed && call.output.contains(#""code":"io-error""#))
    }

    @Test func `a state that can't be read is an error of the store, never a bug of the tool`() {
        let malformed = ToolError(SyncError.malformed("a row"))
        #expect(malformed.code == "store-corrupt" && malformed.exit == .failed)
        #expect(malformed.message == "a row can't be read")
        #expect(ToolError(SyncError.newer("a checkpoint")).code == "store-newer")
    }

    @Test func `a wrong line is a usage error in every form`() async throws {
        let text = await Call.tool("verfy")
        #expect(text.exit == .usage && text.output == "")
        #expect(text.errors == "syncline: error: there is no command `verfy`\n  hint: Did you mean `verify`?\n")
        let json = await Call.tool("verfy", "--json")
        #expect(json.exit == .usage && json.errors == "")
        #expect(
            json.output
                == #"{"error":{"code":"usage","message":"there is no command `verfy`","hint":"Did you mean `verify`?"}}"#
                + "\n")
        let wrong: [[String]] = [
            ["verify", "--json", "--jsonl"], ["raw", "cat", "--exact", "--json"],
            ["raw", "cat", "-f", "--from", "@1..2"],
            ["repair", "--dry-run", "--salvage", "x"], ["inspect", "frames", "41"], ["raw", "append", "--batch", "x"],
            ["help", "verfy"], ["bench", "sync", "--rows", "0"],
        ]
        for words in wrong { #expect(await Call.tool(words: words, on: try TestLog()).exit == .usage, "\(words)") }
    }

    @Test func `records asked for that were collected, or by place, are refused`() async throws {
        let log = try TestLog()
        let writer = try log.open()
        _ = try writer.collect(keepingFrom: SequenceNumber(rawValue: 4))
        try writer.close()
        let call = await Call.tool("raw", "cat", "--from", "@1", "--json", on: log)
        #expect(call.exit == .failed && call.output.contains(#""code":"collected""#))
        #expect(await Call.tool("raw", "cat", on: log).output == "fourth\nfifth\nsixth\n")
        #expect(await Call.tool("raw", "cat", "--from", "s2", on: log).exit == .failed)
    }
}
