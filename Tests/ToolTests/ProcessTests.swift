// The tool as it is shipped: a process with pipes and signals.

import ChildProcesses
import Foundation
import SegmentLog
import Testing

@testable import SynclineTool

@Suite struct ProcessTests {
    @Test func `it answers with text, an exit code and nothing else`() throws {
        let log = try TestLog()
        let good = try ChildProcess.tool("verify", on: log)
        #expect(good.rest() == "healthy  6 records, 8 frames, 2 segments, 1 checkpoint\n")
        #expect(good.wait() == 0 && good.errors == "")
        let wrong = try ChildProcess.tool("verify", "--depe", on: log)
        #expect(wrong.rest() == "" && wrong.wait() == 2)
        #expect(wrong.errors == "syncline: error: `verify` has no option --depe\n  hint: Did you mean `--deep`?\n")
    }

    @Test func `records acknowledged before a kill are in the log`() async throws {
        let log = try TestLog()
        let writer = try ChildProcess.tool("raw", "append", on: log)
        for number in 7...406 { try writer.write("record \(number)\n") }
        var last = ""
        for _ in 0..<100 { last = writer.line() ?? "" }
        writer.kill()
        while let line = writer.line() { last = line }
        _ = writer.wait()
        let acknowledged = Int(last.dropFirst()) ?? 0
        #expect(acknowledged >= 106)

        #expect(await Call.tool("verify", on: log).exit != .failed)
        let kept = await Call.tool("raw", "cat", "--from", "@7", on: log).output.split(separator: "\n").map(String.init)
        #expect(kept.count >= acknowledged - 6)
        #expect(kept == (7..<7 + kept.count).map { "record \($0)" })
        #expect(await Call.tool("repair", on: log).exit == .done)
        let again = await Call.tool("raw", "append", on: log, input: "on we go\n")
        #expect(again.exit == .done && again.output == "@\(kept.count + 7)\n")
    }

    @Test func `a limit of the size of files is an error of the write that meets it`() async throws {
        let log = try TestLog.story()
        let text = (0..<4000).map { String($0 &* 2_654_435_761, radix: 36) }.joined()
        let row = log.folder.path + "/row.json"
        try #"{"id":"large","text":"\#(text)"}"#.write(toFile: row, atomically: true, encoding: .utf8)
        let tool = try ChildProcess.builds.path + "/syncline"
        let limited = try ChildProcess.run(
            "/bin/sh", ["-c", "ulimit -f 16 && exec \(tool) insert -s \(log.path) todoitem \"$(cat \(row))\""])
        #expect(limited.exit == 3 && limited.output.contains("File too large"), "\(limited)")
        #expect(await Call.tool("verify", "--deep", on: log).exit == .done)
        #expect(await Call.tool("insert", "todoitem", #"{"id":"small"}"#, on: log).exit == .done)
    }

    @Test func `a log is read while a process writes it`() async throws {
        let log = try TestLog()
        let writer = try ChildProcess.tool("raw", "append", on: log)
        for number in 7...30 {
            try writer.write("record \(number)\n")
            #expect(writer.line() == "@\(number)")
            #expect(await Call.tool("raw", "cat", "--from", "@-1", on: log).output == "record \(number)\n")
        }
        #expect(await Call.tool("verify", "--deep", on: log).exit == .done)
        #expect(await Call.tool("repair", on: log).exit == .done, "there is nothing to repair")
        #expect(await Call.tool("raw", "append", on: log, input: "x\n").exit == .failed)
        writer.closeInput()
        #expect(writer.wait() == 0)
    }

    @Test func `a follower prints new records and ends at an interrupt`() throws {
        let log = try TestLog()
        let follower = try ChildProcess.tool("raw", "cat", "--follow", "--from", "@-1", on: log)
        #expect(follower.line() == "sixth")
        let writer = try log.open()
        try writer.append(TestLog.batch("seventh", "eighth"))
        #expect(follower.line() == "seventh")
        try writer.roll()
        try writer.append(TestLog.batch("ninth"))
        #expect(follower.line() == "eighth")
        #expect(follower.line() == "ninth")
        follower.signal(SIGINT)
        #expect(follower.rest() == "" && follower.wait() == 0 && follower.errors == "")
        try writer.close()
    }

    @Test func `a follower ends when its reader is gone`() throws {
        let log = try TestLog()
        let follower = try ChildProcess.tool("raw", "cat", "-f", on: log)
        #expect(follower.line() == "hello")
        follower.closeOutput()
        #expect(follower.wait() == 0 && follower.errors == "")
    }

    @Test func `a closed pipe ends a long list quietly`() throws {
        let log = try TestLog()
        let writer = try log.open()
        for number in 0..<2000 { try writer.append(TestLog.batch("record \(number)"), durability: .buffered) }
        try writer.close()
        let list = try ChildProcess.tool("inspect", "frames", "--jsonl", on: log)
        #expect(list.line()?.hasPrefix(#"{"address":"s1:512""#) == true)
        list.closeOutput()
        #expect(list.wait() == 0 && list.errors == "")
    }

    @Test func `colour can be forced into a pipe`() throws {
        let log = try TestLog()
        let child = try ChildProcess.tool("verify", on: log, variables: ["CLICOLOR_FORCE": "1"])
        #expect(child.rest().hasPrefix("\u{1b}[32mhealthy"))
    }
}
