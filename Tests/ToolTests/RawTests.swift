// Lines into the log and out of it again.

import Foundation
import SegmentLog
import Testing

@testable import SynclineTool

@Suite struct RawTests {
    @Test func `each line is a commit whose number is printed`() async throws {
        let log = try TestLog()
        let call = await Call.tool("raw", "append", on: log, input: "a\n\nlast without an end")
        #expect(call.exit == .done && call.output == "@7\n@8\n@9\n")
        #expect(await Call.tool("raw", "cat", "--from", "@7", on: log).output == "a\n\nlast without an end\n")
    }

    @Test func `a batch is one commit, and so is its remainder`() async throws {
        let log = try TestLog()
        let call = await Call.tool("raw", "append", "--batch", "3", on: log, input: "a\nb\nc\nd\ne\n")
        #expect(call.output == "@7..9\n@10..11\n")
        let json = await Call.tool(
            "raw", "append", "--batch=2", "--jsonl", "--durability", "buffered", on: log, input: "f\ng\n")
        #expect(json.output == "{\"records\":\"@12..13\",\"count\":2}\n")
    }

    @Test func `only a store that was named is created`() async throws {
        let folder = try TemporaryFolder()
        let made = await Call.tool("raw", "append", "-s", folder.path + "/a/new", input: "x\n")
        #expect(made.exit == .done && made.output == "@1\n")
        let lost = await Call.tool("raw", "append", input: "x\n", directory: folder.path)
        #expect(lost.exit == .failed && lost.errors.contains("--store DIR"))
        #expect(try folder.contents.filter { !$0.hasPrefix("a") } == [])
    }

    @Test func `the nearest store upwards is found`() async throws {
        let folder = try TemporaryFolder()
        _ = await Call.tool("raw", "append", "-s", folder.path + "/.syncline", input: "x\n")
        let call = await Call.tool("raw", "cat", directory: folder.path + "/some/where")
        #expect(call.output == "x\n")
    }

    @Test func `records are one line each, whatever they hold`() async throws {
        let log = try TestLog()
        let writer = try log.open()
        try writer.append(RecordBatch(Array("two\nlines\u{1b}[2J".utf8)))
        try writer.append(RecordBatch([0xff, 0x00]))
        try writer.close()
        #expect(await Call.tool("raw", "cat", "--from", "@7", on: log).output == "two\\nlines\\u{1b}[2J\n\\xff\\x00\n")
        #expect(await Call.tool("raw", "cat", "--from", "@7..7", "--exact", on: log).output == "two\nlines\u{1b}[2J\n")
        #expect(
            await Call.tool("raw", "cat", "--from", "@8", "--jsonl", on: log).output
                == "{\"sequence\":8,\"time\":\"2023-11-14T22:13:31.000Z\",\"base64\":\"/wA=\"}\n")
        #expect(
            await Call.tool("raw", "cat", "--from", "@7", "--redact", on: log).output
                == "text of 13 bytes\nbinary of 2 bytes\n")
    }

    @Test func `people get numbers, and long records are cut unless --full is given`() async throws {
        let log = try TestLog()
        _ = await Call.tool("raw", "append", on: log, input: String(repeating: "x", count: 100) + "\n")
        let plain = ["NO_COLOR": "1"]
        let cut = await Call.tool("raw", "cat", "--from", "@7", on: log, isTerminal: true, width: 20, variables: plain)
        #expect(cut.output == "@7  xxxxxxxxxxxxxxx…\n")
        let full = await Call.tool(
            "raw", "cat", "--from", "@7", "--full", on: log, isTerminal: true, width: 20, variables: plain)
        #expect(full.output == "@7  " + String(repeating: "x", count: 100) + "\n")
    }

    @Test func `records that are only written are distinguished from durable ones`() async throws {
        let log = try TestLog(closing: false)
        #expect(await Call.tool("raw", "cat", on: log).output == "hello\nworld\nthird\nfourth\nfifth\nsixth\n")
        #expect(await Call.tool("raw", "cat", "--durable", on: log).output == "hello\nworld\nthird\nfourth\nfifth\n")
    }

    @Test func `records of many frames are whole`() async throws {
        let log = try TestLog()
        let long = String(repeating: "0123456789abcdef", count: 70_000)
        let call = await Call.tool("raw", "append", "--batch", "2", on: log, input: "before\n\(long)\n")
        #expect(call.output == "@7..8\n")
        #expect(await Call.tool("raw", "cat", "--from", "@7", on: log).output == "before\n\(long)\n")
    }

    @Test func `following ends when it is interrupted`() async throws {
        let log = try TestLog()
        let interrupt = Interrupt()
        interrupt.set()
        let call = await Call.tool("raw", "cat", "-f", "--from", "@6", "--json", on: log, interrupt: interrupt)
        #expect(call.exit == .done)
        #expect(try call.array().map { $0["sequence"] as? Int } == [6])
    }

    @Test func `a closed pipe ends any command quietly`() async throws {
        let log = try TestLog()
        for words in [
            ["raw", "cat"], ["raw", "cat", "-f"], ["inspect"], ["inspect", "frames", "--json"], ["verify"], ["man"],
        ] {
            let call = await Call.tool(words: words, on: log, outputLimit: 10)
            #expect(call.exit == .done && call.errors == "", "\(words)")
        }
    }

    @Test func `lines are not appended to the log of a store`() async throws {
        let log = try TestLog.story()
        let before = try log.bytes
        let call = await Call.tool("raw", "append", on: log, input: "1\n2\n")
        #expect(call.exit == .usage && call.errors.contains("is an app's store"))
        #expect(try log.bytes == before)
        #expect(await Call.tool("verify", on: log).exit == .done)
    }

    @Test func `a record that is not an event is found by verify, and a rescue leaves it out`() async throws {
        let log = try TestLog.story()
        let writer = try log.open()
        try writer.append(TestLog.batch("\u{1}not an event"))
        try writer.close()
        for form in ["--jsonl", "--deep"] {
            let verify = await Call.tool("verify", form, on: log)
            #expect(verify.exit == .no && verify.output.contains("can't be folded"))
        }
        let rescued = log.path + "-rescued"
        let rescue = await Call.tool("repair", "--salvage", rescued, on: log)
        #expect(rescue.exit == .no && rescue.output.contains("left out"))
        #expect(await Call.tool("verify", "--deep", "-s", rescued).exit == .done)
    }
}
